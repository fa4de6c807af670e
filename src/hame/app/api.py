"""The public Python API: open a session, prompt it, read its events.

Example:
    ```python
    async with hame.open(".", mode="auto") as session:
        async for event in session.prompt("Add a test for parse_date"):
            print(event)
        print(session.result)
    ```
"""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Self

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream

from hame.app.build import Launchpad, build_runtime
from hame.app.runtime import Runtime
from hame.base.errors import ConfigError
from hame.base.event import QuestionAsked, RunEvent
from hame.base.question import Answer, Question
from hame.base.run import RunResult
from hame.base.settings import Mode
from hame.config import load_settings
from hame.config.environment import read_environment
from hame.config.keys import find_key, keys, nearest
from hame.config.places import find_places


class Session:
    """A conversation with a model about one project."""

    def __init__(self, runtime: Runtime, tasks: TaskGroup) -> None:
        """Made by `open`."""
        self._runtime = runtime
        self._tasks = tasks
        self.result: RunResult | None = None
        """How the last run ended."""
        self._followed: list[Events] = []

    @property
    def id(self) -> str:
        """The session's id, for `open(resume=...)`."""
        return self._runtime.session

    def prompt(self, text: str) -> "Events":
        """Start a run; iterate over what is returned to follow it."""
        events = Events(self, self._runtime, self._tasks, text)
        self._followed.append(events)
        return events

    def steer(self, text: str) -> None:
        """Say something while a run is going."""
        self._runtime.steer(text)

    def cancel(self) -> None:
        """Stop the run that is going."""
        self._runtime.cancel()

    def answer(self, question_id: str, answer: Answer) -> bool:
        """Answer a QuestionAsked event; False when it waits no more."""
        return self._runtime.answer(question_id, answer)

    async def set_mode(self, mode: Mode | str) -> None:
        """Change what runs without a question: ask, auto or plan."""
        await self._runtime.set_mode(Mode(mode))

    async def set_model(self, name: str) -> None:
        """Ask another model from now on; the history stays.

        Raises:
            ConfigError: if there is no such model or it cannot be asked.
        """
        await self._runtime.set_model(name)

    def close(self) -> None:
        """Stop what is going; `open` does it at its end."""
        self._runtime.cancel("stopped because the session was closed")
        for events in self._followed:
            events.close()


class Events:
    """The events of one run, as they happen; the run starts with the first `async for` step."""

    def __init__(self, session: Session, runtime: Runtime, tasks: TaskGroup, text: str) -> None:
        """Made by `Session.prompt`."""
        self._session = session
        self._runtime = runtime
        self._tasks = tasks
        self._text = text
        self._stream: MemoryObjectReceiveStream[RunEvent] | None = None
        self._error: Exception | None = None

    def __aiter__(self) -> Self:
        """Follow the run."""
        return self

    def close(self) -> None:
        """Follow it no more; the run goes on."""
        if self._stream is not None:
            self._stream.close()

    async def __anext__(self) -> RunEvent:
        """The next event.

        Raises:
            StopAsyncIteration: after the last one.
            HameError: if the run could not be started.
        """
        if self._stream is None:
            # Unbounded: a reader that stops reading must not stop the run.
            send, self._stream = anyio.create_memory_object_stream[RunEvent](math.inf)

            async def run() -> None:
                try:
                    self._session.result = (await self._runtime.prompt(self._text)).result
                except Exception as error:  # noqa: BLE001 - raised where the events are read
                    self._error = error
                finally:
                    unsubscribe()
                    send.close()

            def keep(item: RunEvent) -> None:
                # Nobody reads any more: the run goes on unseen.
                with suppress(anyio.BrokenResourceError):
                    send.send_nowait(item)

            unsubscribe = self._runtime.subscribe(keep)
            self._tasks.start_soon(run)
        try:
            return await self._stream.receive()
        except anyio.EndOfStream:
            self.close()
            if self._error is not None:
                raise self._error from None
            raise StopAsyncIteration from None


@asynccontextmanager
async def open_session(
    project: str | Path = ".",
    *,
    resume: str | None = None,
    ask: Callable[[Question], Awaitable[Answer]] | None = None,
    trust: bool = False,
    **settings: object,
) -> AsyncGenerator[Session]:
    """A session in a project folder; settings are those of `hame config`, by keyword.

    Args:
        project: the folder to work in.
        resume: id of a session to go on with.
        trust: trust the folder for this session, as `hame --trust` does.
        ask: answers the questions of mode `ask`; without it they are refused.
        settings: any key of `hame.base.settings.Settings`, for instance `model` or `mode`.

    Raises:
        ConfigError: for settings that cannot be used.
        SessionError: if the session cannot be opened.
    """
    pad = _launchpad(project, settings, resume, interactive=ask is not None, trust=trust)
    runtime = await build_runtime(pad)
    try:
        async with anyio.create_task_group() as tasks:
            if ask is not None:
                runtime.subscribe(_answering(runtime, tasks, ask))
            session = Session(runtime, tasks)
            try:
                yield session
            finally:
                session.close()
    except BaseExceptionGroup as group:
        # The tasks beside the caller's own raise nothing: what is in the group is the caller's.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await runtime.close()


def _launchpad(
    project: str | Path,
    settings: dict[str, object],
    resume: str | None,
    *,
    interactive: bool,
    trust: bool,
) -> Launchpad:
    unknown = next((name for name in settings if find_key(name) is None), None)
    if unknown is not None:
        raise ConfigError(
            f"{unknown} is not a setting{nearest(unknown, keys())}",
            hint="`hame config` lists them.",
        )
    environment = read_environment()
    places = find_places(environment)
    root = str(Path(project).resolve())
    return Launchpad(
        settings=load_settings(environment, places, root, settings, trusted=trust).settings,
        environment=environment,
        places=places,
        project=root,
        interactive=interactive,
        resume=resume,
        trusted=trust,
    )


def _answering(
    runtime: Runtime, tasks: TaskGroup, ask: Callable[[Question], Awaitable[Answer]]
) -> Callable[[RunEvent], None]:
    async def put(question: Question) -> None:
        runtime.answer(question.id, await ask(question))

    def sink(item: RunEvent) -> None:
        if isinstance(item, QuestionAsked):
            tasks.start_soon(put, item.question)

    return sink
