"""What stands in place of results, arguments and pictures that the model is not shown any more."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar, cast

from msgspec.structs import replace

from hame.base.json import JsonObject, dump
from hame.base.message import (
    AnswerBlock,
    Assistant,
    Block,
    Document,
    Image,
    Message,
    ResultBlock,
    Text,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
    UserBlock,
)
from hame.base.outcome import text_content

_Any = TypeVar("_Any", bound=Block)

ARGUMENT_CHARS = 1_000
"""An argument that is longer is cut once its call is old."""
_SHOWN_ARGUMENT = 160
_SHOWN_CALL = 120
_FIRST_LINE = 160


def stub_text(call: ToolCall | None, result: ToolResult, kept: str | None) -> str:
    """The words for a result that is left out; `kept` is its id in the store of results."""
    text = "".join(block.text for block in result.content if isinstance(block, Text))
    asked = dump(call.arguments)[:_SHOWN_CALL] if call and call.arguments else ""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    begins = f" It began: {first[:_FIRST_LINE]}" if first else ""
    again = f"read result:{kept} for it, or call again" if kept else "call again if you need it"
    return (
        f"[Left out to save room: the {len(text):,} characters of {result.name} {asked};"
        f" {again}.{begins}]"
    )


def stubbed_results(message: ToolResults, stubs: Mapping[str, str]) -> ToolResults:
    """The message with stubs for these calls; the same object when there are none."""
    if not any(result.call_id in stubs for result in message.results):
        return message
    return ToolResults(
        tuple(
            replace(result, content=text_content(stubs[result.call_id]))
            if result.call_id in stubs
            else result
            for result in message.results
        )
    )


def cut_arguments(message: Assistant, calls: AbstractSet[str]) -> Assistant:
    """The answer with the long arguments of these calls cut; the same object when there are none.

    A call that a provider has signed stays as it is.
    """
    if not any(can_be_cut(call) for call in message.calls if call.id in calls):
        return message
    return replace(message, content=tuple(_cut_block(block, calls) for block in message.content))


def can_be_cut(call: ToolCall) -> bool:
    """Whether a call has long arguments that may be shown cut."""
    return call.signature is None and any(map(_is_long, (call.arguments or {}).values()))


def without_pictures(message: Message) -> Message:
    """The message with a few words in place of its pictures and documents."""
    match message:
        case User(content=content):
            blocks = _unpictured_user(content)
            return message if blocks is None else User(blocks)
        case ToolResults(results=results):
            changed = tuple(map(_unpictured_result, results))
            same = all(one is other for one, other in zip(changed, results, strict=True))
            return message if same else ToolResults(changed)
        case Assistant():
            return message


def _is_long(value: object) -> bool:
    if isinstance(value, str):
        return len(value) > ARGUMENT_CHARS
    return isinstance(value, list | dict) and len(dump(cast("object", value))) > ARGUMENT_CHARS


def _cut_block(block: AnswerBlock, calls: AbstractSet[str]) -> AnswerBlock:
    if not isinstance(block, ToolCall) or block.id not in calls or not can_be_cut(block):
        return block
    arguments: JsonObject = {
        name: _cut(value) if _is_long(value) else value
        for name, value in (block.arguments or {}).items()
    }
    return replace(block, arguments=arguments)


def _cut(value: object) -> object:
    """A long argument of the same type: its beginning, and how much was left out."""
    if isinstance(value, str):
        left = len(value) - _SHOWN_ARGUMENT
        return f"{value[:_SHOWN_ARGUMENT]} [hame shows no more of this: {left:,} characters]"
    left = len(dump(value))
    note = f"[hame shows no more of this: {left:,} characters]"
    return [] if isinstance(value, list) else {"note": note}


def _unpictured_user(content: tuple[UserBlock, ...]) -> tuple[UserBlock, ...] | None:
    if not any(isinstance(block, Image | Document) for block in content):
        return None
    return tuple(_words_for(block) for block in content)


def _unpictured_result(result: ToolResult) -> ToolResult:
    if not any(isinstance(block, Image | Document) for block in result.content):
        return result
    content: tuple[ResultBlock, ...] = tuple(map(_words_for, result.content))
    return replace(result, content=content)


def _words_for(block: _Any) -> _Any | Text:
    if isinstance(block, Image | Document):
        name = f" {block.name}" if block.name else ""
        return Text(f"[The {_kind(block)}{name} is left out here to save room.]")
    return block


def _kind(block: Image | Document) -> str:
    return "picture" if isinstance(block, Image) else "document"
