"""What was written of a conversation, so that every message is written once.

A conversation grows at its end and its messages never change. A codec therefore keeps a page for each
conversation: the wire form of the messages so far. The next request adds only what is new, and what
both requests share has the same bytes because it is the same bytes. Messages are told apart by
identity; a history that was cut or rewritten starts a new page.
"""

from collections.abc import Callable
from operator import is_
from typing import Generic, Protocol, TypeVar

from hame.base.message import Message
from hame.base.model import ModelFacts
from hame.base.ports import ModelRequest

_KEPT = 8
"""Conversations that are kept: the run, its sub-runs, and a side question or two."""


class Page(Protocol):
    """The wire form of a conversation."""

    def add(self, message: Message) -> None:
        """Write the next message."""
        ...


PageT = TypeVar("PageT", bound=Page)


class _Entry(Generic[PageT]):
    __slots__ = ("facts", "messages", "page")

    def __init__(self, page: PageT, facts: ModelFacts) -> None:
        self.page = page
        self.facts = facts
        self.messages: tuple[Message, ...] = ()

    def begins(self, messages: tuple[Message, ...], facts: ModelFacts) -> bool:
        if len(self.messages) > len(messages) or self.facts != facts:
            return False
        return all(map(is_, self.messages, messages))


class Written(Generic[PageT]):
    """The pages of the conversations a codec was asked about last."""

    __slots__ = ("_begin", "_entries")

    def __init__(self, begin: Callable[[ModelFacts], PageT]) -> None:
        """`begin` makes an empty page."""
        self._begin = begin
        self._entries: list[_Entry[PageT]] = []

    def page(self, request: ModelRequest, facts: ModelFacts) -> PageT:
        """The page of this request's conversation, with all its messages on it."""
        entry = self._take(request.messages, facts)
        for message in request.messages[len(entry.messages) :]:
            entry.page.add(message)
        entry.messages = request.messages
        self._entries = [entry, *self._entries][:_KEPT]
        return entry.page

    def _take(self, messages: tuple[Message, ...], facts: ModelFacts) -> _Entry[PageT]:
        """The page that these messages continue; it comes back once they are written."""
        for entry in self._entries:
            if entry.messages and entry.begins(messages, facts):
                self._entries.remove(entry)
                return entry
        return _Entry(self._begin(facts), facts)
