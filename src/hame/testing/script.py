"""What a scripted model says: whole answers, written shortly, and the events they arrive as."""

import re
from collections.abc import Iterator
from itertools import count

from msgspec.structs import replace

from hame.base.message import (
    AnswerBlock,
    Assistant,
    StopReason,
    Text,
    ToolCall,
)
from hame.base.model import Usage
from hame.base.stream import StreamEvent
from hame.base.unfold import unfold

_WORDS = re.compile(r"\s*\S+|\s+")


def answer(
    *content: str | AnswerBlock, stop: StopReason | None = None, usage: Usage | None = None
) -> Assistant:
    """One answer: strings are its text. It stops for its calls, or because the turn is over."""
    blocks = tuple(Text(block) if isinstance(block, str) else block for block in content)
    asks = any(isinstance(block, ToolCall) for block in blocks)
    usual = StopReason.TOOL_USE if asks else StopReason.END_TURN
    return Assistant(content=blocks, stop_reason=stop or usual, usage=usage)


def call(tool: str, /, **arguments: object) -> ToolCall:
    """A call of a tool; its id is given to it when it is played."""
    return ToolCall(id="", name=tool, arguments=arguments)


def numbered(message: Assistant, step: int) -> Assistant:
    """The answer with an id for every call that has none: `call_STEP_N`."""
    number = count()

    def named(block: AnswerBlock) -> AnswerBlock:
        if not isinstance(block, ToolCall):
            return block
        own = f"call_{step}_{next(number)}"
        return replace(block, id=block.id or own)

    return replace(message, content=tuple(map(named, message.content)))


def events(message: Assistant) -> Iterator[StreamEvent]:
    """The events of an answer, word by word; a fold of them is the answer again."""
    return unfold(message, words)


def words(text: str) -> list[str]:
    """The text cut before the space before each word, nothing left out."""
    return _WORDS.findall(text)
