"""Where a turn stands: which lines make sense as the next step, and what a line comes to."""

from collections.abc import Sequence
from secrets import token_hex

import anyio.to_thread
import msgspec

from hame.base.message import StopReason, ToolCall
from hame.base.model import Usage
from hame.base.ports import Index, ModelRequest
from hame.base.stream import (
    Completed,
    StreamEvent,
    TextDelta,
    ToolCallCompleted,
    ToolCallStarted,
    UsageReported,
)
from hame.base.tool import ToolSpec
from hame.local.mask import arguments_of, possible_moves
from hame.local.move import SHOW, Line, Move
from hame.local.snapshot import Snapshot
from hame.local.turn import Turn, present_turn

_MOST_SHOWN = 4_000
"""Characters of a result that `show` repeats."""


class Situation(msgspec.Struct, frozen=True):
    """One step of a turn, before it is taken."""

    turn: Turn
    tools: Sequence[ToolSpec]
    project: Index
    moves: tuple[Move, ...]
    """Empty where nothing is left to do."""

    def spoken(self, line: Line, usage: Usage) -> list[StreamEvent]:
        """The events of the answer that a line is: a call of a tool, or words of the last result."""
        spec = next((tool for tool in self.tools if tool.name == line.move.tool), None)
        if spec is None:
            shown = _readable(self.turn) if line.move.verb == SHOW else line.value
            return said(shown, usage)
        arguments = arguments_of(spec, line.spoken, self.project)
        call = ToolCall(f"call_{token_hex(6)}", spec.name, arguments)
        return [
            ToolCallStarted(0, call.id, call.name),
            ToolCallCompleted(0, call),
            UsageReported(usage),
            Completed(StopReason.TOOL_USE),
        ]


def see(request: ModelRequest, index: Index) -> Situation:
    """Where the turn stands. Looking through the texts of a large project takes a while."""
    turn, project = present_turn(request.messages), Snapshot(index)
    return Situation(turn, request.tools, project, possible_moves(turn, request.tools, project))


async def look(request: ModelRequest, index: Index) -> Situation:
    """As `see`, beside the event loop."""
    return await anyio.to_thread.run_sync(see, request, index)


def said(text: str, usage: Usage) -> list[StreamEvent]:
    """The events of an answer in words."""
    return [TextDelta(text), UsageReported(usage), Completed(StopReason.END_TURN)]


def _readable(turn: Turn) -> str:
    text = turn.last.result if turn.last else ""
    if len(text) <= _MOST_SHOWN:
        return text or "(empty)"
    left_out = len(text) - _MOST_SHOWN
    return f"{text[:_MOST_SHOWN]}\n[{left_out:,} more characters in the result above]"
