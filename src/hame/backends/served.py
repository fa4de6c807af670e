"""A service that is reached over the network, as a backend: a vendor's row, or a server of the user's own."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from hame.backends.address import complete_address
from hame.base.errors import ConfigError
from hame.base.model import Endpoint, ModelFacts, ModelListing, Vendor
from hame.base.ports import Model
from hame.base.settings import ProviderSettings


class Connections(Protocol):
    """What a backend needs to reach its service."""

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        """What is known of a model."""
        ...

    def connect(self, facts: ModelFacts, endpoint: Endpoint) -> Model:
        """A model that is asked there."""
        ...

    async def list_models(self, vendor: Vendor, endpoint: Endpoint) -> Sequence[ModelListing]:
        """What the service lists.

        Raises:
            ModelError: if it could not be asked.
        """
        ...


class ServedBackend:
    """Implements Backend and ListsModels."""

    def __init__(
        self, vendor: Vendor, endpoint: Endpoint, connections: Connections, *, chosen: bool
    ) -> None:
        """Serve a vendor's models from an endpoint; `chosen`: the user set it up."""
        self._vendor = vendor
        self._endpoint = endpoint
        self._connections = connections
        self._chosen = chosen

    @property
    def id(self) -> str:
        """First part of `backend/model`."""
        return self._vendor.id

    @property
    def display_name(self) -> str:
        """Name for eyes."""
        return self._vendor.display_name

    @property
    def endpoint(self) -> Endpoint:
        """Where it is reached."""
        return self._endpoint

    def default_model(self) -> str | None:
        """The model to use when only the backend is named."""
        return self._vendor.default_model

    def ready(self) -> bool:
        """Whether it could be asked: a key is set, or none is needed."""
        keyed = self._endpoint.api_key is not None or not self._vendor.needs_key
        return keyed and bool(self._endpoint.base_url)

    def chosen(self) -> bool:
        """Whether the user set it up."""
        return self._chosen

    def open(self, model: str) -> Model:
        """A model of this service.

        Raises:
            ConfigError: when its key or its address is missing.
        """
        self._require_ready()
        facts = self._connections.facts(self._vendor, model)
        return self._connections.connect(facts, self._endpoint)

    async def list_models(self) -> Sequence[ModelListing]:
        """What the service lists.

        Raises:
            ConfigError: when its key or its address is missing.
            ModelError: if it could not be asked.
        """
        self._require_ready()
        return await self._connections.list_models(self._vendor, self._endpoint)

    def _require_ready(self) -> None:
        if self.ready():
            return
        if self._endpoint.api_key is not None or not self._vendor.needs_key:
            variable = " or ".join(self._vendor.base_url_env)
            raise ConfigError(
                f"no address for {self.display_name} is set",
                hint=f"Set {variable} (for example https://NAME.example.com{self._vendor.base_path}).",
            )
        where = f" (get one at {self._vendor.key_page})" if self._vendor.key_page else ""
        variable = self._vendor.key_env[0] if self._vendor.key_env else "api_key in config.toml"
        raise ConfigError(f"no key for {self.display_name} is set", hint=f"Set {variable}{where}.")


def vendor_backend(
    vendor: Vendor,
    environment: Mapping[str, str],
    connections: Connections,
    settings: ProviderSettings | None = None,
) -> ServedBackend:
    """The backend of a catalogue row, with the key and address this user has for it."""
    own = settings or ProviderSettings()
    key_names = (own.api_key_env,) if own.api_key_env else vendor.key_env
    key = own.api_key or _first(key_names, environment)
    address = own.base_url or _first(vendor.base_url_env, environment)
    base_url = complete_address(address, vendor) if address else vendor.base_url
    endpoint = Endpoint(base_url=base_url, api_key=key, headers=vendor.headers)
    row = replace(vendor, default_model=own.model) if own.model else vendor
    chosen = key is not None if vendor.needs_key else address is not None
    chosen = chosen and not vendor.variant_of
    return ServedBackend(row, endpoint, connections, chosen=chosen)


def own_backend(
    name: str,
    settings: ProviderSettings,
    environment: Mapping[str, str],
    connections: Connections,
) -> ServedBackend:
    """The backend of `[providers.NAME]`, a server that the catalogue does not know.

    Raises:
        ConfigError: when it has no address.
    """
    upper = "".join(c if c.isalnum() else "_" for c in name.upper())
    vendor = Vendor(
        id=name,
        display_name=name,
        wire=settings.wire,
        base_url=settings.base_url or "",
        key_env=(settings.api_key_env or f"{upper}_API_KEY",),
        base_url_env=(f"{upper}_BASE_URL",),
        needs_key=settings.api_key_env is not None,
        default_model=settings.model,
    )
    backend = vendor_backend(vendor, environment, connections, settings)
    if not backend.endpoint.base_url:
        raise ConfigError(
            f"providers.{name} has no address",
            hint=f"hame config set providers.{name}.base_url https://HOST/v1",
        )
    return backend


def _first(names: Sequence[str | None], environment: Mapping[str, str]) -> str | None:
    """The first of these variables that is set to something."""
    found = (environment.get(name, "").strip() for name in names if name)
    return next(filter(None, found), None)
