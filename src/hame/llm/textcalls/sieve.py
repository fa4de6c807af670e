"""Calls printed as text, taken out of an answer while it still arrives.

Words flow on as they come. What may be the beginning of a call is held back until the answer is over,
so that no call is ever shown as words; then it is read as a whole.
"""

import re
from collections.abc import Iterable, Sequence
from enum import Enum

from hame.base.message import StopReason, ToolCall
from hame.base.stream import (
    Completed,
    Failed,
    StreamEvent,
    TextDelta,
    ToolCallCompleted,
    ToolCallStarted,
)
from hame.base.tool import ToolSpec
from hame.llm.callids import mint_call_id
from hame.llm.textcalls.loose import FENCES, read_tail
from hame.llm.textcalls.marks import OPEN, THOUGHT, THOUGHT_END, UNFINISHED
from hame.llm.textcalls.reading import QUOTED, Reading, read_answer
from hame.llm.textcalls.shapes import Spoken, named

_LONGEST = 64
"""Letters at the end that may become a mark."""
_BEFORE = 300
"""Letters before a block of code that may say what it is."""
_FENCE = re.compile(r"[ \t]*(?:```|~~~)([\w-]*)[ \t]*(\n|$)")
_SHORT_FENCE = re.compile(r"[ \t]*```[\w-]*[ \t]+[\[{]")
_FENCE_END = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*$", re.MULTILINE)
_LED = r"(?::|\b(?:call|calling|invoke|invoking|use|using))[ \t]*(?P<value>[\[{][\[{\s]*"
"""What leads to a value within a line, and its beginning."""
_VALUE = re.compile(rf"{_LED}[\"'](?P<key>\w+)[\"'])")
_VALUE_BEGUN = re.compile(rf"{_LED}(?:[\"']\w{{0,40}})?)\Z")
_KEY = re.compile(r"[\"'](?P<name>\w*)(?P<end>[\"']?)")
_KEYS = (
    "name",
    "tool",
    "tool_name",
    "function",
    "action",
    "type",
    "id",
    "tool_calls",
    "tool_call_id",
)
_PYTHON_STARTS = ("print(", "default_api.", "functions.", "tools.")
_ENDS_AS_CALL = frozenset({StopReason.END_TURN, StopReason.STOP_SEQUENCE, StopReason.UNKNOWN})


class _State(Enum):
    FLOWING = "flowing"
    CODE = "code"
    """Inside a block of code that is no call."""
    FENCE = "fence"
    """Inside a block that may be one."""
    HELD = "held"
    """Until the answer is over."""


