"""Where a path lies, as far as rights are concerned; pure data.

The workspace resolves a path component by component and says which zone the real place is in; the
gate judges the zone. Nothing here looks at a disk.
"""

from enum import StrEnum

import msgspec


class Zone(StrEnum):
    """The kinds of places that are treated differently."""

    PROJECT = "project"
    """Inside the project or a folder the user added."""
    PROTECTED = "protected"
    """Inside the project but not writable: .git/hooks, .git/config, hame's own settings."""
    SECRET = "secret"  # noqa: S105 - the name of a zone, not a secret
    """Keys and credentials, wherever they are; neither readable nor writable."""
    HAME = "hame"
    """hame's own stores (results kept whole); readable."""
    OUTSIDE = "outside"
    """Anywhere else."""


class Operation(StrEnum):
    """What is to be done with a path."""

    READ = "read"
    LIST = "list"
    WRITE = "write"
    CREATE = "create"
    DELETE = "delete"


SECRET_NAMES: frozenset[str] = frozenset(
    {
        ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pgpass",
        ".git-credentials", ".npmrc", ".pypirc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
        "credentials.json", "auth.json", ".htpasswd", "gcloud",
    }
)  # fmt: skip
"""A component of one of these names makes the path secret."""

SECRET_SUFFIXES: tuple[str, ...] = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx")

SECRET_ENVIRONMENT_EXCEPTIONS: frozenset[str] = frozenset({
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
})

PROTECTED_PARTS: tuple[tuple[str, ...], ...] = (
    (".git", "hooks"),
    (".git", "config"),
    (".git", "modules"),
    (".git", "info"),
    (".hame",),
    (".bashrc",), (".bash_profile",), (".profile",), (".zshrc",), (".zprofile",), (".zshenv",),
    (".config", "fish"),
)  # fmt: skip
"""Runs of components that are readable but not writable."""


def is_secret(parts: tuple[str, ...]) -> bool:
    """Whether a path of these components (names only) leads to a secret."""
    if not parts:
        return False
    folded = [part.casefold() for part in parts]
    if any(part in SECRET_NAMES for part in folded):
        return True
    leaf = folded[-1]
    if leaf == ".env" or (leaf.startswith(".env.") and leaf not in SECRET_ENVIRONMENT_EXCEPTIONS):
        return True
    return leaf.endswith(SECRET_SUFFIXES)


def is_protected(parts: tuple[str, ...]) -> bool:
    """Whether a path of these components is readable but must not be written."""
    folded = tuple(part.casefold() for part in parts)
    for run in PROTECTED_PARTS:
        width = len(run)
        if any(folded[i : i + width] == run for i in range(len(folded) - width + 1)):
            return True
    return False


class ProjectPaths(msgspec.Struct, frozen=True, kw_only=True):
    """Where the project and hame's own places are, as real absolute paths."""

    root: str
    added: tuple[str, ...] = ()
    home: str = ""
    results: str = ""
    """Folder of results that were kept whole."""
    config: str = ""
    """hame's own configuration; never writable."""
