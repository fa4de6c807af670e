"""The calls that a session's entries hold."""

from collections.abc import Iterator, Sequence

from hame.base.entry import CallSettled, Entry, ModelAnswered
from hame.base.message import ToolCall


def made_calls(entries: Sequence[Entry]) -> Iterator[ToolCall]:
    """All calls of a session."""
    for entry in entries:
        if isinstance(entry, ModelAnswered):
            yield from entry.message.calls


def open_calls(entries: Sequence[Entry]) -> tuple[ToolCall, ...]:
    """The calls of the last answer that have no outcome yet, in the order asked."""
    settled: set[str] = set()
    for entry in reversed(entries):
        match entry:
            case CallSettled(call_id=call_id):
                settled.add(call_id)
            case ModelAnswered(message=message):
                return tuple(call for call in message.calls if call.id not in settled)
            case _:
                continue
    return ()
