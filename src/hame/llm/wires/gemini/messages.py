"""Messages as Gemini wants them: contents whose roles alternate, each part written once, as bytes.

https://ai.google.dev/api/caching#Content
A signature goes back on the very part it came with. Gemini 3 refuses a turn of calls whose first call
has none, as calls of another model do; a documented value takes its place.
https://ai.google.dev/gemini-api/docs/thought-signatures
"""

from base64 import b64encode

from hame.base.json import JsonObject, dump_bytes
from hame.base.message import (
    AnswerBlock,
    Assistant,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
    UserBlock,
)
from hame.base.model import ModelFacts
from hame.llm.wires.gemini.decode import CITATIONS
from hame.llm.wires.gemini.generation import generation
from hame.llm.words import note_text, plain_text

_NO_SIGNATURE = "skip_thought_signature_validator"
_IN_RESPONSES = frozenset({
    "image/png",
    "image/jpeg",
    "image/webp",
    "application/pdf",
    "text/plain",
})
"""What Gemini 3 takes inside a function's response."""


class GeminiPage:
    """The contents of one conversation so far."""

    __slots__ = ("_parts", "_role", "_third", "pieces")

    def __init__(self, facts: ModelFacts) -> None:
        """Start an empty conversation."""
        self._third = generation(facts.model) >= 3
        self._role = ""
        self._parts: list[bytes] = []
        self.pieces: list[bytes] = []
        """One JSON object each."""

    def add(self, message: Message) -> None:
        """Write the next message; one of the same role as the last goes on with it."""
        match message:
            case User(content=content):
                self._extend("user", [_said(block) for block in content])
            case Assistant():
                self._extend("model", _answer(message, third=self._third))
            case ToolResults(results=results):
                self._extend("user", _results(results, third=self._third))

    def _extend(self, role: str, parts: list[JsonObject]) -> None:
        if not parts:
            return
        written = [dump_bytes(part) for part in parts]
        if role == self._role:
            self.pieces.pop()
            self._parts += written
        else:
            self._role, self._parts = role, written
        head = f'{{"role":"{role}","parts":['.encode()
        self.pieces.append(b"".join((head, b",".join(self._parts), b"]}")))


def _said(block: UserBlock) -> JsonObject:
    match block:
        case Text(text=text):
            return {"text": text}
        case Note():
            return {"text": note_text(block)}
        case Image() | Document():
            return _inline(block)


def _inline(block: Image | Document) -> JsonObject:
    data = b64encode(block.data).decode()
    return {"inlineData": {"mimeType": block.media_type, "data": data}}


def _answer(message: Assistant, *, third: bool) -> list[JsonObject]:
    signed = any(call.signature for call in message.calls)
    stand_in = None if signed or not third else _NO_SIGNATURE
    parts: list[JsonObject] = []
    for block in message.content:
        part = _part(block)
        if part is None:
            continue
        if isinstance(block, ToolCall) and stand_in is not None:
            part["thoughtSignature"] = stand_in
            stand_in = None
        parts.append(part)
    return parts


def _part(block: AnswerBlock) -> JsonObject | None:
    """A block of an answer; thoughts without a signature are of no use to the model."""
    match block:
        case Text(text=text, signature=signature):
            return _signed({"text": text}, signature) if text or signature else None
        case Thinking(text=text, signature=signature):
            return _signed({"text": text, "thought": True}, signature) if signature else None
        case Image(signature=signature):
            return _signed(_inline(block), signature)
        case Opaque(kind=kind, payload=payload):
            return None if kind == CITATIONS else dict(payload)
        case ToolCall(id=call_id, name=name, arguments=arguments, signature=signature):
            call: JsonObject = {"id": call_id, "name": name, "args": arguments or {}}
            return _signed({"functionCall": call}, signature)


def _signed(part: JsonObject, signature: str | None) -> JsonObject:
    return part if signature is None else {**part, "thoughtSignature": signature}


def _results(results: tuple[ToolResult, ...], *, third: bool) -> list[JsonObject]:
    """A response to each call, in order, and after them the files that do not fit into one."""
    responses: list[JsonObject] = []
    beside: list[JsonObject] = []
    for result in results:
        files = [block for block in result.content if isinstance(block, Image | Document)]
        inside = [file for file in files if third and file.media_type in _IN_RESPONSES]
        responses.append(_response(result, inside))
        others = [file for file in files if file not in inside]
        if others:
            beside.append({"text": f"From {result.name} ({result.call_id}):"})
            beside.extend(_inline(file) for file in others)
    return [*responses, *beside]


def _response(result: ToolResult, inside: list[Image | Document]) -> JsonObject:
    key = "error" if result.is_error else "output"
    response: JsonObject = {
        "id": result.call_id,
        "name": result.name,
        "response": {key: plain_text(result)},
    }
    if inside:
        response["parts"] = [_inline(file) for file in inside]
    return {"functionResponse": response}
