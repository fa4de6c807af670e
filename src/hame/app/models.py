"""All models that can be asked here: the catalogue's, the user's own servers', the built-in one."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hame.app.fitting import fit, let_go
from hame.app.keys import UserKeys
from hame.app.lastwords import known_secrets, remember_secret
from hame.app.log import Log, LoggedHttp
from hame.app.reach import Reach
from hame.backends.address import origin_of, placed_at
from hame.backends.registry import Registry
from hame.backends.router import BUILT_IN, Router
from hame.backends.served import ServedBackend, own_backend, own_variable, vendor_backend
from hame.base.capability import CountsTokens, Embeddings, Embeds
from hame.base.errors import ConfigError
from hame.base.model import ModelFacts, Vendor
from hame.base.ports import Backend, Clock, Http, Index, Model, ModelRequest, Processes
from hame.base.settings import ProviderSettings, Settings
from hame.config.choices import read_choices, remember_choice
from hame.config.places import Places
from hame.config.sources import line_at, parse_toml, read_settings_text
from hame.config.versions import MODEL_STEPS, migrate
from hame.llm.asking import Line
from hame.llm.catalog import ShippedCatalogue
from hame.llm.retry import RetryPolicy
from hame.net.http import HttpClient
from hame.version import __version__

if TYPE_CHECKING:
    from hame.app.model_files import ModelFiles
    from hame.backends.detect import Server
    from hame.llm.catalog.overrides import Overrides
    from hame.local.engine import LocalEngine

USER_AGENT = f"hame/{__version__}"


def own_rows(places: Places) -> "Overrides | None":
    """The user's own rows of the catalogue; None where there is no such file.

    Raises:
        ConfigError: if it cannot be used.
    """
    text = read_settings_text(places.models_file)
    if text is None:
        return None
    from hame.llm.catalog.overrides import Overrides

    path = places.models_file
    tables = migrate(parse_toml(text, path), path, MODEL_STEPS)
    return Overrides(tables, path, lambda names: line_at(text, names))


def around_wsl() -> str | None:
    """The address of Windows as seen from WSL; None where this is no WSL."""
    from hame.backends.wsl import windows_host

    return windows_host()


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
        self._choices_file = places.choices_file
        self.windows: Callable[[], str | None] = around_wsl
        """The address of the Windows in which this machine runs; None where it does not."""
        for secret in known_secrets(settings, environment):
            remember_secret(secret)
        self.keys = UserKeys(places, environment, processes)
        self.catalogue = ShippedCatalogue(lambda: own_rows(places))
        self._client = HttpClient(
            user_agent=USER_AGENT,
            proxy=settings.proxy,
            environment=environment,
            ca_file=settings.ca_file,
        )
        self._http: Http = self._client
        if log is not None and settings.verbose:
            self._http = LoggedHttp(self._client, log)
        line = Line(
            http=self._http,
            clock=clock,
            retry=RetryPolicy(max_server_wait_s=settings.max_retry_wait_s),
            first_byte_s=settings.first_byte_timeout_s,
            idle_s=settings.idle_timeout_s,
        )
        self._reach = Reach(settings, self.catalogue, line, index=index, tried=places.tried_file)
        self._reach.warm = self._client.warm
        self._folder = places.cache
        self._index = index
        self._processes = processes
        self._engine: LocalEngine | None = None
        self._files: ModelFiles | None = None
        self._home = places.home
        self.registry = Registry()
        for name, own in settings.providers.items():
            if self.catalogue.vendor(name) is None:
                self._register_own(name, own)

    def speak_through(self, tell: Callable[[str], None]) -> None:
        """Say to the user what takes a while; without this no model is tried."""
        self._reach.tell = tell

    async def open(self, name: str | None) -> Model:
        """The model that is meant; None: what the settings, the keys or this machine offer.

        Raises:
            ConfigError: if there is none, or it cannot be asked.
        """
        name = name or read_choices(self._choices_file).name
        if name:
            await self.meet(name.partition("/")[0])
        else:
            self.know_all()
        router = Router(self.registry, self._find_server, self._remembered, self._fit)
        model = await router.open(name)
        listed = [each for each in self._settings.fallbacks if each != model.facts.name]
        if not listed:
            return model
        from hame.backends.fallback import FallbackModel

        return FallbackModel(model, listed, self._open_listed, self._say)

    async def try_again(self, name: str, tell: Callable[[str], None]) -> ModelFacts:
        """What is known of a local model after trying how it calls tools, whatever was found before.

        Raises:
            ConfigError: if it cannot be asked, or is none that is tried.
        """
        self._reach.tell, self._reach.trials.again = tell, True
        facts = (await self.open(name)).facts
        if not self._reach.trials.again:
            return facts
        why = "it is known how to speak to it"
        if not facts.local:
            why = "it does not run here"
        elif self._settings.tools is not None:
            why = "the setting `tools` says how to speak to it"
        raise ConfigError(f"{facts.name} is not tried: {why}")

    async def _open_listed(self, name: str) -> Model:
        """A model that the user listed.

        Raises:
            ConfigError: if it cannot be asked.
        """
        await self.meet(name.partition("/")[0])
        return await Router(self.registry, fit=self._fit).open(name)

    async def count_tokens(self, facts: ModelFacts, request: ModelRequest) -> int | None:
        """Tokens of a request as whoever serves the model counts them; None where nobody does."""
        found = (backend for backend in self.registry if backend.id == facts.backend)
        backend = next(found, None)
        if not isinstance(backend, CountsTokens):
            return None
        return await backend.count_tokens(facts.model, request)

    async def make_vectors(self, name: str, texts: Sequence[str]) -> Embeddings:
        """Texts as vectors, by the model of that name and no other.

        Raises:
            ConfigError: if there is no such backend, or it makes none.
            ModelError: if it was refused, or could not be asked.
        """
        backend_id, _, model = name.partition("/")
        self._know(backend_id)
        backend = self.registry.find(backend_id)
        if not isinstance(backend, Embeds):
            raise ConfigError(f"{backend.display_name} makes no embeddings")
        return await backend.embed(model, texts)

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        """What is known of a model without asking anybody, with what the user set for it."""
        return self._reach.facts(vendor, model)

    def _fit(self, backend: Backend, model: Model) -> Model:
        return fit(backend, model, self._index, self._say)

    def _say(self, text: str) -> None:
        if self._reach.tell is not None:
            self._reach.tell(text)

    def candidate(self, provider: str, own: ProviderSettings) -> ServedBackend:
        """A backend as it would be with these settings laid over the user's; it is not registered.

        Raises:
            ConfigError: for a provider that nobody knows and that has no address.
        """
        now = self._settings.providers.get(provider, ProviderSettings())
        own = replace(
            now,
            api_key=own.api_key,
            api_key_cmd=None,
            base_url=own.base_url or now.base_url,
            allow_http=own.allow_http or now.allow_http,
        )
        vendor = self.catalogue.vendor(provider)
        if vendor is not None:
            return vendor_backend(vendor, self._environment, self._reach, own)
        return own_backend(provider, own, self._environment, self._reach)

    def remember(self, name: str) -> None:
        """Keep a model that the user chose: it is meant from now on where nothing else is said."""
        remember_choice(self._choices_file, name)

    def _remembered(self, backend_id: str) -> str | None:
        """The model of a backend that is meant when only the backend is named."""
        own = self._settings.providers.get(backend_id)
        if own is not None and own.model:
            return own.model
        return read_choices(self._choices_file).models.get(backend_id)

    async def _find_server(self) -> str | None:
        servers = await self.look_around()
        usable = next((server for server in servers if server.models), None)
        if usable is None:
            return None
        self._know_at(usable)
        return f"{usable.kind}/{usable.models[0]}"

    async def look_around(self) -> "list[Server]":
        """The model servers on this machine, and on Windows around it."""
        from hame.backends.detect import LOCAL_SERVERS, look_around, usual_roots

        self.know_all()
        own = [
            origin_of(backend.endpoint.base_url)
            for backend in self.registry
            if isinstance(backend, ServedBackend) and backend.id in LOCAL_SERVERS
        ]
        windows = self.windows()
        hosts = ["127.0.0.1", windows] if windows else ["127.0.0.1"]
        return await look_around([*own, *usual_roots(hosts)], self._http)

    async def meet(self, backend_id: str) -> None:
        """Register the one backend that is asked for; a local server is looked for on Windows, too.

        Only where hame runs in Windows, and only while the user has not said where the server is.
        """
        from hame.backends.detect import LOCAL_SERVERS, look_around

        self._know(backend_id)
        vendor = self.catalogue.vendor(backend_id) if backend_id in LOCAL_SERVERS else None
        if vendor is None or self.registry.find(backend_id).chosen():
            return
        windows = self.windows()
        if windows is None:
            return
        here = origin_of(vendor.base_url)
        there = placed_at(here, windows)
        servers = await look_around([here, there], self._http)
        found = next((server for server in servers if server.kind == backend_id), None)
        if found is not None:
            self._know_at(found)

    async def meet_all(self) -> None:
        """Register every vendor of the catalogue, local servers where they are."""
        from hame.backends.detect import LOCAL_SERVERS

        self.know_all()
        if self.windows() is not None:
            for backend_id in LOCAL_SERVERS:
                await self.meet(backend_id)

    def _know_at(self, server: "Server") -> None:
        """Reach a local server where it was found."""
        vendor = self.catalogue.vendor(server.kind)
        if vendor is not None:
            own = self._settings.providers.get(server.kind, ProviderSettings())
            address = f"{server.root}{vendor.base_path}"
            found = replace(own, base_url=address)
            self.registry.register(
                vendor_backend(vendor, self._environment, self._reach, found, keys=self.keys)
            )

    def know_all(self) -> None:
        """Register every vendor of the catalogue."""
        for vendor_id in self.catalogue.vendors():
            self._know(vendor_id)
        self._know(BUILT_IN)

    def _know(self, backend_id: str) -> None:
        """Register the one vendor that is asked for: the others' rows stay unread."""
        if any(backend.id == backend_id for backend in self.registry):
            return
        if backend_id == BUILT_IN:
            self._know_built_in()
            return
        vendor = self.catalogue.vendor(backend_id)
        if vendor is not None:
            own = self._settings.providers.get(backend_id)
            self.registry.register(
                vendor_backend(vendor, self._environment, self._reach, own, keys=self.keys)
            )
        elif self._environment.get(own_variable(backend_id, "BASE_URL"), "").strip():
            self._register_own(backend_id, ProviderSettings())

    def _register_own(self, name: str, own: ProviderSettings) -> None:
        """Register a server of the user's own."""
        backend = own_backend(name, own, self._environment, self._reach, keys=self.keys)
        self.registry.register(backend)

    def _know_built_in(self) -> None:
        """Its room is loaded only where it may be meant: most users have a key."""
        from pathlib import Path

        from hame.app.model_files import ModelFiles
        from hame.local.backend import LocalBackend
        from hame.local.engine import LocalEngine

        folder = Path(self._folder)
        self._engine = LocalEngine(folder, self._processes, self._http)

        def new_engine(file: Path, window: int) -> LocalEngine:
            return LocalEngine(folder, self._processes, self._http, file=file, window=window)

        self._files = ModelFiles(
            Path(self._home),
            new_engine,
            trials=self._reach.trials,
            as_set=self._reach.with_tools,
            ask=self._reach.ask,
            tell=lambda: self._reach.tell,
        )
        self.registry.register(LocalBackend(folder, self._engine, self._index, self._files))

    async def try_built_in(self) -> None:
        """Start the built-in model and let it show that its engine keeps to a grammar.

        Raises:
            HameError: if it cannot run here, or does not.
        """
        self._know(BUILT_IN)
        if self._engine is not None:
            await self._engine.complete("Ready?", most_tokens=1)

    async def close(self) -> None:
        """End the built-in model's child and all connections; let go of what providers store for hire."""
        for backend in self.registry:
            await let_go(backend, self._say)
        for engines in (self._engine, self._files):
            if engines is not None:
                await engines.close()
        await self._client.aclose()
