"""Where a backend's key comes from: settings, the environment, a command, or what hame keeps."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from typing_extensions import override

from hame.backends.address import origin_of
from hame.base.errors import ConfigError
from hame.base.model import Vendor
from hame.base.secret import SecretStore
from hame.base.settings import ProviderSettings


class Keys(Protocol):
    """The keys of this user that neither settings nor the environment hold."""

    @property
    def store(self) -> SecretStore:
        """What hame keeps."""
        ...

    async def run(self, command: str) -> str:
        """What a shell command of the user's prints.

        Raises:
            ConfigError: if it fails, takes too long, or prints nothing.
        """
        ...

    def learned(self, secret: str) -> None:
        """A secret is known from now on, and must not appear anywhere."""
        ...


class Source(StrEnum):
    """The kinds of places a key comes from; the first that has one counts."""

    SETTINGS = "settings"
    ENVIRONMENT = "environment"
    COMMAND = "command"
    SAVED = "saved"
    NONE = "none"


class Credential:
    """The key of one backend."""

    def __init__(
        self,
        vendor: Vendor,
        own: ProviderSettings,
        environment: Mapping[str, str],
        keys: Keys | None = None,
    ) -> None:
        """Look at settings and environment; commands and keyrings wait until `fetch`."""
        self._provider = vendor.id
        self._keys = keys
        self._command = own.api_key_cmd or ""
        names = (own.api_key_env,) if own.api_key_env else vendor.key_env
        held = [(name, environment.get(name, "").strip()) for name in names]
        self.variable, value = next((each for each in held if each[1]), ("", ""))
        """Name of the environment variable that holds it."""
        self.known: str | None = own.api_key or value or None
        """The key, once it is known."""
        self.source = self._find_source(own)

    def _find_source(self, own: ProviderSettings) -> Source:
        if own.api_key:
            return Source.SETTINGS
        if self.variable:
            return Source.ENVIRONMENT
        if self._keys is None:
            return Source.NONE
        if self._command:
            return Source.COMMAND
        return Source.SAVED if self._keys.store.origin(self._provider) else Source.NONE

    @override
    def __repr__(self) -> str:
        """Hide the key."""
        return f"Credential({self._provider}, {self.source})"

    @property
    def where(self) -> str:
        """What holds it, in words; empty where there is none, or nobody could look there."""
        match self.source:
            case Source.SETTINGS:
                return f"providers.{self._provider}.api_key"
            case Source.ENVIRONMENT:
                return self.variable
            case Source.COMMAND:
                return f"providers.{self._provider}.api_key_cmd"
            case Source.SAVED:
                return f"`hame auth add {self._provider}`"
            case Source.NONE:
                return ""

    @property
    def exists(self) -> bool:
        """Whether there is one, as far as can be told without fetching it."""
        return self.source is not Source.NONE

    async def fetch(self, base_url: str) -> str | None:
        """The key for that address; None when there is none.

        Raises:
            ConfigError: if it cannot be had, or belongs to another origin.
        """
        if self.known is None and self._keys is not None:
            match self.source:
                case Source.COMMAND:
                    self._learn(await self._keys.run(self._command), self._keys)
                case Source.SAVED:
                    self._learn(await self._saved(self._keys.store, base_url), self._keys)
                case Source.SETTINGS | Source.ENVIRONMENT | Source.NONE:
                    pass
        return self.known

    def forget(self) -> bool:
        """Drop a key that a command can print anew, an expired token; False for any other."""
        if self.source is Source.COMMAND:
            self.known = None
        return self.source is Source.COMMAND

    def _learn(self, secret: str, keys: Keys) -> None:
        self.known = secret
        keys.learned(secret)

    async def _saved(self, store: SecretStore, base_url: str) -> str:
        bound, asked = store.origin(self._provider), origin_of(base_url)
        again = f"hame auth add {self._provider}"
        if bound != asked:
            raise ConfigError(
                f"the saved key of {self._provider} is for {bound}, not for {asked}",
                hint=f"To use a key there, save it for that address: {again}",
            )
        import anyio.to_thread  # A keyring may ask the user to unlock it.

        saved = await anyio.to_thread.run_sync(store.load, self._provider)
        if saved is None:
            raise ConfigError(f"the saved key of {self._provider} is gone", hint=again)
        return saved.secret
