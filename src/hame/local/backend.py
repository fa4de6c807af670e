"""The built-in model as a backend."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from hame.base.errors import ConfigError, LocalModelError
from hame.base.model import Constraint, ModelFacts
from hame.base.ports import Index, Model
from hame.local.engine import NAME, Engine
from hame.local.file_model import CONSTRAINTS, SUFFIX
from hame.local.machine import engine_installed, missing_flags, require_engine
from hame.local.model import LocalModel, local_facts
from hame.local.weights import MODEL, find_weights


class Files(Protocol):
    """Model files of the user's."""

    def open(self, model: str) -> Model:
        """The model in a file.

        Raises:
            ConfigError: if it cannot run here.
        """
        ...

    async def learn(self, model: str) -> ModelFacts:
        """What is known of it, with how it calls tools.

        Raises:
            ConfigError: if it cannot run here.
        """
        ...


class LocalBackend:
    """Implements Backend, LearnsModels, NativeTools and ConstrainsOutput."""

    def __init__(self, folder: Path, engine: Engine, index: Index, files: Files) -> None:
        """Take hame's own folder, the engine, the view of the project, and the model files."""
        self._folder = folder
        self._files = files
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
        self._require(model)
        if _is_file(model):
            return self._files.open(model)
        if find_weights(self._folder) is None:
            raise ConfigError("the built-in model is not set up", hint="hame local setup")
        return LocalModel(local_facts(), self._engine, self._index)

    async def learn(self, model: str) -> ModelFacts:
        """What is known of a model; a file is tried once.

        Raises:
            ConfigError: for another name, or when it cannot run here.
        """
        self._require(model)
        return await self._files.learn(model) if _is_file(model) else local_facts()

    def takes_tools(self, model: str) -> bool:
        """They do, in their own ways."""
        del model
        return True

    def constraints(self, model: str) -> Sequence[Constraint]:
        """What the engine holds the answers of a model file to; the built-in model asks it by itself."""
        return CONSTRAINTS if _is_file(model) else ()

    def _require(self, model: str) -> None:
        """See that there is such a model, and an engine for it.

        Raises:
            ConfigError: if not.
        """
        if model != MODEL and not _is_file(model):
            raise ConfigError(
                f"there is no built-in model {model!r}",
                hint=f"Use local/{MODEL}, or a model file: local/PATH{SUFFIX}.",
            )
        try:
            require_engine()
        except LocalModelError as error:
            raise ConfigError(error.message, hint=error.hint) from error


def _is_file(model: str) -> bool:
    return model.lower().endswith(SUFFIX)
