"""All models that can be asked here: the catalogue's, the user's own servers', the built-in one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hame.app.log import Log, LoggedHttp
from hame.backends.registry import Registry
from hame.backends.router import BUILT_IN, Router
from hame.backends.served import own_backend, vendor_backend
from hame.base.model import Endpoint, ModelFacts, ModelListing, Vendor
from hame.base.ports import Clock, Http, Index, Model, Processes
from hame.base.settings import ProviderSettings, Settings
from hame.config.places import Places
from hame.llm.asking import Line
from hame.llm.catalog import ShippedCatalogue
from hame.llm.client import connect
from hame.llm.codecs import codec
from hame.llm.listing import list_models
from hame.llm.retry import RetryPolicy
from hame.net.http import HttpClient
from hame.version import __version__

if TYPE_CHECKING:
    from hame.local.engine import LocalEngine


USER_AGENT = f"hame/{__version__}"


class Models:
    """Opens models. Must be closed."""

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        places: Places,
        *,
        index: Index,
        processes: Processes,
        clock: Clock,
        log: Log | None = None,
    ) -> None:
        """Open nothing yet; vendors' rows are read when they are asked for."""
        self._settings = settings
        self._environment = environment
        self._clock = clock
        self._catalogue = ShippedCatalogue()
        self._client = HttpClient(
            user_agent=USER_AGENT,
            proxy=settings.proxy,
            environment=environment,
            ca_file=settings.ca_file,
        )
        self._http: Http = self._client
        if log is not None and settings.verbose:
            self._http = LoggedHttp(self._client, log)
        retry = RetryPolicy(max_server_wait_s=settings.max_retry_wait_s)
        self._line = Line(
            http=self._http,
            clock=clock,
            retry=retry,
            first_byte_s=settings.first_byte_timeout_s,
            idle_s=settings.idle_timeout_s,
        )
        self._folder = places.cache
        self._index = index
        self._processes = processes
        self._engine: LocalEngine | None = None
        self.registry = Registry()
        for name, own in settings.providers.items():
            if self._catalogue.vendor(name) is None:
                self.registry.register(own_backend(name, own, environment, self))

    async def open(self, name: str | None) -> Model:
        """The model that is meant; None: what the settings, the keys or this machine offer.

        Raises:
            ConfigError: if there is none, or it cannot be asked.
        """
        if name:
            self._know(name.partition("/")[0])
        else:
            self.know_all()
        return await Router(self.registry, self._find_server).open(name)

    async def _find_server(self) -> str | None:
        from hame.backends.detect import find_running

        return await find_running(list(self.registry))

    def know_all(self) -> None:
        """Register every vendor of the catalogue."""
        for vendor_id in self._catalogue.vendors():
            self._know(vendor_id)
        self._know(BUILT_IN)

    def _know(self, backend_id: str) -> None:
        """Register the one vendor that is asked for: the others' rows stay unread."""
        if any(backend.id == backend_id for backend in self.registry):
            return
        if backend_id == BUILT_IN:
            self._know_built_in()
            return
        vendor = self._catalogue.vendor(backend_id)
        if vendor is not None:
            own = self._settings.providers.get(backend_id)
            self.registry.register(vendor_backend(vendor, self._environment, self, own))
        elif f"{backend_id.upper().replace('-', '_')}_BASE_URL" in self._environment:
            own = ProviderSettings()
            self.registry.register(own_backend(backend_id, own, self._environment, self))

    def _know_built_in(self) -> None:
        """Its room is loaded only where it may be meant: most users have a key."""
        from pathlib import Path

        from hame.local.backend import LocalBackend
        from hame.local.engine import LocalEngine

        folder = Path(self._folder)
        self._engine = LocalEngine(folder, self._processes, self._http)
        self.registry.register(LocalBackend(folder, self._engine, self._index))

    # ------------------------------------------------------------ what a backend reaches out with

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        """What is known of a model, with the window the user gave it."""
        facts = self._catalogue.facts(vendor, model)
        own = self._settings.providers.get(vendor.id)
        if own is None or own.context_window is None:
            return facts
        return replace(facts, context_window=own.context_window)

    def connect(self, facts: ModelFacts, endpoint: Endpoint) -> Model:
        """A model that is asked over HTTP."""
        self._client.warm(endpoint.base_url)
        return connect(facts, endpoint, self._line)

    async def list_models(self, vendor: Vendor, endpoint: Endpoint) -> Sequence[ModelListing]:
        """What a service lists.

        Raises:
            ModelError: if it could not be asked.
        """
        return await list_models(
            codec(vendor.wire),
            endpoint,
            self._http,
            self._clock,
            provider=vendor.display_name,
        )

    async def close(self) -> None:
        """End the built-in model's child and all connections."""
        if self._engine is not None:
            await self._engine.close()
        await self._client.aclose()
