"""Where a path lies, as far as rights are concerned; pure data.

The workspace resolves a path component by component and says which zone the real place is in; the
gate judges the zone. Nothing here looks at a disk.
"""

from enum import StrEnum
from functools import cache
from unicodedata import category, normalize

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
        ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".netrc", "_netrc", ".pgpass",
        ".git-credentials", ".npmrc", ".pypirc", ".vault-token", ".password-store",
        "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
        "credentials.json", ".credentials.json", "oauth_creds.json", ".htpasswd",
        ".bash_history", ".zsh_history", ".python_history", ".node_repl_history",
        ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history", ".zhistory",
        ".claude.json", ".s3cfg", ".boto",
    }
)  # fmt: skip
"""A component of one of these names makes the path secret."""

SECRET_PARTS: tuple[tuple[str, ...], ...] = (
    (".docker", "config.json"), (".config", "containers", "auth.json"),
    (".config", "gcloud"), (".config", "gh"), (".config", "hub"), (".config", "op"),
    (".config", "hame"), (".config", "rclone"), (".config", "github-copilot"),
    (".local", "share", "hame"), (".local", "share", "keyrings"),
    (".local", "share", "fish", "fish_history"), (".cache", "huggingface", "token"),
    (".cargo", "credentials"), (".cargo", "credentials.toml"), (".gem", "credentials"),
    (".terraform.d", "credentials.tfrc.json"),
    (".codex", "auth.json"), (".local", "share", "opencode"),
    (".mozilla", "firefox"), (".config", "google-chrome"), (".config", "chromium"),
    (".config", "bravesoftware"), (".config", "microsoft-edge"), (".config", "vivaldi"),
    (".config", "opera"), ("snap", "firefox", "common"), ("snap", "chromium", "common"),
    (".var", "app", "org.mozilla.firefox"), (".var", "app", "com.google.chrome"),
    ("library", "keychains"), ("library", "application support", "google", "chrome"),
)  # fmt: skip
"""Runs of components, anywhere in a path, that make it secret."""

SECRET_PLACES: tuple[tuple[str, ...], ...] = (
    ("etc", "shadow"), ("etc", "shadow-"), ("etc", "gshadow"), ("etc", "gshadow-"),
    ("etc", "sudoers"), ("etc", "sudoers.d"), ("etc", "ssl", "private"),
    ("etc", "pki", "tls", "private"), ("etc", "letsencrypt"), ("etc", "wireguard"),
    ("etc", "krb5.keytab"), ("etc", "networkmanager", "system-connections"),
    ("etc", "ssh", "ssh_host_rsa_key"), ("etc", "ssh", "ssh_host_ecdsa_key"),
    ("etc", "ssh", "ssh_host_ed25519_key"), ("etc", "ssh", "ssh_host_dsa_key"),
    ("run", "secrets"), ("var", "run", "secrets"),
    ("run", "docker.sock"), ("var", "run", "docker.sock"),
    ("proc", "kcore"), ("proc", "kmsg"), ("proc", "keys"), ("proc", "key-users"),
)  # fmt: skip
"""Absolute places that are secret, as the components from the root of the file system."""

_SECRET_OF_PROCESS = frozenset({"environ", "mem", "auxv", "maps", "smaps", "cmdline", "stack"})
"""Names below /proc/<process> that show what the process holds."""

_DOORS_OF_PROCESS = frozenset({"fd", "root", "cwd", "exe", "map_files"})
"""Names directly in /proc/<process> that lead to what the process has open, whatever its path."""

SECRET_SUFFIXES: tuple[str, ...] = (
    ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk",
)  # fmt: skip

SECRET_ENVIRONMENT_EXCEPTIONS: frozenset[str] = frozenset({
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
})

PROTECTED_OF_GIT: tuple[tuple[str, ...], ...] = (
    (".git", "hooks"), (".git", "config"), (".git", "config.worktree"), (".git", "modules"),
    (".git", "worktrees"), (".git", "info", "attributes"), (".git", "commondir"),
)  # fmt: skip
"""What makes git run programs, or look for its settings elsewhere."""

PROTECTED_OF_PROJECT: frozenset[str] = frozenset(
    {
        ".gitmodules", ".husky", ".envrc", ".ripgreprc", ".mcp.json", ".hame", ".vscode", ".idea",
        ".cursor", ".claude", ".codex", ".gemini", ".devcontainer",
    }
)  # fmt: skip
"""Names in a project that make editors, agents and shells run code of its."""

PROTECTED_PARTS: tuple[tuple[str, ...], ...] = (
    *PROTECTED_OF_GIT,
    *((name,) for name in sorted(PROTECTED_OF_PROJECT)),
    (".bashrc",), (".bash_profile",), (".bash_login",), (".bash_logout",), (".bash_aliases",),
    (".profile",), (".zshrc",), (".zprofile",), (".zshenv",), (".zlogin",), (".zlogout",),
    (".kshrc",), (".cshrc",), (".tcshrc",), (".login",), (".inputrc",), (".xprofile",),
    (".gitconfig",), (".vimrc",), (".pam_environment",),
    (".config", "fish"), (".config", "git"), (".config", "autostart"), (".config", "systemd"),
    (".config", "environment.d"), (".local", "bin"), ("library", "launchagents"),
)  # fmt: skip
"""Runs of components that are readable but not writable: writing there makes other programs run code."""

SYSTEM_PLACES: frozenset[str] = frozenset({
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys",
    "usr", "system", "library", "applications",
})  # fmt: skip
"""First components of the places that belong to the operating system."""


