"""Running a program to its end, or to a time limit, with what it prints in bounded memory."""

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from hame.base.confinement import SandboxDenied
from hame.base.outcome import CommandView, Done, Failed, text_content
from hame.base.ports import Process, ToolContext
from hame.base.process import Exit, Launch
from hame.tools.ending import how_it_ended

if TYPE_CHECKING:
    from hame.tools.recorder import Recorder


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A program that has run."""

    exit: Exit | None
    """None when the time limit ended it."""
    limit: float
    """Seconds."""
    output: str
    seconds: float
    left_behind: bool
    """Something of it still ran when it had ended; it was killed."""
    whole: str | None = None
    """Id of the result that holds its whole output, when `output` is a part of it."""
    denied: tuple[SandboxDenied, ...] = ()
    """What its sandbox probably kept it from, where it did not end well."""
    aftermath: tuple[str, ...] = ()
    """What its sandbox put right after it."""

    @property
    def status(self) -> str:
        """How it ended."""
        return how_it_ended(self.exit, self.limit)

    def outcome(self, command: str, notes: list[str]) -> Done | Failed:
        """What the model and the user are told; a program that did not end well has failed."""
        if self.left_behind:
            notes = ["processes left in the background were killed when the command ended", *notes]
        if self.whole is not None:
            notes = [f"whole output: result:{self.whole}", *notes]
        notes = [*notes, *self.aftermath]
        body = self.output.strip("\n") or "(no output)"
        text = f"{self.status}\n{body}" + "".join(f"\n[{note}]" for note in notes)
        by_itself = self.exit is not None and self.exit.code is not None
        view = CommandView(
            command,
            self.output,
            self.exit.code if self.exit else None,
            "" if by_itself else self.status,
            round(self.seconds, 3),
            self.aftermath,
        )
        if self.exit and self.exit.ok:
            return Done(text_content(text), view)
        return Failed(text, view, denied=self.denied)


async def run_to_end(
    launch: Launch, context: ToolContext, limit: float, typed: bytes | None = None
) -> Finished:
    """Run a program; all of it is gone when this returns.

    `typed` goes to its terminal, where it has one, and then the end of input.

    Raises:
        ToolError: if it cannot be started.
    """
    import anyio

    from hame.tools.recorder import Recorder

    recorder = Recorder(context.progress, context.blobs)
    ended: Exit | None = None
    began = anyio.current_time()
    async with context.processes.start(launch) as process:
        with anyio.move_on_after(limit):
            async with anyio.create_task_group() as group:
                if launch.pty:
                    group.start_soon(_type, process, typed or b"")
                await _record(process, recorder)
                ended = await process.wait()
                group.cancel_scope.cancel()
        left_behind = ended is not None and process.survivors()
        if ended is None:
            await process.kill()
        refused = tuple(process.refused)
    output = recorder.close()
    denied: tuple[SandboxDenied, ...] = ()
    if launch.confinement is not None and not (ended and ended.ok):
        denied = context.sandbox.explain(launch.confinement, output, refused, launch.cwd)
    return Finished(
        exit=ended,
        limit=limit,
        output=output,
        seconds=anyio.current_time() - began,
        left_behind=left_behind,
        whole=recorder.whole,
        denied=denied,
        aftermath=tuple(process.aftermath),
    )


async def _record(process: Process, recorder: "Recorder") -> None:
    from anyio.lowlevel import checkpoint

    async for chunk in process.output():
        recorder.take(chunk)
        # A flood is always ready: without this the time limit would never be looked at.
        await checkpoint()


async def _type(process: Process, typed: bytes) -> None:
    from contextlib import suppress

    from hame.base.errors import ToolError

    with suppress(ToolError):  # It may end without reading all of it.
        await process.write(typed)
        await process.end_input()


@cache
def shell(project: str) -> str:
    """The shell that commands are written for: never one that lies in the project."""
    import os

    from hame.base.zone import is_below, split

    for folder in filter(lambda folder: folder.startswith("/"), os.get_exec_path()):
        place = f"{folder}/bash"
        real = os.path.realpath(place)
        if os.access(place, os.X_OK) and not any(
            is_below(split(path), project) for path in (place, real)
        ):
            return place
    return "/bin/sh"
