"""The calls that a session holds."""

from collections.abc import Iterator, Sequence

from hame.base.entry import CallSettled, Entry, ModelAnswered
from hame.base.kinds import last_place, places
from hame.base.message import Assistant, Message, ToolCall


def made_calls(messages: Sequence[Message]) -> Iterator[ToolCall]:
    """All calls that a model is shown."""
    for message in messages:
        if isinstance(message, Assistant):
            yield from message.calls


def open_calls(entries: Sequence[Entry]) -> tuple[ToolCall, ...]:
    """The calls of the last answer that have no outcome yet, in the order asked."""
    place = last_place(entries, (ModelAnswered,))
    answer = entries[place] if place >= 0 else None
    if not isinstance(answer, ModelAnswered) or not answer.message.calls:
        return ()
    later = (entries[each] for each in places(entries, (CallSettled,), place))
    settled = {each.call_id for each in later if isinstance(each, CallSettled)}
    return tuple(call for call in answer.message.calls if call.id not in settled)