def is_secret(parts: tuple[str, ...]) -> bool:
    """Whether a path of these components leads to a secret; a leading `/` may be among them."""
    folded = fold(parts)
    leaf = folded[-1] if folded else ""
    if not SECRET_NAMES.isdisjoint(folded) or _holds_run(folded, SECRET_PARTS):
        return True
    if _is_secret_place(folded):
        return True
    if leaf == ".env" or (leaf.startswith(".env.") and leaf not in SECRET_ENVIRONMENT_EXCEPTIONS):
        return True
    return leaf.endswith(SECRET_SUFFIXES)


def _is_secret_place(folded: tuple[str, ...]) -> bool:
    if _starts(SECRET_PLACES).isdisjoint(folded[:1]):
        return False
    if any(folded[: len(place)] == place for place in SECRET_PLACES):
        return True
    if folded[0] != "proc" or len(folded) < 3:
        return False
    return folded[-1] in _SECRET_OF_PROCESS or folded[2] in _DOORS_OF_PROCESS


def is_protected(parts: tuple[str, ...]) -> bool:
    """Whether a path of these components is readable but must not be written.

    `.git` itself is: as a file it points git elsewhere, and a folder of that name can be replaced
    by one with hooks.
    """
    folded = fold(parts)
    return bool(folded) and (folded[-1] == ".git" or _holds_run(folded, PROTECTED_PARTS))


def zone_of(
    real: str, paths: "ProjectPaths", operation: Operation, *, asked: str | None = None
) -> Zone:
    """The zone of a place, given absolute and with every link resolved.

    `asked` is the same path as it was written, made absolute without looking at the disk: a name
    that sounds like a secret, or like something protected, counts as well. A place outside the
    project is protected only from being changed.
    """
    parts = split(real)
    named = split(asked) if asked is not None else parts
    if is_below(parts, paths.results):
        return Zone.HAME
    if is_secret(parts) or is_secret(named) or is_below(parts, paths.config):
        return Zone.SECRET
    changes = operation not in {Operation.READ, Operation.LIST}
    if not changes and any(is_below(parts, root) for root in paths.read_only):
        return Zone.PROJECT
    for root in (paths.root, *paths.added, paths.temporary):
        if is_below(parts, root):
            inside = parts[len(split(root)) :]
            outer = named[len(split(root)) :] if is_below(named, root) else ()
            guarded = is_protected(inside) or is_protected(outer)
            return Zone.PROTECTED if guarded else Zone.PROJECT
    if changes and (not parts or fold(parts)[0] in SYSTEM_PLACES or is_protected(parts)):
        return Zone.PROTECTED
    return Zone.OUTSIDE


def is_below(parts: tuple[str, ...], folder: str) -> bool:
    """Whether a place is a folder or lies in it; an empty folder holds nothing."""
    if not folder:
        return False
    above = split(folder)
    return parts[: len(above)] == above


def split(path: str) -> tuple[str, ...]:
    """The components of an absolute path; `.` goes and `..` takes the component before it."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return tuple(parts)


def fold(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Components as a file system that ignores case, and characters nobody sees, compares them."""
    if parts[:1] == ("/",):
        parts = parts[1:]
    return tuple(part.lower() if part.isascii() else _fold_unicode(part) for part in parts)


def _fold_unicode(part: str) -> str:
    seen = (letter for letter in part if category(letter) != "Cf")
    return normalize("NFC", normalize("NFC", "".join(seen)).casefold())


@cache
def _starts(runs: tuple[tuple[str, ...], ...]) -> frozenset[str]:
    return frozenset(run[0] for run in runs)


def _holds_run(parts: tuple[str, ...], runs: tuple[tuple[str, ...], ...]) -> bool:
    """Whether one of the runs stands somewhere among the components."""
    if _starts(runs).isdisjoint(parts):
        return False
    return any(
        parts[start : start + len(run)] == run
        for run in runs
        if run[0] in parts
        for start in range(len(parts) - len(run) + 1)
    )


class ProjectPaths(msgspec.Struct, frozen=True, kw_only=True):
    """Where the project and hame's own places are, as real absolute paths."""

    root: str
    added: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    """Folders beside the project that may be read."""
    temporary: str = ""
    """hame's private folder for temporary files; empty: there is none."""
    temporary_alias: str = ""
    """What commands call that folder: `/tmp`, where the sandbox puts it there; empty: by its own path."""
    home: str = ""
    results: str = ""
    """Folder of results that were kept whole."""
    config: str = ""
    """hame's own configuration; never writable."""
    drives: str = ""
    """Folder in which Windows' drives are mounted (WSL); empty elsewhere."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The project, and what is added to it."""
        return (self.root, *self.added)

    def place_of(self, path: str) -> str:
        """Where an absolute path of a command's lies: what it calls `/tmp` is the private folder."""
        if not self.temporary_alias:
            return path
        alias = f"{self.temporary_alias}/"
        # What is bound below it keeps its place.
        others = (self.root, *self.added, self.home, self.config, self.results)
        inside = any(is_below(split(path), root) for root in others)
        # `..` leads elsewhere from there than from the folder that stands in its place.
        if inside or not f"{path}/".startswith(alias) or ".." in path.split("/"):
            return path
        return f"{self.temporary}/{path[len(alias) :]}".rstrip("/")

    def name_of(self, place: str) -> str:
        """What commands call a place: the private folder is their `/tmp`."""
        if not self.temporary_alias or not is_below(split(place), self.temporary):
            return place
        rest = split(place)[len(split(self.temporary)) :]
        return "/".join((self.temporary_alias, *rest))
