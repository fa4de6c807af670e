"""Where secrets are kept on this machine, outside of any project."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hame.base.zone import (
    SECRET_NAMES,
    SECRET_PARTS,
    SECRET_PLACES,
    fold,
    is_below,
    split,
)
from hame.sandbox.credential import holds_credential

_OWN_INSIDE = frozenset({"proc", "run"})
"""Folders that are others inside a sandbox."""
_OF_AGENTS = tuple(sorted(name for name in SECRET_NAMES if "cred" in name))
"""Names under which programs keep credentials in hidden folders of their own."""
_MOST_HOMES = 50
_MOST_LINKS = 200
"""Entries of one secret folder that are looked at for links out of it."""
_NAMED_BY: tuple[tuple[str, str], ...] = (
    ("AWS_CONFIG_FILE", ""), ("AWS_SHARED_CREDENTIALS_FILE", ""), ("AZURE_CONFIG_DIR", ""),
    ("CARGO_HOME", "credentials"), ("CARGO_HOME", "credentials.toml"), ("CLOUDSDK_CONFIG", ""),
    ("DOCKER_CONFIG", "config.json"), ("GH_CONFIG_DIR", ""), ("GNUPGHOME", ""), ("HISTFILE", ""),
    ("KUBECONFIG", ""), ("NETRC", ""), ("NPM_CONFIG_USERCONFIG", ""),
    ("npm_config_userconfig", ""), ("PASSWORD_STORE_DIR", ""), ("PGPASSFILE", ""),
)  # fmt: skip
"""Variables that say where a secret is kept, and what of that place."""


def find_secrets(home: str, environment: Mapping[str, str], *, as_root: bool) -> list[str]:
    """Real paths of the secret files and folders that are there.

    `as_root`: the homes of all users count, not only the one of this.
    """
    look = _Look()
    found: list[str] = []
    for place in SECRET_PLACES:
        if place[0] not in _OWN_INSIDE and os.path.lexists(f"/{place[0]}"):
            found += look.descend("/", place)
    for each in dict.fromkeys([home, *(_homes() if as_root else ())]):
        found += look.in_home(each)
    for variable, inside in _NAMED_BY:
        for path in environment.get(variable, "").split(":"):
            if path.startswith("/"):
                found.append(f"{path}/{inside}".rstrip("/"))
    real = dict.fromkeys(_real(found))
    real.update(dict.fromkeys(path for folder in tuple(real) for path in _led_to(folder, home)))
    return [path for path in real if holds_credential(path) and not _holds_too_much(path, home)]


class _Look:
    """One look at the disk, in which no folder is listed twice."""

    def __init__(self) -> None:
        self._listed: dict[str, dict[str, str]] = {}

    def in_home(self, home: str) -> Iterator[str]:
        """What is secret in a home by its name or its place."""
        names = self._by_folded_name(home)
        yield from (f"{home}/{name}" for folded, name in names.items() if folded in SECRET_NAMES)
        for name in names.values():
            if name.startswith("."):
                yield from (f"{home}/{name}/{each}" for each in _OF_AGENTS)
        for first, *rest in SECRET_PARTS:
            if (name := names.get(first)) is not None:
                yield from self.descend(f"{home}/{name}", rest)

    def descend(self, folder: str, parts: Sequence[str]) -> Iterator[str]:
        """What lies in a folder under these names, which are folded."""
        if not parts:
            yield folder
            return
        direct = f"{folder.rstrip('/')}/{parts[0]}"
        if os.path.lexists(direct):
            yield from self.descend(direct, parts[1:])
        elif (name := self._by_folded_name(folder).get(parts[0])) is not None:
            yield from self.descend(f"{folder}/{name}", parts[1:])

    def _by_folded_name(self, folder: str) -> dict[str, str]:
        if folder not in self._listed:
            self._listed[folder] = {
                name.lower() if name.isascii() else fold((name,))[0]: name for name in _list(folder)
            }
        return self._listed[folder]


def _homes() -> list[str]:
    return ["/root", *(f"/home/{name}" for name in sorted(_list("/home"))[:_MOST_HOMES])]


def _real(paths: Iterable[str]) -> Iterator[str]:
    """Real paths of those that are there and could be read."""
    for path in paths:
        if not os.path.lexists(path):
            continue
        real = os.path.realpath(path)
        if os.access(real, os.R_OK) or os.access(real, os.X_OK):
            yield real


def _led_to(folder: str, home: str) -> Iterator[str]:
    """The user's own files that links in a secret folder lead to."""
    for name in _list(folder)[:_MOST_LINKS]:
        path = f"{folder}/{name}"
        if stat.S_ISLNK(_mode(path)):
            real = os.path.realpath(path)
            if is_below(split(real), home) and stat.S_ISREG(_mode(real)):
                yield real


def _holds_too_much(path: str, home: str) -> bool:
    """Whether a place is no place for secrets, whatever was said: a home, or what homes lie in."""
    return is_below(split(home), path) or is_below(split("/home"), path)


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _list(folder: str) -> list[str]:
    """Names in a folder; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []
