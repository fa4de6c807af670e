"""Messages as chat completions want them: each written once, as bytes."""

from hame.base.json import JsonObject, as_list, dump, dump_bytes
from hame.base.message import (
    Assistant,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    Text,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
    UserBlock,
)
from hame.base.model import ModelFacts, Quirk
from hame.llm.words import data_url, only_text, result_text, user_text

_BRIDGE: JsonObject = {"role": "assistant", "content": "Understood."}
"""Stands between tool results, or their pictures, and a user's message where they may not meet (Mistral)."""


class ChatPage:
    """The messages of one conversation so far."""

    __slots__ = ("_after_results", "_facts", "pieces")

    def __init__(self, facts: ModelFacts) -> None:
        """Start an empty conversation."""
        self._facts = facts
        self._after_results = False
        self.pieces: list[bytes] = []
        """One JSON object each."""

    def add(self, message: Message) -> None:
        """Write the next message."""
        for wire_message in self._write(message):
            self.pieces.append(dump_bytes(wire_message))

    def _write(self, message: Message) -> list[JsonObject]:
        quirks = self._facts.quirks
        bridge = [_BRIDGE] if Quirk.ALTERNATING_ROLES in quirks else []
        after_results, self._after_results = self._after_results, False
        match message:
            case User(content=content):
                said: JsonObject = {"role": "user", "content": _user_content(content)}
                return [*bridge, said] if after_results else [said]
            case Assistant():
                return [_answer(message, quirks)]
            case ToolResults(results=results):
                self._after_results = True
                files = _files(results)
                written = [_result(result, quirks) for result in results]
                return [*written, *bridge, files] if files else written


def _user_content(content: tuple[UserBlock, ...]) -> str | list[JsonObject]:
    """Plain text where it is only text, which every server takes; else parts."""
    text = only_text(content)
    return [_part(block) for block in content] if text is None else text


def _part(block: UserBlock) -> JsonObject:
    match block:
        case Text() | Note():
            return {"type": "text", "text": user_text(block)}
        case Image():
            return {"type": "image_url", "image_url": {"url": data_url(block)}}
        case Document():
            file: JsonObject = {"filename": block.name or "document", "file_data": data_url(block)}
            return {"type": "file", "file": file}


def _answer(message: Assistant, quirks: frozenset[Quirk]) -> JsonObject:
    """An earlier answer; its content is null rather than empty."""
    opaque = [block for block in message.content if isinstance(block, Opaque)]
    refusal = next((block.summary for block in opaque if block.kind == "refusal"), "")
    answer: JsonObject = {"role": "assistant", "content": message.text or refusal or None}
    details = [block for block in opaque if block.kind == "reasoning_details"]
    if details and Quirk.REASONING_DETAILS in quirks:
        answer["reasoning_details"] = as_list(details[-1].payload.get("details"))
    elif message.calls and message.thinking and Quirk.REASONING_REPLAY in quirks:
        answer["reasoning_content"] = message.thinking
    if message.calls:
        answer["tool_calls"] = [_call(call) for call in message.calls]
    return answer


def _call(call: ToolCall) -> JsonObject:
    function: JsonObject = {"name": call.name, "arguments": dump(call.arguments or {})}
    written: JsonObject = {"id": call.id, "type": "function", "function": function}
    if call.signature is not None:
        written["extra_content"] = {"google": {"thought_signature": call.signature}}
    return written


def _result(result: ToolResult, quirks: frozenset[Quirk]) -> JsonObject:
    answer: JsonObject = {"role": "tool", "tool_call_id": result.call_id}
    if Quirk.TOOL_NAME_IN_RESULT in quirks:
        answer["name"] = result.name
    return {**answer, "content": result_text(result)}


def _files(results: tuple[ToolResult, ...]) -> JsonObject:
    """A message of the user's with the pictures and documents that results hold; empty without any."""
    parts: list[JsonObject] = []
    for result in results:
        files = [block for block in result.content if not isinstance(block, Text)]
        if files:
            parts.append({"type": "text", "text": f"From {result.name} ({result.call_id}):"})
            parts.extend(_part(block) for block in files)
    return {"role": "user", "content": parts} if parts else {}
