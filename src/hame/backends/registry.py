"""The backends that exist here, in any order and as late as they like."""

import difflib
from collections.abc import Iterator

from hame.base.errors import ConfigError
from hame.base.ports import Backend


class Registry:
    """Backends by id. Built-in ones register as a guest would."""

    def __init__(self) -> None:
        """Nothing is registered."""
        self._backends: dict[str, Backend] = {}

    def register(self, backend: Backend) -> None:
        """Add a backend; one of the same id is replaced."""
        self._backends[backend.id] = backend

    def unregister(self, backend: Backend) -> None:
        """Take this very backend away; one that has replaced it stays."""
        if self._backends.get(backend.id) is backend:
            del self._backends[backend.id]

    def __iter__(self) -> Iterator[Backend]:
        """All backends, by display name."""
        return iter(sorted(self._backends.values(), key=lambda one: one.display_name.casefold()))

    def find(self, backend_id: str) -> Backend:
        """The backend of that id.

        Raises:
            ConfigError: naming the one that is missing; nothing takes its place.
        """
        backend = self._backends.get(backend_id)
        if backend is not None:
            return backend
        if not backend_id:
            raise ConfigError("no provider is named", hint="A model is PROVIDER/MODEL.")
        near = difflib.get_close_matches(backend_id, self._backends, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise ConfigError(
            f"there is no provider called {backend_id!r}.{meant}",
            hint=(
                "`hame models` lists the providers. For a server of your own add "
                f"[providers.{backend_id}] with base_url to config.toml (`hame config path`)."
            ),
        )
