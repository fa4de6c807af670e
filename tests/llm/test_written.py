"""Every message of a conversation is written once, and never twice."""

import pytest

from hame.base.message import Assistant, Message, Text, User
from hame.base.model import ModelFacts
from hame.base.ports import ModelRequest
from hame.llm.written import Written

FACTS = ModelFacts(backend="b", model="m", wire="w")


class Page:
    def __init__(self, facts: ModelFacts) -> None:
        self.facts = facts
        self.written: list[Message] = []

    def add(self, message: Message) -> None:
        if isinstance(message, User) and message.words == "unwritable":
            raise ValueError("unwritable")
        self.written.append(message)


def said(text: str) -> User:
    return User((Text(text),))


def asked(*messages: Message) -> ModelRequest:
    return ModelRequest(system="", messages=messages)


def test_a_growing_conversation_keeps_its_page_and_writes_only_what_is_new() -> None:
    written = Written(Page)
    first, answer, second = said("a"), Assistant((Text("b"),)), said("c")
    page = written.page(asked(first), FACTS)
    assert written.page(asked(first, answer, second), FACTS) is page
    assert page.written == [first, answer, second]


def test_asking_the_same_again_writes_nothing() -> None:
    written = Written(Page)
    request = asked(said("a"))
    assert written.page(request, FACTS) is written.page(request, FACTS)
    assert len(written.page(request, FACTS).written) == 1


def test_an_equal_message_that_is_another_one_starts_a_new_page() -> None:
    written = Written(Page)
    page = written.page(asked(said("a"), said("b")), FACTS)
    other = written.page(asked(said("a"), said("b")), FACTS)
    assert other is not page


def test_a_history_that_was_cut_starts_a_new_page() -> None:
    written = Written(Page)
    first, second = said("a"), said("b")
    long = written.page(asked(first, second), FACTS)
    short = written.page(asked(first), FACTS)
    assert (short.written, long.written) == ([first], [first, second])


def test_other_facts_start_a_new_page() -> None:
    written = Written(Page)
    request = asked(said("a"))
    other = ModelFacts(backend="b", model="m", wire="w", images=False)
    assert written.page(request, FACTS) is not written.page(request, other)


def test_conversations_that_take_turns_keep_their_pages() -> None:
    written = Written(Page)
    pages = [(said(str(n)),) for n in range(8)]
    before = [written.page(asked(*messages), FACTS) for messages in pages]
    after = [written.page(asked(*messages), FACTS) for messages in pages]
    assert all(a is b for a, b in zip(before, after, strict=True))


def test_the_conversation_that_was_silent_longest_is_forgotten_first() -> None:
    written = Written(Page)
    pages = [(said(str(n)),) for n in range(9)]
    before = [written.page(asked(*messages), FACTS) for messages in pages]
    assert written.page(asked(*pages[0]), FACTS) is not before[0]
    assert written.page(asked(*pages[8]), FACTS) is before[8]


def test_an_empty_conversation_lends_its_page_to_nobody() -> None:
    written = Written(Page)
    assert written.page(asked(), FACTS) is not written.page(asked(said("a")), FACTS)


def test_a_page_that_could_not_be_finished_is_not_used_again() -> None:
    written = Written(Page)
    first = said("a")
    page = written.page(asked(first), FACTS)
    with pytest.raises(ValueError, match="unwritable"):
        written.page(asked(first, said("b"), said("unwritable")), FACTS)
    again = written.page(asked(first), FACTS)
    assert again is not page
    assert again.written == [first]
