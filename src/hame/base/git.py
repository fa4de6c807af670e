"""git, asked about a repository that may have been made to harm: pure data.

A repository's own settings can name programs that git runs while it only looks
(`git-config(1)`, `gitattributes(5)`, `githooks(5)`); so can the environment. What is here takes the
settings of hame's own calls out of the repository's hands; filters, which every repository may name as
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


def still_environment(more: Settings = ()) -> tuple[tuple[str, str], ...]:
    """The variables under which git only looks: no program of the repository's, no network, no lock.

    They go on top of an environment without `GIT_*`. `more` are further settings, which win.
    """
    settings = (*_STILL, *more)
    numbered = (
        pair
        for number, (name, value) in enumerate(settings)
        for pair in ((f"GIT_CONFIG_KEY_{number}", name), (f"GIT_CONFIG_VALUE_{number}", value))
    )
    return (
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("LC_ALL", "C"),
        ("GIT_CONFIG_COUNT", str(len(settings))),
        *numbered,
    )


def switched_off(names: Iterable[str]) -> Settings:
    """What makes every filter among the names of a repository's settings do nothing."""
    filters = {match[1]: None for name in names if (match := _FILTER.match(name))}
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
