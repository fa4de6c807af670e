"""A model file of the user's own: `local/PATH.gguf`, in a child process like the built-in model's.

The engine speaks chat completions with the file's own template and holds answers to a schema, so the
model is asked like any server's; only that hame starts and ends the server.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path

from hame.base.errors import ConfigError, ErrorKind, Failure, LocalModelError
from hame.base.model import (
    Constraint,
    Endpoint,
    ModelFacts,
    Price,
    Profile,
    Quirk,
    Timeouts,
    ToolSupport,
)
from hame.base.ports import Model, ModelRequest
from hame.base.stream import Failed, StreamEvent
from hame.local.engine import LocalEngine
from hame.local.gguf import MIB, GgufHeader, free_memory, read_header

SUFFIX = ".gguf"
CONSTRAINTS: tuple[Constraint, ...] = (Constraint.GBNF, Constraint.SCHEMA)
"""What the engine holds an answer to, the best first."""
_FREE = Price(input=0.0, output=0.0, cache_read=0.0, cache_write=0.0, cache_write_long=0.0)

Connect = Callable[[ModelFacts, Endpoint], Model]
"""Makes a model that is asked over HTTP."""


def file_of(model: str, folder: Path, home: Path) -> Path:
    """The file that is meant by what stands after `local/`: absolute, below home, or from `folder`."""
    if model.startswith("~/"):
        return home / model[2:]
    return folder / model


def check_file(path: Path, free: int | None = None) -> tuple[GgufHeader, int]:
    """The header of a model file that can run here, and the window to load it with.

    Raises:
        ConfigError: if it is none, only embeds, or needs more memory than there is.
    """
    try:
        header = read_header(path)
    except LocalModelError as error:
        raise ConfigError(error.message, hint=error.hint) from error
    if header.embeds:
        raise ConfigError(
            f"{path.name} makes embeddings ({header.architecture}); it cannot hold a conversation",
            hint="Name the file of a chat model.",
        )
    free = free_memory() if free is None else free
    window = header.window_for(free)
    needed = header.needed_bytes(window)
    if free is not None and needed > free:
        raise ConfigError(
            f"{path.name} needs about {needed // MIB:,} MiB of memory, and {free // MIB:,} MiB are free",
            hint="Close other programs, or choose a smaller or more quantised file.",
        )
    return header, window


def file_digest(path: Path) -> str:
    """What tells a model file from others, wherever it lies: its size, and a hash of how it begins.

    That holds its header and some of its weights; reading gigabytes would take longer than trying it.
    """
    with path.open("rb") as file:
        begun = file.read(MIB)
    return f"{path.stat().st_size}-{blake2b(begun, digest_size=16).hexdigest()}"


def file_facts(model: str, header: GgufHeader, window: int) -> ModelFacts:
    """What is known of a model file."""
    return ModelFacts(
        backend="local",
        model=model,
        wire="openai_chat",
        display_name=header.name or Path(model).stem,
        vendor="the local engine",
        context_window=window,
        images=False,
        tools=ToolSupport.SCHEMA,
        profile=Profile.LEAN,
        price=_FREE,
        timeouts=Timeouts(first_byte_s=300.0, idle_s=300.0),
        quirks=frozenset({Quirk.PRINTS_CALLS}),
        local=True,
    )


class FileModel:
    """Implements the Model port: the engine is started with the first question."""

    def __init__(self, facts: ModelFacts, engine: LocalEngine, connect: Connect) -> None:
        """Take what it is made of."""
        self._facts = facts
        self._engine = engine
        self._connect = connect
        self._inner: tuple[str, Model] | None = None

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        return self._facts

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Ask; leaving early closes the connection and frees the engine."""
        try:
            async with self._engine.serving() as address:
                model = self._at(address.url, address.key)
                async with model.stream(request) as events:
                    yield self._watched(events)
        except LocalModelError as error:
            yield _once(Failed(_failure(error)))

    def _at(self, url: str, key: str) -> Model:
        """The model behind the child that runs now; a new child gets a new one."""
        if self._inner is None or self._inner[0] != url:
            endpoint = Endpoint(base_url=f"{url}/v1", api_key=key)
            self._inner = (url, self._connect(self._facts, endpoint))
        return self._inner[1]

    async def _watched(self, events: AsyncIterator[StreamEvent]) -> AsyncIterator[StreamEvent]:
        """The events; a child that has died is forgotten, so that the next question starts another."""
        async for event in events:
            if isinstance(event, Failed) and event.failure.kind is ErrorKind.NETWORK:
                await self._engine.close()
            yield event


async def _once(event: StreamEvent) -> AsyncIterator[StreamEvent]:
    yield event


def _failure(error: LocalModelError) -> Failure:
    return Failure(
        kind=ErrorKind.SERVER_ERROR,
        message=error.message,
        hint=error.hint,
        provider="the local engine",
    )
