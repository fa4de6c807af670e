"""The system's keyring, by the `keyring` package where that is installed and finds one.

https://keyring.readthedocs.io/ - without a desktop session it has a backend that fails; backends
that keep plain text are no better than a file of our own and are not used.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from hame.base.errors import ConfigError
from hame.config.keystore import SERVICE, Keyring

_USELESS = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""Modules of backends that keep nothing, or keep it as plain text."""


def find_keyring() -> Keyring | None:
    """The keyring of this system; None where there is none that keeps a secret."""
    if find_spec("keyring") is None:
        return None
    library = import_module("keyring")
    backend: Any = library.get_keyring()
    module = type(backend).__module__
    if module.startswith(_USELESS) or backend.priority <= 0:
        return None
    return _Keyring(library, str(getattr(backend, "name", "") or module))


class _Keyring:
    """Implements Keyring."""

    def __init__(self, library: ModuleType, name: str) -> None:
        self._library = library
        self._name = name

    @property
    def name(self) -> str:
        return f"the keyring ({self._name})"

    def get(self, provider: str) -> str | None:
        try:
            return self._library.get_password(SERVICE, provider)
        except self._library.errors.KeyringError as error:
            raise self._failure("read", error) from error

    def set(self, provider: str, secret: str) -> None:
        try:
            self._library.set_password(SERVICE, provider, secret)
        except self._library.errors.KeyringError as error:
            raise self._failure("written", error) from error

    def delete(self, provider: str) -> None:
        try:
            self._library.delete_password(SERVICE, provider)
        except self._library.errors.PasswordDeleteError:
            return
        except self._library.errors.KeyringError as error:
            raise self._failure("written", error) from error

    def _failure(self, done: str, error: Exception) -> ConfigError:
        said = str(error) or type(error).__name__
        hint = "Unlock it, or keep the key in a file: hame auth add NAME --store file"
        return ConfigError(f"{self.name} cannot be {done}: {said}", hint=hint)
