"""git, asked about a repository that may have been made to harm: pure data.

A repository's own settings can name programs that git runs while it only looks
(`git-config(1)`, `gitattributes(5)`, `githooks(5)`); so can the environment. What is here takes
the settings of hame's own calls out of the repository's hands; filters, which a repository may call as
it likes, are switched off by name (`switched_off`).
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

Settings: TypeAlias = Sequence[tuple[str, str]]
"""Names and values, as in `git -c NAME=VALUE`."""

_STILL: Settings = (
    ("core.fsmonitor", "false"), ("core.hooksPath", "/dev/null"), ("core.pager", "cat"),
    ("core.sshCommand", "false"), ("core.askPass", "false"), ("core.alternateRefsCommand", "false"),
    ("credential.helper", ""), ("diff.external", ""), ("diff.ignoreSubmodules", "all"),
    ("diff.autoRefreshIndex", "false"), ("gpg.program", "false"), ("log.showSignature", "false"),
    ("protocol.allow", "never"), ("safe.bareRepository", "explicit"),
    ("status.submoduleSummary", "false"), ("submodule.recurse", "false"),
)  # fmt: skip

_EXECUTING = re.compile(
    r"""(?x) ^(?:
        core\.(?:fsmonitor|hookspath|pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand)
      | sequence\.editor | interactive\.difffilter | uploadpack\.packobjectshook
      | credential\.(?:.+\.)?helper | gpg\.(?:.+\.)?(?:program|defaultkeycommand)
      | diff\.external | diff\..+\.(?:command|textconv) | merge\..+\.driver
      | filter\..+\.(?:clean|smudge|process)
      | (?:difftool|mergetool|browser|man|guitool)\..+\.cmd | pager\..+ | alias\..+ | hook\..+\.command
      | remote\..+\.(?:uploadpack|receivepack|vcs|proxy) | submodule\..+\.update
      | include\.path | includeif\..+\.path
    )$""",
    re.DOTALL,
)
_FILTER = re.compile(r"^(filter\..+)\.(?:clean|smudge|process|required)$", re.DOTALL)


STILL_ENVIRONMENT: tuple[tuple[str, str], ...] = (
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("LC_ALL", "C"),
)
"""On top of an environment without `GIT_*`: no lock, no question, no connection, plain words."""


def still_command(*arguments: str, more: Settings = ()) -> tuple[str, ...]:
    """A git command that only looks, as the words of its start; `more` are further settings, which win.

    The settings are arguments and not variables, so that they hold whatever becomes of the environment.
    """
    settings = tuple(f"{name}={value}" for name, value in (*_STILL, *more))
    options = (word for setting in settings for word in ("-c", setting))
    return ("git", "--no-pager", "--no-optional-locks", *options, *arguments)


def switched_off(names: Iterable[str]) -> Settings:
    """What makes every filter among the names of a repository's settings do nothing.

    Raises:
        ValueError: for a name that cannot be written as an argument: it holds `=`.
    """
    filters = {match[1]: None for name in names if (match := _FILTER.match(name))}
    if any("=" in each for each in filters):
        raise ValueError("a filter's name holds =")
    return tuple(
        pair
        for each in filters
        for pair in (
            (f"{each}.clean", ""),
            (f"{each}.smudge", ""),
            (f"{each}.process", ""),
            (f"{each}.required", "false"),
        )
    )


def executes(name: str) -> bool:
    """Whether a setting of that name, as `git config --list` writes it, makes git run something."""
    head, _, leaf = name.rpartition(".")
    section, _, middle = head.partition(".")
    folded = ".".join(filter(None, (section.lower(), middle, leaf.lower())))
    return _EXECUTING.match(folded) is not None
