"""A service that is reached over the network, as a backend: a vendor's row, or a server of the user's own."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from hame.backends.address import check_address, complete_address, placed_address, split_query
from hame.backends.credential import Credential, Keys, Source
from hame.base.capability import BackendSetting, CachesContext, Embeddings
from hame.base.errors import ConfigError
from hame.base.model import (
    Constraint,
    Endpoint,
    ModelFacts,
    ModelListing,
    Quirk,
    ToolSupport,
    Vendor,
)
from hame.base.ports import Model, ModelRequest
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

    async def learn(self, vendor: Vendor, facts: ModelFacts, endpoint: Endpoint) -> ModelFacts:
        """The facts, with what the service says of the model; the same ones where it says nothing.

        Raises:
            ConfigError: if the model is none that can hold a conversation.
        """
        ...

    async def count(
        self, facts: ModelFacts, endpoint: Endpoint, request: ModelRequest
    ) -> int | None:
        """Tokens of a request as the service counts them; None where it does not, or not in time."""
        ...

    async def embed(
        self, facts: ModelFacts, endpoint: Endpoint, texts: Sequence[str]
    ) -> Embeddings:
        """Texts as vectors.

        Raises:
            ConfigError: on a wire that has none.
            ModelError: if it was refused, or could not be asked.
        """
        ...

    async def check(self, vendor: Vendor, endpoint: Endpoint) -> None:
        """Ask for the vendor's `check_path`.

        Raises:
            ModelError: if it was refused or could not be asked.
        """
        ...


class ServedBackend:
    """Implements Backend and every capability but Cancellable: hanging up is what stops its servers."""

    def __init__(
        self,
        vendor: Vendor,
        endpoint: Endpoint,
        credential: Credential,
        connections: Connections,
        *,
        chosen: bool,
        own: ProviderSettings | None = None,
    ) -> None:
        """Serve a vendor's models from an endpoint.

        Args:
            vendor: its row.
            endpoint: where it is reached; the key comes from `credential`.
            credential: the user's key for it.
            connections: the ways to its server.
            chosen: the user set it up.
            own: what the user set for it.
        """
        self._vendor = vendor
        self._endpoint = endpoint
        self._credential = credential
        self._connections = connections
        self._chosen = chosen
        self._own = own or ProviderSettings()
        self._opened: list[Model] = []
        self._learned: dict[str, ModelFacts] = {}

    @property
    def id(self) -> str:
        """First part of `backend/model`."""
        return self._vendor.id

    @property
    def display_name(self) -> str:
        """Name for eyes."""
        return self._vendor.display_name

    @property
    def vendor(self) -> Vendor:
        """Its row."""
        return self._vendor

    @property
    def credential(self) -> Credential:
        """Where its key comes from."""
        return self._credential

    @property
    def endpoint(self) -> Endpoint:
        """Where it is reached, with the key as far as it is known."""
        known = self._credential
        return replace(self._endpoint, api_key=known.known, key_from=known.where)

    def default_model(self) -> str | None:
        """The model to use when only the backend is named."""
        return self._vendor.default_model

    def ready(self) -> bool:
        """Whether it could be asked: there is a key, or none is needed."""
        keyed = self._credential.exists or not self._vendor.needs_key
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
        facts = self._learned.get(model) or self._connections.facts(self._vendor, model)
        opened = self._connect(facts)
        if self._credential.source is not Source.COMMAND:
            return opened
        from hame.backends.renewing import RenewingModel  # Few keys are printed by a command.

        async def renew() -> Model | None:
            old = self._credential.known
            self._credential.forget()
            new = await self._credential.fetch(self._endpoint.base_url)
            return self._connect(facts) if new != old else None

        return RenewingModel(opened, renew)

    def _connect(self, facts: ModelFacts) -> Model:
        model = self._connections.connect(facts, self.endpoint)
        self._opened.append(model)
        return model

    async def sign_in(self) -> None:
        """Fetch the key from where it is.

        Raises:
            ConfigError: when key or address is missing, or the key cannot be had.
        """
        self._require_ready()
        await self._credential.fetch(self._endpoint.base_url)

    async def learn(self, model: str) -> ModelFacts:
        """What is known of a model, with what its server says of it.

        Raises:
            ConfigError: when key or address is missing, or the model is none to talk to.
        """
        await self.sign_in()
        facts = self._connections.facts(self._vendor, model)
        facts = await self._connections.learn(self._vendor, facts, self.endpoint)
        self._learned[model] = facts
        return facts

    async def count_tokens(self, model: str, request: ModelRequest) -> int | None:
        """Tokens of a request as the service counts them; None where it does not, or not just now."""
        facts = self._learned.get(model) or self._connections.facts(self._vendor, model)
        if facts.tools is ToolSupport.MASKED or not self.ready():
            return None  # A model that is spoken to in lines is not sent what it is asked.
        return await self._connections.count(facts, self.endpoint, request)

    async def embed(self, model: str, texts: Sequence[str]) -> Embeddings:
        """Texts as vectors, by one of the service's models for that.

        Raises:
            ConfigError: when its key or its address is missing, or its wire has no embeddings.
            ModelError: if it was refused, or could not be asked.
        """
        await self.sign_in()
        facts = self._connections.facts(self._vendor, model)
        return await self._connections.embed(facts, self.endpoint, texts)

    async def release(self) -> None:
        """Let go of what the service stores for hire."""
        opened, self._opened = self._opened, []
        for model in opened:
            if isinstance(model, CachesContext):
                await model.release()

    def settings(self) -> Sequence[BackendSetting]:
        """What the user can set for it."""
        from hame.backends.shown import shown_settings  # Few want to see them.

        return shown_settings(self._vendor, self._own, self._credential, self.endpoint)

    def takes_tools(self, model: str) -> bool:
        """They all do: natively, or in words, as their facts say."""
        del model
        return True

    def constraints(self, model: str) -> Sequence[Constraint]:
        """The ways in which its servers may hold an answer to a few lines."""
        del model
        return self._vendor.constraints

    async def list_models(self) -> Sequence[ModelListing]:
        """What the service lists; of one that lists nothing, what the catalogue knows.

        Raises:
            ConfigError: when its key or its address is missing.
            ModelError: if it could not be asked.
        """
        await self.sign_in()
        return await self._connections.list_models(self._vendor, self.endpoint)

    async def check_key(self) -> bool:
        """Ask for what only a good key gets: the vendor's own check, else the list of models.

        False: neither is there.

        Raises:
            ConfigError: when its key or its address is missing.
            ModelError: if it was refused, or could not be asked.
        """
        await self.sign_in()
        if self._vendor.check_path:
            await self._connections.check(self._vendor, self.endpoint)
        elif self._vendor.lists:
            await self._connections.list_models(self._vendor, self.endpoint)
        return bool(self._vendor.check_path) or self._vendor.lists

    def _require_ready(self) -> None:
        """See that it can be asked.

        Raises:
            ConfigError: if it cannot, with the remedy.
        """
        if self.ready():
            check_address(self._endpoint.base_url, self.id, allow_http=self._own.allow_http)
            return
        if self._credential.exists or not self._vendor.needs_key:
            variable = " or ".join(self._vendor.base_url_env)
            raise ConfigError(
                f"no address for {self.display_name} is set",
                hint=f"Set {variable} (for example https://NAME.example.com{self._vendor.base_path}).",
            )
        where = f" (get one at {self._vendor.key_page})" if self._vendor.key_page else ""
        ways = [f"hame auth add {self.id}", *(f"set {name}" for name in self._vendor.key_env[:1])]
        raise ConfigError(
            f"no key for {self.display_name} is set", hint=f"{', or '.join(ways)}{where}"
        )


def vendor_backend(
    vendor: Vendor,
    environment: Mapping[str, str],
    connections: Connections,
    settings: ProviderSettings | None = None,
    *,
    keys: Keys | None = None,
) -> ServedBackend:
    """The backend of a catalogue row, with the key and address this user has for it."""
    own = settings or ProviderSettings()
    credential = Credential(vendor, own, environment, keys)
    address = own.base_url or _first(vendor.base_url_env, environment)
    placed = placed_address(vendor, environment)
    address, query = split_query(address or "")
    base_url = complete_address(address, vendor) if address else placed
    endpoint = Endpoint(base_url=base_url, headers=vendor.headers, query=query)
    row = replace(vendor, default_model=own.model) if own.model else vendor
    chosen = credential.exists if vendor.needs_key else bool(address)
    chosen = chosen and not vendor.variant_of
    return ServedBackend(row, endpoint, credential, connections, chosen=chosen, own=own)


def own_backend(
    name: str,
    settings: ProviderSettings,
    environment: Mapping[str, str],
    connections: Connections,
    *,
    keys: Keys | None = None,
) -> ServedBackend:
    """The backend of `[providers.NAME]`, a server that the catalogue does not know.

    Raises:
        ConfigError: when it has no address.
    """
    vendor = Vendor(
        id=name,
        display_name=name,
        wire=settings.wire,
        base_url=settings.base_url or "",
        key_env=(settings.api_key_env or own_variable(name, "API_KEY"),),
        base_url_env=(own_variable(name, "BASE_URL"),),
        needs_key=settings.api_key_env is not None,
        default_model=settings.model,
        quirks=frozenset({Quirk.PRINTS_CALLS}),
        constraints=tuple(Constraint),
    )
    backend = vendor_backend(vendor, environment, connections, settings, keys=keys)
    if not backend.endpoint.base_url:
        raise ConfigError(
            f"providers.{name} has no address",
            hint=f"hame config set providers.{name}.base_url https://HOST/v1",
        )
    return backend


def own_variable(name: str, what: str) -> str:
    """The variable that says something of a server of the user's own: `MY_LAB_BASE_URL`."""
    upper = "".join(c if c.isalnum() else "_" for c in name.upper())
    return f"{upper}_{what}"


def _first(names: Sequence[str | None], environment: Mapping[str, str]) -> str | None:
    """The first of these variables that is set to something."""
    found = (environment.get(name, "").strip() for name in names if name)
    return next(filter(None, found), None)
