"""The built-in model as a backend."""

from collections.abc import Callable
from pathlib import Path

from hame.base.errors import ConfigError, LocalModelError
from hame.base.ports import Index, Model
from hame.local.engine import NAME, Engine
from hame.local.file_model import SUFFIX
from hame.local.machine import engine_installed, missing_flags, require_engine
from hame.local.model import LocalModel, local_facts
from hame.local.weights import MODEL, find_weights


class LocalBackend:
    """Implements the Backend port."""

    def __init__(
        self, folder: Path, engine: Engine, index: Index, open_file: Callable[[str], Model]
    ) -> None:
        """Take hame's own folder, the engine, the view of the project, and what opens a model file."""
        self._folder = folder
        self._open_file = open_file
        self._engine = engine
        self._index = index

    @property
    def id(self) -> str:
        """First part of `local/smollm2-135m`."""
        return "local"

    @property
    def display_name(self) -> str:
        """Name for eyes."""
        return NAME

    def default_model(self) -> str | None:
        """The only one there is."""
        return MODEL

    def ready(self) -> bool:
        """Whether engine and weights are here and this processor runs them."""
        return engine_installed() and not missing_flags() and find_weights(self._folder) is not None

    def chosen(self) -> bool:
        """It is there for everybody; nobody sets it up in place of something else."""
        return False

    def open(self, model: str) -> Model:
        """The built-in model, or a model file of the user's (`local/PATH.gguf`).

        Raises:
            ConfigError: for another name, or when it cannot run here.
        """
        is_file = model.lower().endswith(SUFFIX)
        if model != MODEL and not is_file:
            raise ConfigError(
                f"there is no built-in model {model!r}",
                hint=f"Use local/{MODEL}, or a model file: local/PATH{SUFFIX}.",
            )
        try:
            require_engine()
        except LocalModelError as error:
            raise ConfigError(error.message, hint=error.hint) from error
        if is_file:
            return self._open_file(model)
        if find_weights(self._folder) is None:
            raise ConfigError("the built-in model is not set up", hint="hame local setup")
        return LocalModel(local_facts(), self._engine, self._index)
