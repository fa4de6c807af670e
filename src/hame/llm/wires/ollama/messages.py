"""A conversation as Ollama wants it: flat messages, each written once.

An answer is its text, its thinking and its calls; their order is lost, because Ollama's templates
put them in an order of their own. Pictures travel beside the text, as base64 without a media type.
"""

from base64 import b64encode
from collections.abc import Iterable
from typing import assert_never

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

    __slots__ = ("_images", "pieces")

    def __init__(self, facts: ModelFacts) -> None:
        """Start an empty conversation."""
        self._images = facts.images
        self.pieces: list[bytes] = []
        """One JSON object each."""

    def add(self, message: Message) -> None:
        """Write the next message; an answer that holds nothing the wire takes is left out."""
        match message:
            case User(content=content):
                texts = [text for block in content if (text := self._words(block))]
                said = {"role": "user", "content": "\n\n".join(texts)}
                self.pieces.append(dump_bytes(said | self._pictures(content)))
            case ToolResults(results=results):
                self.pieces += [dump_bytes(self._result(result)) for result in results]
            case Assistant():
                answer = _answer(message)
                self.pieces += [dump_bytes(answer)] if len(answer) > 1 else []
            case _:
                assert_never(message)

    def _words(self, block: UserBlock) -> str:
        match block:
            case Text(text=text):
                return text
            case Note():
                return note_text(block)
            case Image() if self._images:
                return ""
            case Image() | Document():
                return _left_out(block)
            case _:
                assert_never(block)

    def _pictures(self, content: Iterable[UserBlock | ResultBlock]) -> JsonObject:
        if not self._images:
            return {}
        data = [b64encode(block.data).decode() for block in content if isinstance(block, Image)]
        return {"images": data} if data else {}

    def _result(self, result: ToolResult) -> JsonObject:
        lost = [
            _left_out(block)
            for block in result.content
            if isinstance(block, Document) or (isinstance(block, Image) and not self._images)
        ]
        written: JsonObject = {
            "role": "tool",
            "tool_name": result.name,
            "tool_call_id": result.call_id,
            "content": "\n".join([result_text(result), *lost]),
        }
        return written | self._pictures(result.content)


def _answer(message: Assistant) -> JsonObject:
    answer: JsonObject = {"role": "assistant"}
    text = message.text
    if text.strip() or message.calls:
        answer["content"] = text
    if message.thinking and len(answer) > 1:
        answer["thinking"] = message.thinking
    if message.calls:
        answer["tool_calls"] = [_call(call) for call in message.calls]
    return answer


def _call(call: ToolCall) -> JsonObject:
    function: JsonObject = {"name": call.name, "arguments": call.arguments or {}}
    return {"id": call.id, "function": function}


def _left_out(block: Image | Document) -> str:
    name = f" {block.name}" if block.name else ""
    return f"[{block.media_type}{name}: not readable for this model]"
