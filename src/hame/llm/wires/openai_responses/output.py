"""The output of a Responses answer while it arrives: its items and what was said of each.

Servers differ in which of their many events they send. Whatever came as deltas is remembered, so that
the finished item adds only what is missing: text that never came in pieces, calls that were only in
the last event, items that were never declared done. The last event has the last word: it brings the
encrypted reasoning that is to go back.
"""

from hame.base.json import JsonObject, dump, get_int, get_objects, get_string
from hame.base.message import Opaque, ToolCall
from hame.base.stream import (
    OpaqueCompleted,
    StreamEvent,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
)
from hame.llm.arguments import parse_arguments
from hame.llm.callids import mint_call_id
from hame.llm.wires.openai_responses.items import (
    ARGUMENTS_OF,
    CITATIONS,
    REFUSAL,
    WIRE,
    annotations,
    describe,
    describe_sources,
    message_text,
    reasoning_text,
    refusal_text,
)


class _Item:
    """One output item: its identity and what was said of it so far."""

    __slots__ = (
        "call_id",
        "finished",
        "held",
        "id",
        "kind",
        "name",
        "number",
        "part",
        "payload",
        "pieces",
        "source",
    )

    def __init__(self, source: JsonObject) -> None:
        self.source = source
        self.id = get_string(source, "id") or ""
        self.kind = get_string(source, "type") or ""
        self.call_id = get_string(source, "call_id") or self.id
        self.name = get_string(source, "name") or ""
        self.number: int | None = None
        """Position among the calls, once it has been announced."""
        self.part: object = None
        """Which part of the reasoning the last piece belonged to."""
        self.pieces: list[str] = []
        self.held = ""
        """The newest piece of text, which has not been told yet."""
        self.payload: JsonObject | None = None
        """What was last told of an item that is kept as it is."""
        self.finished = False

    @property
    def is_opaque(self) -> bool:
        """Whether the provider made it for itself."""
        return self.kind not in {"message", "reasoning", *ARGUMENTS_OF}

    def release(self) -> str:
        """The held piece, which counts as told from now on."""
        held, self.held = self.held, ""
        if held:
            self.pieces.append(held)
        return held

    def missing(self, whole: str) -> str:
        """What of the whole was not told yet.

        When there is no whole, or the pieces told another story, that is the piece still held.
        """
        told = "".join(self.pieces)
        held, self.held = self.held, ""
        return whole[len(told) :] if whole and whole.startswith(told) else held


