"""Histories of every kind, as a wire gets them: arbitrary ones, repaired."""

from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from hame.base.message import (
    Assistant,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import ModelFacts
from hame.llm.repair import Repair

Histories = Callable[[ModelFacts, list[Opaque]], st.SearchStrategy[tuple[Message, ...]]]

_texts = st.sampled_from([
    *("", "\n\n", "\u3000", "hello", "wörld 😊", 'say "hi"\\n', "bad \ud83d end", "\x00")
]) | st.text(max_size=6)
_ids = st.sampled_from(["a", "b", "", "call:1", "x" * 70, "call_1|fc_1", "\ud83d", "f.read:0"])
_names = st.sampled_from(["read_file", "run", "", "no such tool", "mcp.x/y", "ü", "n" * 80])
_signatures = st.none() | st.just("c2lnbmF0dXJl")
_arguments = st.dictionaries(_texts, _texts | st.integers() | st.none(), max_size=2)
_images = st.builds(Image, st.just("image/png"), st.just(b"png"), _texts, _signatures)
_documents = st.builds(Document, st.just("application/pdf"), st.just(b"%PDF"), _texts)
_calls = st.builds(
    ToolCall,
    _ids,
    _names,
    st.none() | _arguments,
    st.none() | st.sampled_from(["", '{"a": ', "[1]", "\ud83d"]),
    _signatures,
)
_words = st.builds(Text, _texts) | st.builds(Note, _texts, _texts)
_users = st.lists(_words | _images | _documents, max_size=3).map(lambda c: User(tuple(c)))
_results = st.builds(
    lambda call_id, content, failed: ToolResult(call_id, "read_file", tuple(content), failed),
    _ids,
    st.lists(st.builds(Text, _texts) | _images | _documents, max_size=2),
    st.booleans(),
)
_answered = st.lists(_results, max_size=3).map(lambda results: ToolResults(tuple(results)))


@pytest.fixture(scope="session")
def histories(any_histories: Histories) -> Histories:
    """Makes a strategy of histories that are legal for a model, its own opaque blocks among them."""
    return lambda facts, own: any_histories(facts, own).map(Repair(facts))


@pytest.fixture(scope="session")
def any_histories() -> Histories:
    """Makes a strategy of histories as a session may hold them."""

    def strategy(facts: ModelFacts, own: list[Opaque]) -> st.SearchStrategy[tuple[Message, ...]]:
        here = Origin(facts.wire, facts.backend, facts.model)
        opaque = st.sampled_from([*own, Opaque("another_wire", "reasoning", {"type": "reasoning"})])
        blocks = (
            st.builds(Text, _texts, _signatures)
            | st.builds(Thinking, _texts, _signatures)
            | opaque
            | _calls
            | _images
        )
        answers = st.builds(
            lambda content, origin: Assistant(tuple(content), origin=origin),
            st.lists(blocks, max_size=5),
            st.sampled_from([None, here, here, Origin("another_wire", "b", "m")]),
        )
        messages = st.lists(_users | answers | answers | _answered, max_size=10)
        return messages.map(tuple)

    return strategy
