"""The system prompt, and the notes that go with the first message of a session.

The system prompt is the same for every session of one version, so that every provider's cache can
keep it. What differs (folder, date, mode, rules files) goes into the first user message.
"""

from functools import cache
from pathlib import Path

import msgspec

from hame.base.message import Note
from hame.base.zone import is_secret

RULES_LIMIT = 32_000
"""Characters of a rules file that are passed on."""
RULES_NAMES = ("AGENTS.md", "CLAUDE.md")


@cache
def system_prompt() -> str:
    """The text that opens every request."""
    return (Path(__file__).parent / "system.md").read_text(encoding="utf-8").strip()


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is told of where it works."""

    root: str
    date: str
    platform: str
    mode: str
    git: bool = False
    added: tuple[str, ...] = ()


_MODES = {
    "ask": "changes and commands are shown to the user, who may refuse them",
    "auto": "changes in the project and confined commands run without a question; what needs more is asked",
    "plan": "nothing may be changed or run; propose a plan",
}


def environment_note(surroundings: Surroundings) -> Note:
    """Folder, date, platform and mode."""
    lines = [
        f"Project folder: {surroundings.root}"
        + (" (a git repository)" if surroundings.git else ""),
        *(f"Further folder: {folder}" for folder in surroundings.added),
        f"Date: {surroundings.date}",
        f"Platform: {surroundings.platform}",
        mode_text(surroundings.mode),
    ]
    return Note("\n".join(lines), "environment")


def mode_text(mode: str) -> str:
    """What a mode means, for the model."""
    return f"Mode {mode}: {_MODES.get(mode, 'as the user set it')}."


def find_rules(folder: Path, stop: Path) -> Path | None:
    """The nearest rules file: in `folder`, or above it up to `stop` (the repository's root).

    A link that leads out of `stop` or to a secret is passed over: a cloned repository must not be
    able to send the user's files to a model before anything was asked.
    """
    for place in (folder, *folder.parents):
        for name in RULES_NAMES:
            if _may_be_read(place / name, stop):
                return place / name
        if place == stop:
            return None
    return None


def _may_be_read(path: Path, stop: Path) -> bool:
    if not path.is_file():
        return False
    real = path.resolve()
    return real.is_relative_to(stop.resolve()) and not is_secret(real.parts)


def rules_note(path: Path, whose: str = "of this project") -> Note | None:
    """A rules file's text, cut at the limit and said so; None when it holds nothing."""
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(RULES_LIMIT + 1)
    if not text.strip():
        return None
    if len(text) > RULES_LIMIT:
        text = f"{text[:RULES_LIMIT]}\n[cut after {RULES_LIMIT:,} characters; read {path} for the rest]"
    return Note(f"Rules {whose}, from {path.name}:\n{text.rstrip()}", path.name)
