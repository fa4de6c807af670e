"""What a child process finds in its environment.

It gets hame's own, without what could leak a key or change what a command means:

* names that sound like a secret: ending in `_KEY`, `_TOKEN`, `_SECRET`, `_PASSWORD`, `_PASSWD`,
  `_PASSPHRASE`, `_CREDENTIALS`, `_PAT` or `_AUTH`, holding `SECRET`, `PASSWORD`, `APIKEY` or
  `API_KEY`, and all `AWS_*` and `AZURE_*` but those that only choose a region, profile or tenant;
* names that make a shell or a tool run something of its own: `BASH_ENV`, `PROMPT_COMMAND`, `GIT_*`
  but for who commits, ...

Pagers and editors are replaced by programs that do not wait.
"""

from collections.abc import Mapping

_SECRET_ENDS = (
    "_KEY", "_KEY_ID", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_PASSPHRASE", "_CREDENTIALS",
    "_PAT", "_AUTH",
)  # fmt: skip
_SECRET_WORDS = ("SECRET", "PASSWORD", "APIKEY", "API_KEY", "ACCESS_TOKEN", "PRIVATE_KEY")
_SECRET_NAMES = frozenset({
    "TOKEN", "PASSWORD", "PASSWD", "PGPASSWORD", "MYSQL_PWD",
    # In these lies, packed, every variable that direnv or mise has set.
    "DIRENV_DIFF", "__MISE_DIFF",
})  # fmt: skip
_CLOUD_STARTS = ("AWS_", "AZURE_")
_CLOUD_CHOICES = frozenset({
    "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE",
    "AWS_PAGER", "AZURE_TENANT_ID", "AZURE_SUBSCRIPTION_ID",
})  # fmt: skip
_MEDDLING = frozenset({
    "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE",
    "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "TAR_OPTIONS", "LESSOPEN", "LESSCLOSE", "LESS",
})  # fmt: skip
_OF_GIT = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
)
"""What git may find in the environment: who commits, and where it stops looking for a repository.

All else of `GIT_*` names programs, or another repository (git(1))."""

QUIET: dict[str, str] = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GH_PAGER": "cat",
    "AWS_PAGER": "",
    "TERM": "dumb",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "PYTHONUNBUFFERED": "1",
}
"""What keeps programs from waiting for a person; output of Python programs is not held back."""


def child_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child process."""
    kept = {name: value for name, value in base.items() if not is_withheld(name)}
    return kept | QUIET


def is_withheld(name: str) -> bool:
    """Whether a variable of this name is kept from child processes."""
    upper = name.upper()
    of_git = upper.startswith("GIT_") and not upper.startswith(_OF_GIT)
    return of_git or upper in _MEDDLING or upper.startswith("BASH_FUNC_") or is_secret_name(name)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name is likely to hold a secret."""
    upper = name.upper()
    if upper in _CLOUD_CHOICES:
        return False
    return (
        upper in _SECRET_NAMES
        or upper.endswith(_SECRET_ENDS)
        or upper.startswith(_CLOUD_STARTS)
        or any(word in upper for word in _SECRET_WORDS)
    )
