"""Implements `hame.base.secret.SecretStore`: the system's keyring where there is one, else a file.

The file (`keys.json`, readable by its owner only) says whose keys are kept and for which origin; the
key itself stands in it as plain text, or in the keyring. So a start that needs no key from the
keyring never loads it.
"""

import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

import msgspec

from hame.base.errors import ConfigError
from hame.base.secret import SavedKey
from hame.config.whole import alone_beside, write_whole

VERSION = 1
SERVICE = "hame"
"""Under which name keys stand in a keyring."""


class Keyring(Protocol):
    """The system's keyring."""

    @property
    def name(self) -> str:
        """In words for people."""
        ...

    def get(self, provider: str) -> str | None:
        """A key; None when it is not there.

        Raises:
            ConfigError: if the keyring cannot be read.
        """
        ...

    def set(self, provider: str, secret: str) -> None:
        """Keep a key.

        Raises:
            ConfigError: if the keyring cannot be written.
        """
        ...

    def delete(self, provider: str) -> None:
        """Forget a key; nothing happens where there is none.

        Raises:
            ConfigError: if the keyring cannot be written.
        """
        ...


class _Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the file says of one provider."""

    origin: str
    secret: str | None = None
    """None: it is in the keyring."""


class _File(msgspec.Struct, frozen=True):
    """The whole file."""

    version: int = VERSION
    keys: dict[str, _Kept] = {}


def no_keyring() -> Keyring | None:
    """Stands for a system without one."""
    return None


class KeyStore:
    """Keys between runs."""

    def __init__(self, path: str, find_keyring: Callable[[], Keyring | None] = no_keyring) -> None:
        """`find_keyring` is called when a key is to be kept or fetched, and not before."""
        self._path = path
        self._find_keyring = find_keyring
        self._read: _File | None = None

    @property
    def place(self) -> str:
        """Where the next key would be kept."""
        keyring = self._find_keyring()
        return keyring.name if keyring is not None else self._path

    @property
    def plain(self) -> bool:
        """Whether it would lie there as plain text."""
        return self._find_keyring() is None

    def providers(self) -> Sequence[str]:
        """Whose keys are kept."""
        return sorted(self._file().keys)

    def origin(self, provider: str) -> str | None:
        """The origin a provider's key is bound to."""
        kept = self._file().keys.get(provider)
        return kept.origin if kept is not None else None

    def where(self, provider: str) -> str:
        """In words for people: the place of a key that is kept."""
        kept = self._file().keys.get(provider)
        return self._path if kept is not None and kept.secret is not None else "the keyring"

    def plain_secrets(self) -> list[str]:
        """The keys that lie in the file, without asking any keyring."""
        return [kept.secret for kept in self._file().keys.values() if kept.secret]

    def load(self, provider: str) -> SavedKey | None:
        """The key.

        Raises:
            ConfigError: if it is in a keyring that is gone or locked.
        """
        kept = self._file().keys.get(provider)
        if kept is None:
            return None
        secret = kept.secret or self._fetch(provider)
        return SavedKey(provider=provider, origin=kept.origin, secret=secret)

    def save(self, key: SavedKey) -> None:
        """Keep a key.

        Raises:
            ConfigError: if it cannot be written.
        """
        keyring = self._find_keyring()
        if keyring is not None:
            keyring.set(key.provider, key.secret)
        secret = key.secret if keyring is None else None
        with self._editing() as keys:
            keys[key.provider] = _Kept(key.origin, secret)

    def remove(self, provider: str) -> bool:
        """Forget a key.

        Raises:
            ConfigError: if it cannot be written, or is in a keyring that is locked.
        """
        kept = self._file().keys.get(provider)
        if kept is None:
            return False
        if kept.secret is None and (keyring := self._find_keyring()) is not None:
            keyring.delete(provider)
        with self._editing() as keys:
            keys.pop(provider, None)
        return True

    # ------------------------------------------------------------ inside

    def _fetch(self, provider: str) -> str:
        keyring = self._find_keyring()
        secret = keyring.get(provider) if keyring is not None else None
        if secret is None:
            raise ConfigError(
                f"the key of {provider} was kept in a keyring that does not have it any more",
                hint=f"Save it again: hame auth add {provider}",
            )
        return secret

    def _file(self) -> _File:
        if self._read is None:
            self._read = _read(self._path)
        return self._read

    @contextmanager
    def _editing(self) -> Generator[dict[str, _Kept]]:
        """The keys as they are now; written when the block ends well, one writer at a time.

        Raises:
            ConfigError: if they cannot be read or written.
        """
        with alone_beside(self._path):
            keys = dict(_read(self._path).keys)
            yield keys
            self._read = _File(keys=keys)
            data = msgspec.json.format(msgspec.json.encode(self._read), indent=1)
            write_whole(self._path, data + b"\n")


def _read(path: str) -> _File:
    try:
        # Not blocking: a FIFO must not hold up the start.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _File()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise ConfigError(f"{path}: is not a file", hint="Move it out of the way.")
        if mode & 0o077:
            with suppress(OSError):  # Another owner's file is read as it is.
                os.fchmod(descriptor, 0o600)
        data = file.read()
    try:
        found = msgspec.json.decode(data, type=_File)
    except msgspec.DecodeError as error:
        # What is in it is not repeated: it may be a key.
        hint = f"Move {path} aside and save the keys again with hame auth add."
        raise ConfigError(f"{path}: is not a file of keys that hame can read", hint=hint) from error
    if found.version > VERSION:
        raise ConfigError(f"{path}: was written by a newer hame", hint="Update hame.")
    return found
