"""From the name a user chose to one model; never to one the user did not choose."""

from collections.abc import Awaitable, Callable, Sequence

from hame.backends.detect import talking_models
from hame.backends.registry import Registry
from hame.base.capability import LearnsModels, SignsIn
from hame.base.errors import ChoiceError, ConfigError, ModelError
from hame.base.ports import Backend, ListsModels, Model

BUILT_IN = "local"

FindServer = Callable[[], Awaitable[str | None]]
"""Looks for a model server that runs on this machine: `backend/model` of what it serves, or None."""


async def no_server() -> str | None:
    """Looks nowhere."""
    return None


Remembered = Callable[[str], str | None]
"""The model that was chosen last of a backend; None when none was."""


def nothing_remembered(_backend: str) -> str | None:
    """Nothing was chosen before."""
    return None


Fit = Callable[[Backend, Model], Model]
"""What a model of a backend becomes before it is asked."""


def as_it_is(_backend: Backend, model: Model) -> Model:
    """Nothing else."""
    return model


class Router:
    """Resolves `backend/model`, a bare backend, or nothing at all."""

    def __init__(
        self,
        registry: Registry,
        find_server: FindServer = no_server,
        remembered: Remembered = nothing_remembered,
        fit: Fit = as_it_is,
    ) -> None:
        """Take the backends, a way to look for a running local server, what was chosen before, the fitting."""
        self._registry = registry
        self._find_server = find_server
        self._remembered = remembered
        self._fit = fit

    async def open(self, name: str | None) -> Model:
        """The model that is meant; None: the one key that is set, a local server, the built-in model.

        Raises:
            ConfigError: if that is none, or cannot be asked; with the remedy.
        """
        return await self._open_named(name or await self._choose())

    async def _open_named(self, name: str) -> Model:
        backend_id, _, model = name.partition("/")
        backend = self._registry.find(backend_id)
        if isinstance(backend, SignsIn):
            await backend.sign_in()
        model = model or await self._default_model(backend)
        if isinstance(backend, LearnsModels):
            await backend.learn(model)
        return self._fit(backend, backend.open(model))

    async def _default_model(self, backend: Backend) -> str:
        model = self._remembered(backend.id) or backend.default_model()
        model = model or await _only_model(backend)
        if model is None:
            raise ConfigError(
                f"{backend.display_name} has no model to use by default",
                hint=f"Name one: --model {backend.id}/MODEL (`hame models {backend.id}` lists them).",
            )
        return model

    async def _choose(self) -> str:
        """The name of what is meant when nothing was said.

        Raises:
            ChoiceError: if that is several things.
            ConfigError: if that is nothing.
        """
        chosen = [backend for backend in self._registry if backend.chosen()]
        if len(chosen) == 1:
            return chosen[0].id
        if chosen:
            raise ChoiceError(
                f"several providers could be meant: {_names(chosen)}",
                tuple(backend.id for backend in chosen),
                hint=f"Choose one: --model {chosen[0].id}, or for good: hame config set model "
                f"{chosen[0].id}/MODEL",
            )
        server = await self._find_server()
        if server is not None:
            return server
        built_in = next((b for b in self._registry if b.id == BUILT_IN), None)
        if built_in is not None and built_in.ready():
            return built_in.id
        raise ConfigError(
            "no model to ask: no key is set, no local server runs, the built-in model is not set up",
            hint="With a key: hame auth add PROVIDER (hame models lists them), or set ANTHROPIC_API_KEY "
            "or the like. Without one: hame local setup, or start Ollama.",
        )


async def _only_model(backend: Backend) -> str | None:
    """The model of a server that serves one; None when it serves several, or does not list them.

    Raises:
        ConfigError: if the server cannot be asked.
    """
    if not isinstance(backend, ListsModels):
        return None
    try:
        listed = await backend.list_models()
    except ModelError as error:
        raise ConfigError(error.message, hint=error.hint) from error
    speaking = talking_models(listed)
    return speaking[0] if len(speaking) == 1 else None


def _names(backends: Sequence[Backend]) -> str:
    return ", ".join(backend.id for backend in backends)
