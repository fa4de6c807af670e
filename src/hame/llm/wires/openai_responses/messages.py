"""Messages as the Responses wire wants them: a list of input items, each written once, as bytes.

Items: https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
Nothing is stored at the server, so what the model needs to know of its own reasoning goes back with
every request: the reasoning items, encrypted or open, before the calls and words they led to.
"""

from hame.base.json import JsonObject, dump, dump_bytes
from hame.base.message import (
    Assistant,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    ResultBlock,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
    UserBlock,
)
from hame.base.model import ModelFacts
from hame.llm.wires.openai_responses.items import CITATIONS, REFUSAL
from hame.llm.words import data_url, only_text, result_text, user_text

_PHASES = frozenset({"commentary", "final_answer"})
_NOT_SENT = frozenset({CITATIONS, "shell_call_output"})
"""Kinds that stay here: hame's own, and the output of calls that are sent as functions."""


class ResponsesPage:
    """The input items of one conversation so far."""

    __slots__ = ("pieces",)

    def __init__(self, _facts: ModelFacts) -> None:
        """Start an empty conversation."""
        self.pieces: list[bytes] = []
        """One JSON object each."""

    def add(self, message: Message) -> None:
        """Write the next message."""
        self.pieces.extend(map(dump_bytes, _write(message)))


def _write(message: Message) -> list[JsonObject]:
    match message:
        case User(content=content):
            return [{"role": "user", "content": _said(content)}] if content else []
        case Assistant():
            return _answer(message)
        case ToolResults(results=results):
            return [_result(result) for result in results]


def _said(content: tuple[UserBlock, ...]) -> str | list[JsonObject]:
    """Plain text where it is only text; else parts."""
    text = only_text(content)
    return [_part(block) for block in content] if text is None else text


def _part(block: UserBlock) -> JsonObject:
    match block:
        case Text() | Note():
            return {"type": "input_text", "text": user_text(block)}
        case Image():
            return {"type": "input_image", "detail": "auto", "image_url": data_url(block)}
        case Document():
            name = block.name or "document.pdf"
            return {"type": "input_file", "filename": name, "file_data": data_url(block)}


def _answer(message: Assistant) -> list[JsonObject]:
    """An earlier answer. Reasoning that led to nothing is left out: the server refuses it."""
    items: list[JsonObject] = []
    reasoning: list[JsonObject] = []
    for block in message.content:
        match block:
            case Opaque(kind="reasoning"):
                reasoning.extend(_reasoning(block))
                continue
            case Opaque():
                item = _kept(block)
            case Text():
                item = _spoken(block)
            case ToolCall():
                item = _call(block)
            case Thinking() | Image():
                item = None
        if item is not None:
            items.extend((*reasoning, item))
            reasoning.clear()
    return items


def _reasoning(block: Opaque) -> list[JsonObject]:
    """A reasoning item as it came; one that holds nothing the server could use is left out.

    `status` and members without a value belong to answers; requests with them are refused.
    """
    payload = block.payload
    if not (payload.get("encrypted_content") or payload.get("content")):
        return []
    kept = {key: value for key, value in payload.items() if value not in (None, [])}
    kept.pop("status", None)
    return [{"summary": [], **kept}]


def _kept(block: Opaque) -> JsonObject | None:
    """What the provider made for itself goes back unchanged."""
    if block.kind in _NOT_SENT:
        return None
    if block.kind == REFUSAL:
        return _message({"type": "refusal", "refusal": block.summary})
    return block.payload


def _spoken(block: Text) -> JsonObject | None:
    if not block.text:
        return None
    said = _message({"type": "output_text", "text": block.text})
    return {**said, "phase": block.signature} if block.signature in _PHASES else said


def _message(part: JsonObject) -> JsonObject:
    """A message of the model's, in the form in which it came but without the id it had.

    The shorter form, whose content is a string, is refused by llama-server.
    """
    return {"type": "message", "role": "assistant", "content": [part]}


def _call(call: ToolCall) -> JsonObject:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": dump(call.arguments or {}),
    }


def _result(result: ToolResult) -> JsonObject:
    """A result: text, or parts when there is more than text in it."""
    return {
        "type": "function_call_output",
        "call_id": result.call_id,
        "output": _output(result),
    }


def _output(result: ToolResult) -> str | list[JsonObject]:
    others: list[ResultBlock] = [block for block in result.content if not isinstance(block, Text)]
    text = result_text(result)
    if not others:
        return text
    return [{"type": "input_text", "text": text}, *map(_part, others)]
