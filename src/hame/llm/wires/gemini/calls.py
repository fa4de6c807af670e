"""The calls of one Gemini answer: whole, or in pieces.

A call need not have an id; one is made up then.
"""

from hame.base.json import JsonObject, as_object, dump, get_objects, get_string
from hame.base.message import ToolCall
from hame.base.stream import StreamEvent, ToolCallArgsDelta, ToolCallCompleted, ToolCallStarted
from hame.llm.arguments import parse_arguments
from hame.llm.callids import mint_call_id
from hame.llm.wires.gemini.partial import PartialArguments


class _Growing:
    """A call whose arguments are still arriving."""

    __slots__ = ("arguments", "broken", "id", "name", "number", "signature")

    def __init__(self, number: int, call_id: str, name: str, signature: str | None) -> None:
        self.number = number
        self.id = call_id
        self.name = name
        self.signature = signature
        self.arguments = PartialArguments({})
        self.broken = False


class Calls:
    """Collects calls in the order asked."""

    __slots__ = ("_answer", "_growing", "_taken", "count")

    def __init__(self) -> None:
        """Start without calls."""
        self._answer = ""
        self._growing: _Growing | None = None
        self._taken: set[str] = set()
        self.count = 0

    def name_answer(self, response_id: str | None) -> None:
        """Learn the answer's id."""
        self._answer = self._answer or response_id or ""

    def take(self, call: JsonObject, signature: str | None) -> list[StreamEvent]:
        """Take a call, or one more piece of the call that has begun."""
        name = get_string(call, "name")
        if name:
            events = self.close()
            return [*events, *self._begin(call, name, signature)]
        if self._growing is None:
            return []
        self._growing.signature = self._growing.signature or signature
        return self._grow(self._growing, call)

    def close(self) -> list[StreamEvent]:
        """Nothing more follows: a call that is not whole is kept as malformed."""
        if self._growing is None:
            return []
        self._growing.broken = True
        return self._complete(self._growing)

    def _begin(self, call: JsonObject, name: str, signature: str | None) -> list[StreamEvent]:
        number = self.count
        self.count += 1
        growing = _Growing(number, self._identify(call, name, number), name, signature)
        started = ToolCallStarted(number, growing.id, name)
        if call.get("willContinue") or "partialArgs" in call:
            self._growing = growing
            growing.arguments = PartialArguments(dict(as_object(call.get("args")) or {}))
            return [started, *self._grow(growing, call)]
        given = call.get("args")
        if given is None or as_object(given) is not None:
            growing.arguments = PartialArguments(as_object(given) or {})
            return [started, *self._complete(growing)]
        text = given if isinstance(given, str) else dump(given)
        whole = parse_arguments(growing.id, name, text, signature=signature)
        return [started, ToolCallArgsDelta(number, text), ToolCallCompleted(number, whole)]

    def _grow(self, growing: _Growing, call: JsonObject) -> list[StreamEvent]:
        for piece in get_objects(call, "partialArgs"):
            try:
                growing.arguments.add(piece)
            except ValueError:
                growing.broken = True
        return [] if call.get("willContinue") else self._complete(growing)

    def _complete(self, growing: _Growing) -> list[StreamEvent]:
        self._growing = None
        arguments = growing.arguments.value
        text = dump(arguments)
        whole = ToolCall(
            growing.id,
            growing.name,
            None if growing.broken else arguments,
            malformed=text if growing.broken else None,
            signature=growing.signature,
        )
        number = growing.number
        return [ToolCallArgsDelta(number, text), ToolCallCompleted(number, whole)]

    def _identify(self, call: JsonObject, name: str, number: int) -> str:
        given = get_string(call, "id")
        fresh = (
            given
            if given and given not in self._taken
            else mint_call_id(self._answer, number, name)
        )
        self._taken.add(fresh)
        return fresh
