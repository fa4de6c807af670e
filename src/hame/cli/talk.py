"""The part of a conversation that runs on the event loop: the session, its runs, the keys meanwhile."""

import asyncio
import math
import sys
from collections.abc import Awaitable
from typing import TYPE_CHECKING

import msgspec
from anyio import create_memory_object_stream
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream

from hame.base.errors import ConfigError, HameError
from hame.base.event import Notice, QuestionAsked, RunEvent
from hame.cli.drawing import Drawing
from hame.cli.launch import Launch
from hame.cli.plain import PlainView
from hame.cli.questions import decline, read_answer
from hame.cli.render import TerminalView
from hame.cli.running import follow
from hame.cli.session import Build, Session
from hame.cli.slash import Slash, read_mode, read_slash
from hame.cli.terminal import keys_to, lines_to, terminal_view
from hame.cli.terminal_size import terminal_size
from hame.cli.typed import Closed, LineEditor, Sent

if TYPE_CHECKING:
    from hame.app.undo import Rewind


_LISTED = 40
"""Prompts that /rewind lists."""


def _is_command(text: str) -> bool:
    """Whether a line is a slash command, also one that does not exist: no words for the model."""
    try:
        return read_slash(text) is not None
    except ConfigError:
        return True


class Talk:
    """A session and the terminal it is talked to at; opened when it is first needed."""

    def __init__(self, launch: Launch, build: Build, drawing: Drawing, *, escapes: bool) -> None:
        """With `escapes` False the terminal gets plain lines."""
        self._launch, self._build, self._escapes = launch, build, escapes
        self._runner = asyncio.Runner()
        self._session: Session | None = None
        self._editor = LineEditor()
        self._begun = ""
        """A line that a question interrupted; it comes back after the answer."""
        self.later: list[str] = []
        """Lines that were sent during a run and are to be taken after it."""
        self._view: TerminalView | PlainView = (
            terminal_view(launch, lambda: self._editor.text, drawing)
            if escapes
            else PlainView(
                sys.stdout,
                thinking=launch.settings.show_thinking,
                columns=lambda: terminal_size()[0] - 1,
            )
        )

    @property
    def session(self) -> Session:
        """The session, opened now if it was not.

        Raises:
            ConfigError: if it cannot be.
        """
        if self._session is None:
            self._session = self._runner.run(self._open())
        return self._session

    def run(self, text: str) -> None:
        """Run a prompt to its end.

        Raises:
            ConfigError: if no model can be asked.
            KilledError: if the process is to end.
        """
        session = self.session
        self._runner.run(self._run(session, text))

    def do(self, slash: Slash) -> str:
        """Do what a slash command asks of the session; what came of it.

        Raises:
            HameError: if it cannot be done.
        """
        return self._runner.run(self._do(self.session, slash))

    def list_steps(self) -> list[str]:
        """The prompts and what each changed."""
        from hame.cli.rewinding import history_lines

        history = self._runner.run(self.session.rewinder().history())
        return history_lines(history, self._launch.project, _LISTED)

    def plan_back(self, slash: Slash) -> "tuple[list[str], Rewind | None]":
        """What `/undo` or `/rewind` would do, in words; no plan when it would do nothing.

        Raises:
            HameError: if there is nothing to take back.
        """
        from hame.cli.rewinding import changes_anything, plan_lines, read_wish

        wish = read_wish(slash.name, slash.argument)
        plan = self._runner.run(self.session.rewinder().plan(**msgspec.structs.asdict(wish)))
        lines = plan_lines(plan, self._launch.project)
        return lines, plan if changes_anything(plan) else None

    def take_back(self, plan: "Rewind") -> list[str]:
        """Do what was planned; what came of it.

        Raises:
            HameError: if files were changed since.
        """
        from hame.cli.rewinding import done_lines

        return done_lines(self._runner.run(self.session.rewind(plan)), plan)

    def take_begun(self) -> str:
        """What was typed during the run and not sent."""
        return self._editor.take()

    def close(self) -> None:
        """Let go of the session."""
        if self._session is not None:
            self._runner.run(self._session.close())
        self._runner.close()

    # ------------------------------------------------------------ on the event loop

    async def _open(self) -> Session:
        return await self._build(self._launch)

    async def _run(self, session: Session, text: str) -> None:
        unsubscribe = session.subscribe(self._put_line_aside)
        keys = keys_to if self._escapes else lines_to
        # Unbounded: a person types into it.
        send, receive = create_memory_object_stream[bytes](math.inf)

        def started(tasks: TaskGroup) -> None:
            tasks.start_soon(self._read_keys, session, receive)

        try:
            with send, receive, keys(send.send_nowait, self._view.resumed) as leave:
                await follow(session, text, self._view, started=started, leave=leave)
        finally:
            unsubscribe()

    async def _read_keys(self, session: Session, keys: MemoryObjectReceiveStream[bytes]) -> None:
        async for data in keys:
            await self._typed(session, data)

    async def _do(self, session: Session, slash: Slash) -> str:
        match slash.name:
            case "model":
                told = await self._told(session, session.set_model(slash.argument))
                return "\n".join([f"model: {session.model}", *told])
            case "mode":
                await session.set_mode(read_mode(slash.argument))
                return f"mode: {session.mode}"
            case "clear":
                await session.clear()
                return f"new session {session.session}"
            case "resume":
                await session.resume(slash.argument)
                return f"session {session.session}"
            case "context" | "compact" | "constraints" | "cache" | "rename" | "label":
                from hame.cli.remembering import remember

                return "\n".join(await remember(session.memory(), slash))
            case _:
                raise ConfigError(f"/{slash.name} is not for the session")

    async def _told(self, session: Session, doing: Awaitable[None]) -> list[str]:
        """Do it; what the session has said meanwhile, when no run shows it."""
        told: list[str] = []

        def hear(event: RunEvent) -> None:
            if isinstance(event, Notice):
                told.append(event.text)

        unsubscribe = session.subscribe(hear)
        try:
            await doing
        finally:
            unsubscribe()
        return told

    # ------------------------------------------------------------ keys during a run

    async def _typed(self, session: Session, data: bytes) -> None:
        for event in self._editor.feed(data):
            match event:
                case Sent(text=text):
                    await self._sent(session, text)
                case Closed():
                    self._closed(session)
        self._view.tick()

    async def _sent(self, session: Session, text: str) -> None:
        question = self._view.question
        if question is not None and _is_command(text):
            await self._try_to_steer(session, text)
            self._view.ask_again()
        elif question is not None:
            if text.strip().lower() == "v":
                self._view.ask_again(whole=True)
            elif (answer := read_answer(question, text)) is None:
                self._view.ask_again()
            elif session.answer(question.id, answer):
                self._editor.text, self._begun = self._begun, ""
        elif text.strip():
            await self._try_to_steer(session, text)

    async def _try_to_steer(self, session: Session, text: str) -> None:
        try:
            await self._steer(session, text)
        except HameError as error:
            self._view.tell(f"{error.message}. {error.hint}")

    async def _steer(self, session: Session, text: str) -> None:
        slash = read_slash(text)
        if slash is not None and slash.name == "mode" and slash.argument:
            await session.set_mode(read_mode(slash.argument))
        elif slash is not None:
            self._view.tell(f"after this run: {text.strip()}")
            self.later.append(text)
        else:
            session.steer(text)
            self._view.queue(text)

    def _closed(self, session: Session) -> None:
        question = self._view.question
        if question is not None:
            session.answer(question.id, decline(question))

    def _put_line_aside(self, event: RunEvent) -> None:
        """What was being typed when a question came up is not an answer to it."""
        if isinstance(event, QuestionAsked) and not self._begun:
            self._begun = self._editor.take()
