"""What the present turn holds: the user's words, the calls made since, what each came to."""

import re

import msgspec

from hame.base.json import JsonObject, dump
from hame.base.message import Assistant, Message, Text, ToolCall, ToolResult, ToolResults, User

# How hame's own tools write a file's lines, a note below a result, and a program's end.
_NUMBERED = re.compile(r"(\d+)\t(.*)")
_BRACKETED = re.compile(r"\[.*\]")
_ENDED = re.compile(r"exit code (\d+).*\n?")


class Step(msgspec.Struct, frozen=True):
    """One call of this turn and what it came to."""

    tool: str
    arguments: JsonObject
    result: str
    """The result's text without what a tool adds for larger models."""
    failed: bool = False
    ran: bool = False
    """A program ran to its end, well or badly; a refused or failed call did not."""


class Turn(msgspec.Struct, frozen=True):
    """The user's last words and what was done about them since."""

    words: str
    steps: tuple[Step, ...] = ()

    @property
    def last(self) -> Step | None:
        """The step before this one."""
        return self.steps[-1] if self.steps else None

    @property
    def seen(self) -> str:
        """Everything the results of this turn said."""
        return "\n".join(step.result for step in self.steps if not step.failed)

    def did(self, tool: str, arguments: JsonObject) -> bool:
        """Whether exactly this call was made already."""
        wanted = dump(arguments)
        return any(step.tool == tool and dump(step.arguments) == wanted for step in self.steps)


def present_turn(messages: tuple[Message, ...]) -> Turn:
    """The turn that the last message with words of the user's began."""
    start = max(
        (
            place
            for place, message in enumerate(messages)
            if isinstance(message, User) and message.words.strip()
        ),
        default=None,
    )
    if start is None:
        return Turn("")
    first = messages[start]
    words = first.words.strip() if isinstance(first, User) else ""
    calls: dict[str, ToolCall] = {}
    steps: list[Step] = []
    for message in messages[start + 1 :]:
        if isinstance(message, Assistant):
            calls.update((call.id, call) for call in message.calls)
        elif isinstance(message, ToolResults):
            steps += [_step(calls.get(result.call_id), result) for result in message.results]
    return Turn(words, tuple(steps))


def _step(call: ToolCall | None, result: ToolResult) -> Step:
    text = "\n".join(block.text for block in result.content if isinstance(block, Text))
    arguments = call.arguments if call and call.arguments is not None else {}
    ended = _ENDED.match(text)
    return Step(
        result.name,
        arguments,
        plain(text[ended.end() :] if ended and ended.group(1) == "0" else text),
        failed=result.is_error,
        ran=ended is not None,
    )


def plain(text: str) -> str:
    """A result's text without what is added for larger models: line numbers, notes in brackets."""
    lines = text.strip("\n").split("\n")
    while len(lines) > 1 and _BRACKETED.fullmatch(lines[-1]):
        lines.pop()
    numbered = [_NUMBERED.fullmatch(line) for line in lines]
    found = [match for match in numbered if match is not None]
    first = int(found[0].group(1)) if found else 0
    counted = [int(match.group(1)) for match in found] == list(range(first, first + len(lines)))
    return "\n".join(match.group(2) for match in found) if counted else "\n".join(lines)
