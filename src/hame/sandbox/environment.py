"""What a confined program finds in its environment.

It is given what hame gives to all children. A program that only reads gets what is on a list; one that may
write gets all but what makes programs load or run something of their own, or leads to a service outside.
"""

import os
import re
from collections.abc import Mapping

from hame.base.zone import is_below, split

_PLAIN = frozenset({
    "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "COLUMNS",
    "LINES", "CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
    # What keeps programs from waiting for a person; hame sets these itself.
    "PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "GH_PAGER", "AWS_PAGER",
    "GIT_TERMINAL_PROMPT", "GIT_EDITOR", "EDITOR", "VISUAL", "PYTHONUNBUFFERED",
})  # fmt: skip
_TOOLCHAINS = frozenset({
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "JAVA_HOME", "GOROOT", "GOPATH",
    "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT", "NODENV_ROOT", "GOENV_ROOT",
    "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "VOLTA_HOME", "SDKMAN_DIR", "DOTNET_ROOT",
    "NIX_PROFILES", "NIX_PATH", "LOCALE_ARCHIVE", "SSL_CERT_FILE", "SSL_CERT_DIR",
})  # fmt: skip
"""Where toolchains are; their launchers look there before they do anything."""

_MEDDLING = frozenset({
    "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONBREAKPOINT", "NODE_OPTIONS", "NODE_PATH",
    "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER",
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "SUDO_ASKPASS", "GPG_AGENT_INFO",
    "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DOCKER_HOST", "TMUX", "STY",
    "TMP", "TEMP", "SHLVL",
})  # fmt: skip
_MEDDLING_STARTS = ("LD_", "DYLD_", "GIT_", "DBUS_", "BASH_FUNC_", "GLIBC_", "MALLOC_", "GCONV_")
_OF_GIT = re.compile(
    r"GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|PAGER|EDITOR|TERMINAL_PROMPT)"
)
"""What says who commits, and what hame itself has set."""
_PROXY = re.compile(r"(?:https?|ftp|all|no)_proxy", re.IGNORECASE)
"""There is no way to them; where hosts are granted, hame's own is set afterwards."""

_GIT_SETTINGS: tuple[tuple[str, str], ...] = (
    ("core.fsmonitor", "false"), ("core.hooksPath", "/dev/null"), ("core.pager", "cat"),
    ("diff.ignoreSubmodules", "all"), ("diff.autoRefreshIndex", "false"),
    ("log.showSignature", "false"), ("safe.bareRepository", "explicit"),
    ("submodule.recurse", "false"),
)  # fmt: skip
"""What a repository's own settings could start with a command that only reads."""


def reading_environment(
    given: Mapping[str, str], temporary: str, writable: tuple[str, ...]
) -> dict[str, str]:
    """The environment of a program that only reads.

    `temporary` is its folder for temporary files; nothing is looked for in the `writable` places, into
    which another program may have put something of the same name.
    """
    names = _PLAIN | _TOOLCHAINS
    kept = {name: value for name, value in given.items() if name in names or name.startswith("LC_")}
    count = len(_GIT_SETTINGS)
    for place, (key, value) in enumerate(_GIT_SETTINGS):
        kept |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return kept | {
        "PATH": _search_path(given.get("PATH", ""), without=writable),
        "TMPDIR": temporary,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": str(count),
    }


def writing_environment(given: Mapping[str, str], temporary: str) -> dict[str, str]:
    """The environment of a program that may write the project; build caches come on top of it."""
    kept = {name: value for name, value in given.items() if not is_meddling(name)}
    return kept | {"PATH": _search_path(given.get("PATH", "")), "TMPDIR": temporary}


def is_meddling(name: str) -> bool:
    """Whether a variable of this name is kept from programs that may write."""
    upper = name.upper()
    if upper in _MEDDLING or _PROXY.fullmatch(name):
        return True
    return upper.startswith(_MEDDLING_STARTS) and not _OF_GIT.fullmatch(name)


def _search_path(path: str, *, without: tuple[str, ...] = ()) -> str:
    """The absolute folders of a search path that are not below one of these places."""
    return ":".join(
        folder
        for folder in path.split(":")
        if folder.startswith("/")
        and not any(
            is_below(split(place), top)
            for place in (folder, os.path.realpath(folder))
            for top in without
        )
    )
