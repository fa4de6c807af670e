"""A conversation as Ollama wants it: flat messages, each written once.

An answer is its text, its thinking and its calls; their order is lost, because Ollama's templates
put them in an order of their own. Pictures travel beside the text, as base64 without a media type.
"""

from base64 import b64encode
from collections.abc import Iterable
from typing import assert_never

import msgspec

from hame.base.json import JsonObject, dump_bytes
from hame.base.message import (
    Assistant,
    Document,
    Image,
    Message,
    Note,
    ResultBlock,
    Text,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
    UserBlock,
)
from hame.base.model import ModelFacts
from hame.llm.words import note_text, result_text


class OllamaPage:
    """The messages of one conversation so far."""

    __slots__ = ("pieces",)

    def __init__(self, _facts: ModelFacts) -> None:
        """Start an empty conversation."""
        self.pieces: list[bytes] = []
        """One JSON object each."""

    def add(self, message: Message) -> None:
        """Write the next message; an answer that holds nothing the wire takes is left out."""
        self.pieces += [dump_bytes(written) for written in _write(message)]


def _write(message: Message) -> list[JsonObject]:
    match message:
        case User(content=content):
            texts = [text for block in content if (text := _words(block))]
            said: JsonObject = {"role": "user", "content": "\n\n".join(texts)}
            return [said | _pictures(content)]
        case ToolResults(results=results):
            return [_result(result) for result in results]
        case Assistant():
            return _answer(message)
        case _:
            assert_never(message)


def _words(block: UserBlock) -> str:
    match block:
        case Text(text=text):
            return text
        case Note():
            return note_text(block)
        case Image():
            return ""
        case Document():
            return _left_out(block)
        case _:
            assert_never(block)


def _pictures(content: Iterable[UserBlock]) -> JsonObject:
    data = [b64encode(block.data).decode() for block in content if isinstance(block, Image)]
    return {"images": data} if data else {}


def _result(result: ToolResult) -> JsonObject:
    told = tuple(_told(block) for block in result.content)
    written: JsonObject = {
        "role": "tool",
        "tool_name": result.name,
        "tool_call_id": result.call_id,
        "content": result_text(msgspec.structs.replace(result, content=told)),
    }
    return written | _pictures(result.content)


def _told(block: ResultBlock) -> Text:
    """A result's block in words; a picture, which travels beside them, is at least named."""
    match block:
        case Text():
            return block
        case Image(media_type=kind, name=name):
            return Text(f"[{kind} {name}".rstrip() + "]")
        case Document():
            return Text(_left_out(block))
        case _:
            assert_never(block)


def _answer(message: Assistant) -> list[JsonObject]:
    if not message.text.strip() and not message.calls:
        return []
    answer: JsonObject = {"role": "assistant", "content": message.text}
    if message.thinking:
        answer["thinking"] = message.thinking
    if message.calls:
        answer["tool_calls"] = [_call(call) for call in message.calls]
    return [answer]


def _call(call: ToolCall) -> JsonObject:
    function: JsonObject = {"name": call.name, "arguments": call.arguments or {}}
    return {"id": call.id, "function": function}


def _left_out(block: Document) -> str:
    name = f" {block.name}" if block.name else ""
    return f"[{block.media_type}{name}: not readable for this model]"
