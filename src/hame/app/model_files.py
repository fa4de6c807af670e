"""Model files of the user's (`local/PATH.gguf`): each with an engine of its own, tried like a server's model."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from hame.app.trying import Trials
from hame.base.errors import LocalModelError
from hame.base.model import Endpoint, ModelFacts
from hame.base.ports import Model
from hame.local.engine import LocalEngine
from hame.local.file_model import (
    CONSTRAINTS,
    FileModel,
    check_file,
    file_digest,
    file_facts,
    file_of,
)

Tell = Callable[[str], None]


class ModelFiles:
    """The files that are meant in this run. Must be closed."""

    def __init__(
        self,
        home: Path,
        new_engine: Callable[[Path, int], LocalEngine],
        *,
        trials: Trials,
        as_set: Callable[[ModelFacts], ModelFacts],
        ask: Callable[[ModelFacts, Endpoint], Model],
        tell: Callable[[], Tell | None],
    ) -> None:
        """Start nothing yet.

        Args:
            home: the user's own folder.
            new_engine: makes the engine for a file with a window of so many tokens.
            trials: how models call tools.
            as_set: the facts as the user's settings have them.
            ask: makes a model that is asked over HTTP.
            tell: what says something to the user, where somebody listens.
        """
        self._home = home
        self._new_engine = new_engine
        self._trials = trials
        self._as_set = as_set
        self._ask = ask
        self._tell = tell
        self._known: dict[str, tuple[ModelFacts, LocalEngine]] = {}

    def open(self, model: str) -> Model:
        """A model file; its engine starts with the first question.

        Raises:
            ConfigError: if it cannot run here.
        """
        facts, engine = self._find(model)
        return FileModel(self._as_set(facts), engine, self._ask)

    async def learn(self, model: str) -> ModelFacts:
        """What is known of a model file, with how it calls tools; its engine starts to be tried.

        Raises:
            ConfigError: if it cannot run here.
        """
        facts, engine = self._find(model)
        if self._as_set(facts) != facts:
            return self._as_set(facts)  # The user says how.
        found, tell = self._trials.known(facts), self._tell()
        if found is None and tell is not None:
            try:
                async with engine.serving() as address:
                    end = Endpoint(base_url=f"{address.url}/v1", api_key=address.key)
                    found = await self._trials.make(facts, end, CONSTRAINTS, tell)
            except LocalModelError:
                return facts  # The first question says so.
        if found is not None:
            self._known[model] = found, engine
        return found or facts

    async def close(self) -> None:
        """End all engines."""
        for _, engine in self._known.values():
            await engine.close()

    def _find(self, model: str) -> tuple[ModelFacts, LocalEngine]:
        """The facts of a file, and its engine.

        Raises:
            ConfigError: if it cannot run here.
        """
        if model not in self._known:
            path = file_of(model, Path.cwd(), self._home)
            header, window = check_file(path)
            facts = replace(file_facts(model, header, window), digest=file_digest(path))
            self._known[model] = facts, self._new_engine(path, window)
        return self._known[model]