class Output:
    """Collects the items of one answer and says what is new."""

    __slots__ = (
        "_by_index",
        "_items",
        "_settled",
        "_whole",
        "_writing",
        "answer",
        "calls",
        "refused",
        "said",
    )

    def __init__(self) -> None:
        """Start with no items."""
        self._items: list[_Item] = []
        self._by_index: dict[int, _Item] = {}
        self._writing: _Item | None = None
        self._whole: dict[int, ToolCall] = {}
        """Calls that are whole before one that began earlier, by their position."""
        self._settled = 0
        """How many calls were told whole."""
        self.answer = ""
        """The answer's own id."""
        self.calls = 0
        """How many calls were announced."""
        self.refused = False
        self.said = False
        """Whether anything of the answer has arrived."""

    def open(self, source: JsonObject, index: int | None) -> list[StreamEvent]:
        """An item begins."""
        events = self.release()
        item = self._begin(source, index)
        return [*events, *self._announce(item)] if item.kind in ARGUMENTS_OF else events

    def add_text(self, event: JsonObject) -> list[StreamEvent]:
        """More words of a message.

        The newest piece waits for the next event: servers that strip a stop word from the whole text
        have already sent it as the last piece.
        """
        delta = get_string(event, "delta") or ""
        if not delta:
            return []
        self.said = True
        item = self._at(event, "message")
        events = self._catch_up(item) if not item.pieces and not item.held else []
        before = item.release()
        item.held = delta
        self._writing = item
        return [*events, TextDelta(before)] if before else events

    def end_text(self, event: JsonObject) -> list[StreamEvent]:
        """A part of a message is whole; some servers send none of it before."""
        item = self._at(event, "message")
        unsaid = not (item.pieces or item.held or item.finished)
        return self.add_text({**event, "delta": event.get("text")}) if unsaid else []

    def release(self) -> list[StreamEvent]:
        """Tell the piece of text that was held back."""
        held = self._writing.release() if self._writing is not None else ""
        self._writing = None
        return [TextDelta(held)] if held else []

    def add_thinking(self, event: JsonObject) -> list[StreamEvent]:
        """More words of a summary or of open reasoning."""
        delta = get_string(event, "delta") or ""
        if not delta:
            return []
        item = self._at(event, "reasoning")
        part = (get_int(event, "summary_index"), get_int(event, "content_index"))
        between = "\n\n" if item.pieces and part != item.part else ""
        item.part = part
        item.pieces.append(between + delta)
        return self._tell([*self.release(), ThinkingDelta(between + delta)])

    def add_arguments(self, event: JsonObject) -> list[StreamEvent]:
        """More text of a call's arguments."""
        delta = get_string(event, "delta") or ""
        item = self._at(event, "function_call")
        if not delta or item.kind not in ARGUMENTS_OF:
            return []
        item.pieces.append(delta)
        return [ToolCallArgsDelta(item.number, delta)] if item.number is not None else []

    def finish(self, source: JsonObject, index: int | None) -> list[StreamEvent]:
        """An item is whole; says what of it has not been said."""
        item = self._find(source, index) or self._begin(source, index)
        if item.finished:
            return self._revise(item, source)
        item.finished = True
        return self._tell([*self._catch_up(item), *self._finish(item, source)])

    def settle(self, response: JsonObject) -> list[StreamEvent]:
        """The answer is whole: finish what no event declared done."""
        told = {item.kind for item in self._items}
        events: list[StreamEvent] = []
        for index, source in enumerate(get_objects(response, "output")):
            renamed = get_string(source, "type") in told & {"message", "reasoning"}
            if not renamed or self._find(source, index):
                events.extend(self.finish(source, index))
        events.extend(self.release())
        for item in self._items:
            open_call = item.kind in {"function_call", "custom_tool_call"} and not item.finished
            if open_call and item.name:
                events.extend(self._finish_call(item, {"status": response.get("status")}))
        events.extend(ToolCallCompleted(*left) for left in sorted(self._whole.items()))
        self._whole.clear()
        return events

    # ------------------------------------------------------------ whole items

    def _finish(self, item: _Item, source: JsonObject) -> list[StreamEvent]:
        match item.kind:
            case "message":
                return self._finish_message(item, source)
            case "reasoning":
                return self._finish_reasoning(item, source)
            case kind if kind in ARGUMENTS_OF:
                return self._finish_call(item, source)
            case _:
                return self._keep(item, source)

    def _finish_message(self, item: _Item, source: JsonObject) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        rest = item.missing(message_text(source))
        phase = get_string(source, "phase")
        if rest or (phase and item.pieces):
            events.append(TextDelta(rest, signature=phase))
        refusal = refusal_text(source)
        if refusal:
            self.refused = True
            payload: JsonObject = {"type": REFUSAL, "refusal": refusal}
            events.append(_opaque(REFUSAL, payload, refusal))
        sources = annotations(source)
        if sources:
            kept: JsonObject = {"type": CITATIONS, "annotations": sources}
            events.append(_opaque(CITATIONS, kept, describe_sources(sources)))
        return events

    def _finish_reasoning(self, item: _Item, source: JsonObject) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        rest = item.missing(reasoning_text(source))
        if rest:
            events.append(ThinkingDelta(rest))
        if rest or item.pieces:
            events.append(ThinkingCompleted())
        return [*events, *self._keep(item, source)]

    def _finish_call(self, item: _Item, source: JsonObject) -> list[StreamEvent]:
        item.finished = True
        item.name = get_string(source, "name") or item.name
        if item.number is None:
            item.call_id = get_string(source, "call_id") or item.call_id
        events = self._announce(item)
        if item.number is None:
            return []
        given = source.get(ARGUMENTS_OF[item.kind])
        text = given if isinstance(given, str) else (dump(given) if given is not None else "")
        rest = item.missing(text)
        if rest:
            events.append(ToolCallArgsDelta(item.number, rest))
        said = text or "".join(item.pieces)
        if get_string(source, "status") == "incomplete" and not said.strip():
            call = ToolCall(item.call_id, item.name, None, malformed=said)
        else:
            call = _call(item, said)
        return [*events, *self._settle_call(item.number, call)]

    def _settle_call(self, number: int, call: ToolCall) -> list[StreamEvent]:
        """Tell whole calls in the order in which they began."""
        self._whole[number] = call
        events: list[StreamEvent] = []
        while (next_whole := self._whole.pop(self._settled, None)) is not None:
            events.append(ToolCallCompleted(self._settled, next_whole))
            self._settled += 1
        return events

    def _announce(self, item: _Item) -> list[StreamEvent]:
        """Say that a call begins, once its name is known."""
        name = item.name or ("" if item.kind == "function_call" else item.kind)
        if item.number is not None or not name:
            return []
        item.name = name
        item.call_id = self._identify(item)
        item.number = self.calls
        self.calls += 1
        return self._tell([ToolCallStarted(item.number, item.call_id, item.name)])

    def _identify(self, item: _Item) -> str:
        """A call's id; one that is missing or was used before is made up."""
        taken = {other.call_id for other in self._items if other.number is not None}
        if item.call_id and item.call_id not in taken:
            return item.call_id
        return mint_call_id(self.answer, self.calls, item.name)

    # ------------------------------------------------------------ blocks kept as they are

    def _keep(self, item: _Item, source: JsonObject) -> list[StreamEvent]:
        item.payload = source
        return [_opaque(item.kind, source, describe(source))]

    def _revise(self, item: _Item, source: JsonObject) -> list[StreamEvent]:
        """The last event may bring another version of what is kept: that one goes back."""
        if item.payload is None or item.payload == source:
            return []
        return self._keep(item, source)

    def _catch_up(self, item: _Item) -> list[StreamEvent]:
        """Keep the order: what the provider began before this item is told first, as far as it is known."""
        events = self.release() if item is not self._writing else []
        for earlier in self._items:
            if earlier is item:
                break
            if earlier.is_opaque and earlier.payload is None:
                events.extend(self._keep(earlier, earlier.source))
        return events

    # ------------------------------------------------------------ finding items

    def _begin(self, source: JsonObject, index: int | None) -> _Item:
        item = _Item(source)
        self._items.append(item)
        if index is not None:
            self._by_index[index] = item
        return item

    def _at(self, event: JsonObject, kind: str) -> _Item:
        """The item that a delta belongs to: by id, by position, else the last open one of its kind."""
        name, index = get_string(event, "item_id"), get_int(event, "output_index")
        for item in reversed(self._items):
            if name and item.id == name:
                return item
        if index is not None and index in self._by_index:
            return self._by_index[index]
        family = ARGUMENTS_OF if kind in ARGUMENTS_OF else (kind,)
        for item in reversed(self._items):
            if item.kind in family and not item.finished and not name and index is None:
                return item
        return self._begin({"type": kind, "id": name}, index)

    def _find(self, source: JsonObject, index: int | None) -> _Item | None:
        """The item that a whole one completes: by id, by call id, by position; always of its kind."""
        kind = get_string(source, "type")
        name, call_id = get_string(source, "id"), get_string(source, "call_id")
        alike = [item for item in self._items if item.kind == kind]
        for item in alike:
            if (name and item.id == name) or (call_id and item.call_id == call_id):
                return item
        found = self._by_index.get(index) if index is not None else None
        return found if found in alike else None

    def _tell(self, events: list[StreamEvent]) -> list[StreamEvent]:
        self.said = self.said or bool(events)
        return events


def _opaque(kind: str, payload: JsonObject, summary: str) -> OpaqueCompleted:
    return OpaqueCompleted(Opaque(wire=WIRE, kind=kind, payload=payload, summary=summary))


def _call(item: _Item, text: str) -> ToolCall:
    """A whole call. The input of a custom tool is free text, which is never taken for arguments."""
    if item.kind == "custom_tool_call":
        return ToolCall(item.call_id, item.name, None, malformed=text)
    return parse_arguments(item.call_id, item.name, text)
