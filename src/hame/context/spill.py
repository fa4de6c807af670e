"""Spill at the door: what is too large for the history is kept whole beside it.

A text beyond its budget goes to the store of results as it is, and enters the history as its beginning,
its end and the name `result:ID`, under which read_file and search_text find the whole. The history is
bounded when it is written, not when it is sent.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from hame.base.message import Document, Image, Note, ResultBlock, Text, User, UserBlock
from hame.base.outcome import CommandView, DiffView, Done, Failed, Outcome, TextView, View
from hame.base.ports import Blobs
from hame.context.cut import cut_middle
from hame.context.tokens import BYTES_PER_TOKEN, text_size

RESULT_SHARE = 0.1
"""Of the window: what one result may take."""
ANSWER_SHARE = 0.25
"""Of the window: what the results of one answer may take together."""
MESSAGE_SHARE = 0.4
"""Of the window: what one message of the user's may take with everything attached."""
LEAST_BYTES, MOST_BYTES = 1_000, 48_000
"""Of one result, whatever the window."""
VIEW_BYTES = 24_000
"""Of what eyes are shown of a call."""


def spill_outcome(outcome: Outcome, window: int, among: int, blobs: Blobs | None) -> Outcome:
    """An outcome whose texts fit, when its answer asked for `among` calls."""
    limit = _result_bytes(window, among)
    match outcome:
        case Done(content=content, view=view):
            each = _each([block.text for block in content if isinstance(block, Text)], limit)
            blocks = tuple(_result_block(block, each, blobs) for block in content)
            shown = _view(view)
            if shown is view and all(map(_is, blocks, content)):
                return outcome
            return replace(outcome, content=blocks, view=shown)
        case Failed(message=message, view=view):
            text = spill_text(message, limit, blobs)
            return replace(outcome, message=text, view=_view(view))
        case _:
            return outcome


def spill_message(message: User, window: int, blobs: Blobs | None) -> User:
    """A message of the user's that fits; what is cut is its largest texts."""
    limit = int(window * MESSAGE_SHARE * BYTES_PER_TOKEN)
    texts = [block.text for block in message.content if isinstance(block, Text | Note)]
    if sum(map(text_size, texts)) <= limit:
        return message
    each = _each(texts, limit)

    def fitted(block: UserBlock) -> UserBlock:
        match block:
            case Text(text=text) | Note(text=text):
                return replace(block, text=spill_text(text, each, blobs))
            case Image() | Document():
                return block

    return User(tuple(map(fitted, message.content)))


def spill_text(text: str, limit: int, blobs: Blobs | None) -> str:
    """A text of at most about `limit` bytes; the whole is kept where it can be."""
    if text_size(text) <= limit:
        return text
    kept = blobs.put(text) if blobs is not None else None
    where = (
        f"all of it is result:{kept}, which read_file and search_text take"
        if kept is not None
        else "it could not be kept"
    )

    def mark(left: int) -> str:
        return f"[{left:,} of {len(text):,} characters left out here; {where}]"

    return cut_middle(text, limit, mark)


def _result_bytes(window: int, among: int) -> int:
    tokens = min(window * RESULT_SHARE, window * ANSWER_SHARE / max(among, 1))
    return max(LEAST_BYTES, min(int(tokens * BYTES_PER_TOKEN), MOST_BYTES))


def _each(texts: Sequence[str], limit: int) -> int:
    """The largest size of each text so that all together keep to the limit."""
    left = limit
    sizes = sorted(map(text_size, texts))
    for place, size in enumerate(sizes):
        share = left // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return limit


def _result_block(block: ResultBlock, limit: int, blobs: Blobs | None) -> ResultBlock:
    if isinstance(block, Text) and text_size(block.text) > limit:
        return replace(block, text=spill_text(block.text, limit, blobs))
    return block


def _view(view: View | None) -> View | None:
    match view:
        case TextView(text=text) if text_size(text) > VIEW_BYTES:
            return replace(view, text=_shown(text))
        case DiffView(diff=diff) if text_size(diff) > VIEW_BYTES:
            return replace(view, diff=_shown(diff))
        case CommandView(output=output) if text_size(output) > VIEW_BYTES:
            return replace(view, output=_shown(output))
        case _:
            return view


def _shown(text: str) -> str:
    return cut_middle(text, VIEW_BYTES, lambda left: f"[{left:,} characters not shown]")


def _is(one: msgspec.Struct, other: msgspec.Struct) -> bool:
    return one is other
