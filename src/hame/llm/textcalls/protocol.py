"""Tools described in words, for models that have no calls of their own.

The tools go into the system prompt, calls and results into the conversation, all as text in the form
that most open models were trained on; what the model then prints is read by `reading`. A server that
can hold an answer to a schema is given one: a call of a tool on offer, its paths held to what exists, or
words for the user.
"""

from collections.abc import Sequence
from operator import is_
from typing import assert_never

from msgspec.structs import replace

from hame.base.json import JsonObject, dump
from hame.base.message import (
    AnswerBlock,
    Assistant,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
    UserBlock,
)
from hame.base.model import ToolSupport
from hame.base.ports import ModelRequest
from hame.base.tool import ToolSpec
from hame.llm.textcalls.grounded import Existing, grounded, named_paths, nothing_known

_AS_TEXT = """

# Tools

You act by calling tools. To call one, write exactly this and nothing after it:

<tool_call>
{{"name": "TOOL", "arguments": {{...}}}}
</tool_call>

Its result comes back in <tool_response> tags. When no tool is needed, answer in plain words.
The tools, each with the JSON Schema of its arguments:

{tools}"""

_AS_SCHEMA = """

# Tools

You act by calling tools. Answer with one JSON object and nothing else: {{"tool": "TOOL",
"arguments": {{...}}}} calls a tool, {{"say": "WORDS"}} speaks to the user and ends your turn. A result
comes back in <tool_response> tags. The tools, each with the JSON Schema of its arguments:

{tools}"""


class InWords:
    """Requests of one conversation with their tools in words; what was rewritten once stays the same."""

    def __init__(self, existing: Existing = nothing_known) -> None:
        """Nothing was rewritten yet; `existing` is asked for every answer that is held to a schema."""
        self._existing = existing
        self._given: list[Message] = []
        self._made: list[Message] = []

    def __call__(self, request: ModelRequest, support: ToolSupport) -> ModelRequest:
        """The request for a model with that support for tools."""
        if support in {ToolSupport.NATIVE, ToolSupport.MASKED}:
            return request
        told = replace(request, messages=self._rewritten(request.messages), tools=())
        if support is ToolSupport.NONE or not request.tools:
            return told
        form = _AS_SCHEMA if support is ToolSupport.SCHEMA else _AS_TEXT
        system = request.system + form.format(tools="\n".join(map(_describe, request.tools)))
        if support is not ToolSupport.SCHEMA:
            return replace(told, system=system)
        named = named_paths(request.messages)
        return replace(
            told, system=system, shape=answer_schema(request.tools, self._existing, named)
        )

    def _rewritten(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        known = len(self._given)
        if known > len(messages) or not all(map(is_, self._given, messages)):
            self._given, self._made, known = [], [], 0
        for message in messages[known:]:
            self._given.append(message)
            self._made.append(_in_words(message))
        return tuple(self._made)


def answer_schema(
    tools: Sequence[ToolSpec], existing: Existing, named: Sequence[str]
) -> JsonObject:
    """JSON Schema of one answer: a call of one of the tools, or words."""
    calls: list[object] = [
        {
            "type": "object",
            "properties": {
                "tool": {"const": spec.name},
                "arguments": grounded(spec, existing, named),
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for spec in tools
    ]
    words: JsonObject = {
        "type": "object",
        "properties": {"say": {"type": "string"}},
        "required": ["say"],
        "additionalProperties": False,
    }
    return {"anyOf": [*calls, words]}


def _describe(spec: ToolSpec) -> str:
    return dump({"name": spec.name, "description": spec.description, "parameters": spec.schema()})


def _in_words(message: Message) -> Message:
    match message:
        case User():
            return message
        case Assistant(content=content):
            return replace(message, content=tuple(map(_said, content)))
        case ToolResults(results=results):
            return User(tuple(block for result in results for block in _told(result)))
        case _:
            assert_never(message)


def _said(block: AnswerBlock) -> AnswerBlock:
    if not isinstance(block, ToolCall):
        return block
    call = {"name": block.name, "arguments": block.arguments or {}}
    return Text(f"\n<tool_call>\n{dump(call)}\n</tool_call>")


def _told(result: ToolResult) -> list[UserBlock]:
    texts = [block.text for block in result.content if isinstance(block, Text)]
    failed = "Error: " * result.is_error
    said = "\n".join(texts) or "(no output)"
    note = f'<tool_response name="{result.name}">\n{failed}{said}\n</tool_response>'
    return [Text(note), *(block for block in result.content if isinstance(block, Image))]