class Sieve:
    """One answer's events; text that is a call comes out as a call."""

    def __init__(self, specs: Sequence[ToolSpec], answer: str, *, opaque: bool = False) -> None:
        """For an answer to a request with these tools.

        `answer` seeds the ids of its calls. With `opaque` the whole answer is held back: it is one
        JSON value.
        """
        self._specs = specs
        self._answer = answer
        names = [spec.name for spec in specs]
        self._starts = (
            *(f"{name}(" for name in names), *(f"<{name}>" for name in names), *_PYTHON_STARTS, ">>>",
        )  # fmt: skip
        self._keys = (*_KEYS, *names)
        self._state = _State.HELD if opaque else _State.FLOWING
        self._opaque = opaque
        self._text = ""
        self._released = 0
        self._line = 0
        """Where the line begins that is looked at next."""
        self._looked = 0
        """Up to where it was looked for marks."""
        self._native = 0

    def feed(self, event: StreamEvent) -> list[StreamEvent]:
        """What an event comes to."""
        match event:
            case TextDelta(text=text, signature=None):
                self._text += text
                return self._flow()
            case ToolCallStarted():
                before = self._words(self._read()) if not self._native else []
                self._native += 1
                return [*before, event]
            case Completed():
                return self._settle(event)
            case Failed():
                return [event]
            case _:
                return [event]

    # ------------------------------------------------------------ while it arrives

    def _flow(self) -> list[StreamEvent]:
        """The words that are surely words."""
        if self._is_thinking():
            return []
        while self._state is not _State.HELD:
            before = (self._state, self._line)
            self._advance()
            if before == (self._state, self._line):
                break
        end = self._line
        if self._state is _State.FLOWING:
            end = self._safe_end()
        elif self._state is _State.CODE:
            end = len(self._text)
        return self._release(end)

    def _is_thinking(self) -> bool:
        """Whether the text is thinking still; what of it is over is dropped."""
        if self._released or THOUGHT.match(self._text.lstrip()) is None:
            return False
        end = THOUGHT_END.search(self._text)
        if end is not None:
            self._text = self._text[end.end() :]
            self._looked = 0
        return end is None

    def _advance(self) -> None:
        """Judge the next line, or the block that it is in."""
        text = self._text
        if self._state in {_State.CODE, _State.FENCE}:
            end = _FENCE_END.search(text, self._line)
            if end is None:
                return
            if self._state is _State.CODE:
                self._state, self._line = _State.FLOWING, end.end()
            elif text[end.end() :].strip():
                near = text[max(0, self._line - _BEFORE) : end.end()]
                called = read_tail(near, named(self._specs)) is not None
                if called:
                    self._state = _State.HELD
                else:
                    self._state, self._line = _State.FLOWING, end.end()
            return
        stop = text.find("\n", self._line)
        line = text[self._line : stop if stop >= 0 else len(text)]
        fence = _FENCE.match(text, self._line)
        if fence is not None and (stop >= 0 or fence[2]):
            self._enter(fence)
        elif self._may_begin(line) or _SHORT_FENCE.match(line):
            self._state = _State.HELD
        elif (begun := self._begun_within(line)) is not None:
            self._line += begun
            self._state = _State.HELD
        elif stop >= 0:
            self._line = stop + 1

    def _enter(self, fence: re.Match[str]) -> None:
        body = self._text[fence.end() :].lstrip()
        line = body.partition("\n")[0]
        if "\n" not in body and line and self._may_become(line):
            return  # More of it tells.
        marked = OPEN.match(line) is not None or (line and UNFINISHED.match(line) is not None)
        if fence[1].lower() not in FENCES or (body and not marked and not self._may_begin(line)):
            self._state, self._line = _State.CODE, fence.end()
        elif body:
            self._state = _State.FENCE

    def _may_begin(self, line: str) -> bool:
        """Whether a line may be the beginning of a call without marks."""
        begun = line.lstrip()
        if not begun:
            return False
        if begun[0] in "{[":
            return self._may_begin_value(begun.lstrip("{[ \t"), begun)
        if "Action:".startswith(begun[:7]) and begun[0] == "A":
            return len(begun) >= 7
        return any(begun.startswith(start) for start in self._starts)

    def _may_begin_value(self, inner: str, begun: str) -> bool:
        if not inner:
            return True
        if key := _KEY.match(inner):
            name, closed = key["name"], key.end() < len(inner) or key["end"]
            return name in self._keys if closed else any(k.startswith(name) for k in self._keys)
        return begun[0] == "[" and any(
            start.startswith(inner) or inner.startswith(start) for start in self._starts
        )

    def _begun_within(self, line: str) -> int | None:
        """Where in a line a mark stands, or a value that names a tool, and is not quoted."""
        # What was looked at as the line arrived is not looked at again, unless something is there.
        start = max(self._line, self._looked - _LONGEST)
        self._looked = self._line + len(line)
        new = self._text[start : self._looked]
        if OPEN.search(new) is None and _VALUE.search(new) is None:
            return None
        plain = _unquoted(line)
        marks = [mark.start() for mark in OPEN.finditer(plain)]
        values = [v.start("value") for v in _VALUE.finditer(plain) if v["key"] in self._keys]
        return min((*marks, *values), default=None)

    def _safe_end(self) -> int:
        """Where the words end that cannot become anything else."""
        text, line = self._text, self._text[self._line :]
        if not line.strip() or self._may_become(line.lstrip()) or _FENCE.match(line):
            return self._line
        tail = max(len(text) - _LONGEST, self._line)
        mark, value = UNFINISHED.search(text, tail), _VALUE_BEGUN.search(text, tail)
        end = min(mark.start() if mark else len(text), value.start("value") if value else len(text))
        return max(end, self._line)

    def _may_become(self, begun: str) -> bool:
        """Whether a line that is still arriving may become the beginning of a call."""
        if begun[:3] in {"`", "``", "```", "~", "~~", "~~~"} and len(begun) <= 20:
            return True
        return any(start.startswith(begun) for start in (*self._starts, "Action:"))

    def _release(self, end: int) -> list[StreamEvent]:
        """The words up to there; space at their end waits for what follows."""
        words = self._text[self._released : end].rstrip()
        if not words:
            return []
        self._released += len(words)
        return [TextDelta(words)]

    # ------------------------------------------------------------ when it is over

    def _read(self) -> Reading:
        return read_answer(self._text, self._specs)

    def _words(self, reading: Reading) -> list[StreamEvent]:
        """The words that were not released yet."""
        shown = self._text[: self._released]
        words = reading.words[_overlap(shown, reading.words) :]
        self._released = len(self._text)
        return [TextDelta(words)] if words.strip() or (words and not reading.calls) else []

    def _settle(self, completed: Completed) -> list[StreamEvent]:
        reading = self._read()
        if self._native:
            return [*self._words(reading), completed]
        if self._opaque and (said := _said(self._text)) is not None:
            return [*([TextDelta(said)] if said else []), completed]
        if reading.unmarked and completed.stop_reason is StopReason.MAX_TOKENS:
            return [completed]  # Words that say what it is may have been to come.
        events = self._words(reading)
        for number, call in enumerate(reading.calls):
            events += self._called(number, call)
        if reading.calls:
            return [*events, Completed(StopReason.TOOL_USE, completed.raw_stop_reason)]
        if reading.broken and completed.stop_reason in _ENDS_AS_CALL:
            return [*events, Completed(StopReason.MALFORMED_TOOL_CALL, completed.raw_stop_reason)]
        return [*events, completed]

    def _called(self, number: int, call: Spoken) -> Iterable[StreamEvent]:
        call_id = mint_call_id(f"{self._answer}{self._text}", number, call.name)
        malformed = call.raw if call.arguments is None else None
        made = ToolCall(id=call_id, name=call.name, arguments=call.arguments, malformed=malformed)
        yield ToolCallStarted(number, call_id, call.name)
        yield ToolCallCompleted(number, made)


def _said(text: str) -> str | None:
    """The words in an answer that was held to the schema of `protocol`."""
    from hame.base.json import get_string
    from hame.llm.textcalls.values import read_object

    answer = read_object(text.strip())
    return get_string(answer, "say") if answer is not None else None


def _unquoted(line: str) -> str:
    return QUOTED.sub(lambda quoted: " " * len(quoted[0]), line)


def _overlap(shown: str, words: str) -> int:
    """How many of the words were shown: all that was, or its end, where the rest was a thought."""
    if words.startswith(shown) or shown.startswith(words):
        return min(len(shown), len(words))
    return next((size for size in range(len(words), 0, -1) if shown.endswith(words[:size])), 0)
