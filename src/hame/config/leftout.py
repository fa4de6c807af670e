"""What a folder brings that does not count, in one line for the user."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from hame.base.errors import ConfigError
from hame.base.instructions import READ_NAMES
from hame.config.keys import Key
from hame.config.sources import Value, read_settings_text

_NAMED = 4
"""Settings that are named; of more the number is said."""
_ALLOW = re.compile(r"^[ \t]*\[\[[ \t]*allow[ \t]*\]\]", re.MULTILINE)


class Proposal(Protocol):
    """A value of a project's own file."""

    @property
    def key(self) -> Key:
        """What it would set."""
        ...

    @property
    def value(self) -> Value:
        """To what, and where that stands."""
        ...

    @property
    def ignored(self) -> str:
        """Why it does not count; empty: it does."""
        ...

    @property
    def waits(self) -> bool:
        """It would count if the folder were trusted."""
        ...


def say_left_out(project: str, proposed: Sequence[Proposal], *, trusted: bool) -> list[str]:
    """One line for everything, or none where nothing is left out."""
    ignored = [each for each in proposed if each.ignored]
    also = [] if trusted else _of_a_stranger(project)
    if not also and not any(each.waits for each in ignored):
        return _ignored(ignored)
    verb = "is" if len(ignored) == 1 else "are"
    parts = [f"{_listed(ignored)} of .hame/config.toml {verb} left out"] if ignored else []
    return [
        f"you have not trusted this folder: {'; '.join(parts + also)}. hame trust shows what it brings"
    ]


def _ignored(ignored: Sequence[Proposal]) -> list[str]:
    """What would not count in a trusted folder either."""
    if not ignored:
        return []
    first = ignored[0]
    if len(ignored) == 1:
        return [f"{first.value.where}: {first.key.name} is ignored: {first.ignored}"]
    path = first.value.where.rpartition(":")[0]
    return [f"{path}: {_listed(ignored)} are ignored; hame trust says why"]


def _listed(ignored: Sequence[Proposal]) -> str:
    names = ", ".join(each.key.name for each in ignored[:_NAMED])
    more = len(ignored) - _NAMED
    return f"{names} and {more} more" if more > 0 else names


def _of_a_stranger(project: str) -> list[str]:
    """What else counts less than it would in a trusted folder."""
    found: list[str] = []
    if name := _instructions(project):
        found.append(f"{name} is passed on as information, not as your word")
    with suppress(ConfigError):  # It is read, and its faults are said, where rules are.
        text = read_settings_text(f"{project}/.hame/permissions.toml")
        if text is not None and (count := len(_ALLOW.findall(text))):
            rules = "allow rule is a proposal" if count == 1 else "allow rules are proposals"
            found.append(f"{count} {rules}")
    return found


def _instructions(project: str) -> str:
    """The name of the file of instructions that goes to the model, as `hame.prompts` finds it."""
    places = [project]
    while places[-1] != "/":
        places.append(os.path.dirname(places[-1]))  # noqa: PTH120 - pathlib is 8 ms of start
    tops = (number for number, place in enumerate(places) if os.path.lexists(f"{place}/.git"))
    for place in places[: next(tops, 0) + 1]:
        for name in READ_NAMES:
            if os.path.isfile(f"{place}/{name}"):  # noqa: PTH113 - as above
                return name
    return ""
