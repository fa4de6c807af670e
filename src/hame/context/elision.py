"""Which old results are left out when the window fills: many at once, so that the cache breaks once."""

from collections.abc import Sequence

import msgspec

from hame.base.message import Assistant, Text, ToolCall, ToolResult, ToolResults
from hame.base.ports import Blobs
from hame.context.projection import Projection, Shown
from hame.context.stubs import can_be_cut, stub_text
from hame.context.tokens import blocks_tokens, text_tokens

_STUB = 90
"""Tokens, about, of a stub: a result must be larger to be worth leaving out."""
_LEFT_OUT = "[Left out to save room:"


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """What could be left out, and what that would free."""

    results: tuple[tuple[ToolCall | None, ToolResult], ...]
    arguments: tuple[str, ...]
    freed: int
    """Tokens, estimated."""


def find_stale(projection: Projection, protected: int) -> Candidates:
    """Results and long arguments before the last `protected` tokens (estimated) of the view.

    The results the model has not answered to yet are not among them.
    """
    results: list[tuple[ToolCall | None, ToolResult]] = []
    arguments: list[str] = []
    freed = 0
    calls: dict[str, ToolCall] = {}
    for shown in projection.shown[: _first_protected(projection.shown, protected)]:
        match shown.message:
            case Assistant() as answer:
                calls = {call.id: call for call in answer.calls}
                for call in filter(can_be_cut, answer.calls):
                    arguments.append(call.id)
                    freed += blocks_tokens((call,)) - _STUB
            case ToolResults(results=found):
                for result in filter(_is_worth_it, found):
                    results.append((calls.get(result.call_id), result))
                    freed += blocks_tokens(result.content) - _STUB
            case _:
                pass
    return Candidates(results=tuple(results), arguments=tuple(arguments), freed=freed)


def stubs_for(candidates: Candidates, blobs: Blobs | None) -> dict[str, str]:
    """The stubs by call id; what they stand for is kept whole where it can be."""
    stubs: dict[str, str] = {}
    for call, result in candidates.results:
        text = "\n".join(block.text for block in result.content if isinstance(block, Text))
        kept = blobs.put(text) if blobs is not None and text else None
        stubs[result.call_id] = stub_text(call, result, kept)
    return stubs


def _first_protected(view: Sequence[Shown], protected: int) -> int:
    """Place of the first message that is not touched: the last step is never."""
    place = len(view)
    left = protected
    while place > 0:
        shown = view[place - 1]
        left -= shown.size
        if left < 0 and place <= len(view) - 1:
            break
        place -= 1
    return place


def _is_worth_it(result: ToolResult) -> bool:
    if any(not isinstance(block, Text) for block in result.content):
        return True
    texts = [block.text for block in result.content if isinstance(block, Text)]
    if texts and texts[0].startswith(_LEFT_OUT):
        return False
    return sum(map(text_tokens, texts)) > 2 * _STUB
