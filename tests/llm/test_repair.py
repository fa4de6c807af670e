"""Any history becomes legal; a legal one stays as it is."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.message import (
    Assistant,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    Origin,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import ModelFacts, Quirk
from hame.llm.repair import Repair

OWN = Origin("openai_chat", "acme", "m1")
FOREIGN = Origin("anthropic_messages", "anthropic", "claude")

FACTS = ModelFacts(backend="acme", model="m1", wire="openai_chat", vendor="Acme")
PLAIN = ModelFacts(
    backend="acme",
    model="m1",
    wire="openai_chat",
    images=False,
    quirks=frozenset({Quirk.ALTERNATING_ROLES, Quirk.SHORT_CALL_IDS}),
)
GEMINI = ModelFacts(backend="gemini", model="g", wire="gemini", documents=True)


def repair(history: tuple[Message, ...], facts: ModelFacts) -> Any:
    """The repaired history, untyped: the tests know what stands where."""
    return Repair(facts)(history)


def says(text: str) -> User:
    return User((Text(text),))


def asks(*ids: str, origin: Origin | None = OWN, text: str = "") -> Assistant:
    calls = tuple(ToolCall(id=name, name="read_file", arguments={"path": name}) for name in ids)
    words = (Text(text),) if text else ()
    return Assistant((*words, *calls), origin=origin, stop_reason=StopReason.TOOL_USE)


def result(call_id: str, text: str = "fine", *, is_error: bool = False) -> ToolResult:
    return ToolResult(call_id=call_id, name="read_file", content=(Text(text),), is_error=is_error)


def results(*ids: str) -> ToolResults:
    return ToolResults(tuple(result(name) for name in ids))


# ---------------------------------------------------------------- the validator


def check_legal(messages: tuple[Message, ...], facts: ModelFacts) -> None:
    """What every provider demands, taken together."""
    if not messages:
        return
    assert isinstance(messages[0], User)
    own = Origin(facts.wire, facts.backend, facts.model)
    seen: set[str] = set()
    for at, message in enumerate(messages):
        following = messages[at + 1] if at + 1 < len(messages) else None
        match message:
            case User(content=content):
                assert content
                check_files(content, facts)
                if Quirk.ALTERNATING_ROLES in facts.quirks:
                    assert not isinstance(following, User)
            case Assistant():
                check_answer(message, facts, own)
                ids = [call.id for call in message.calls]
                assert not seen.intersection(ids)
                assert len(set(ids)) == len(ids)
                seen.update(ids)
                if ids:
                    assert isinstance(following, ToolResults)
                    assert [item.call_id for item in following.results] == ids
                elif not (message.stop_reason is StopReason.PAUSE_TURN and message.origin == own):
                    assert isinstance(following, User)
            case ToolResults(results=given_results):
                assert at
                before = messages[at - 1]
                assert isinstance(before, Assistant)
                assert len(before.calls) == len(given_results)
                for item in given_results:
                    assert item.content
                    check_files(item.content, facts)
                    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", item.name)


def check_files(content, facts: ModelFacts) -> None:
    for block in content:
        if isinstance(block, Text | Note):
            assert block.text.strip()
        if isinstance(block, Image):
            assert facts.images
        if isinstance(block, Document):
            assert facts.documents


def check_answer(message: Assistant, facts: ModelFacts, own: Origin) -> None:
    assert message.content
    assert any(not isinstance(block, Thinking) for block in message.content)
    for block in message.content:
        match block:
            case Text(text=text, signature=signature):
                assert text.strip() or signature
                assert signature is None or message.origin == own
            case Thinking():
                assert message.origin == own
            case Opaque(wire=wire):
                assert message.origin == own
                assert wire == facts.wire
            case Image():
                assert facts.images
            case ToolCall():
                assert block.arguments is not None
                assert block.malformed is None
                assert block.signature is None or message.origin == own
                assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", block.name)
                if Quirk.SHORT_CALL_IDS in facts.quirks:
                    assert re.fullmatch(r"[a-zA-Z0-9]{9}", block.id)
                elif facts.wire == "openai_chat":
                    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", block.id)
                assert block.id


# ---------------------------------------------------------------- arbitrary histories

texts = st.sampled_from(["", " ", "\n\n", "hello", "wörld 😊", "bad \ud83d end"]) | st.text(
    max_size=8
)
ids = st.sampled_from(["a", "b", "c", "", "call:1", "x" * 50, "Abc123xyz", "\ud800"])
names = st.sampled_from(["read_file", "bad name", "", "n" * 70, "ü"])
signatures = st.none() | st.just("sig")
images = st.builds(Image, st.just("image/png"), st.just(b"png"), texts, signatures)
documents = st.builds(Document, st.just("application/pdf"), st.just(b"pdf"), texts)
arguments = st.none() | st.dictionaries(texts, texts | st.integers() | st.lists(texts), max_size=2)
calls = st.builds(
    lambda call_id, name, args, raw, signature: ToolCall(
        id=call_id,
        name=name,
        arguments=args,
        malformed=None if args is not None else raw,
        signature=signature,
    ),
    ids,
    names,
    arguments,
    texts,
    signatures,
)
opaques = st.builds(
    Opaque,
    st.sampled_from(["openai_chat", "anthropic_messages", "gemini"]),
    st.sampled_from(["reasoning", "server_tool_use", "redacted_thinking", "refusal"]),
    st.just({}),
)
answers = st.builds(
    lambda content, origin, stop: Assistant(tuple(content), origin=origin, stop_reason=stop),
    st.lists(
        st.builds(Text, texts, signatures)
        | st.builds(Thinking, texts, signatures)
        | opaques
        | calls
        | calls
        | images,
        max_size=5,
    ),
    st.sampled_from([None, OWN, FOREIGN, Origin("gemini", "gemini", "g")]),
    st.sampled_from([StopReason.END_TURN, StopReason.TOOL_USE, StopReason.PAUSE_TURN]),
)
users = st.builds(
    lambda content: User(tuple(content)),
    st.lists(
        st.builds(Text, texts) | st.builds(Note, texts, texts) | images | documents, max_size=3
    ),
)
given_results = st.builds(
    lambda call_id, name, content, failed: ToolResult(
        call_id=call_id, name=name, content=tuple(content), is_error=failed
    ),
    ids,
    names,
    st.lists(st.builds(Text, texts) | images | documents, max_size=2),
    st.booleans(),
)
result_messages = st.builds(
    lambda content: ToolResults(tuple(content)), st.lists(given_results, max_size=4)
)
histories = st.lists(users | answers | answers | result_messages, max_size=10).map(tuple)
some_facts = st.sampled_from([FACTS, PLAIN, GEMINI])


@given(histories, some_facts)
def test_any_history_becomes_legal(history, facts):
    check_legal(repair(history, facts), facts)


@given(histories, some_facts)
def test_a_repaired_history_needs_no_repair(history, facts):
    once = repair(history, facts)
    twice = repair(once, facts)
    assert len(twice) == len(once)
    assert all(a is b for a, b in zip(twice, once, strict=True))


@given(histories, histories, some_facts)
def test_a_longer_history_repairs_to_the_same_beginning(history, more, facts):
    onward = says("and then?")
    answer = asks(origin=OWN, text="next")
    shorter = repair((*history, onward), facts)
    longer = repair((*history, onward, answer, *more), facts)
    assert longer[: len(shorter)] == shorter


@given(st.lists(histories, min_size=1, max_size=4), some_facts)
def test_a_repair_that_remembers_gives_what_a_fresh_one_gives(steps, facts):
    remembering = Repair(facts)
    history: tuple[Message, ...] = ()
    for step in steps:
        history = (*history, *step)
        assert remembering(history) == repair(history, facts)
    assert remembering(history[1:]) == repair(history[1:], facts)


@given(histories, some_facts)
def test_what_was_repaired_stays_the_very_same_message_as_the_history_grows(history, facts):
    remembering = Repair(facts)
    whole = (*history, says("on"), asks(text="yes"))
    first = remembering(whole)
    second = remembering((*whole, says("more"), asks(text="sure")))
    assert all(a is b for a, b in zip(first[:-1], second, strict=False))


# ---------------------------------------------------------------- by kind


def test_a_legal_history_comes_back_as_the_very_same_messages():
    history = (says("hi"), asks("a", "b"), results("a", "b"), asks(text="done"), says("more"))
    repaired = repair(history, FACTS)
    assert len(repaired) == len(history)
    assert all(a is b for a, b in zip(repaired, history, strict=True))


def test_a_call_without_a_result_gets_one_that_says_so():
    given_back = repair((says("hi"), asks("a", "b"), results("b")), FACTS)[2]
    first, second = given_back.results
    assert first.is_error
    assert "interrupted" in first.content[0].text
    assert second == result("b")


def test_results_stand_in_the_order_asked_right_after_their_answer():
    history = (says("hi"), asks("a", "b"), says("wait"), results("b"), results("a"))
    repaired = repair(history, FACTS)
    assert repaired == (says("hi"), asks("a", "b"), results("a", "b"), says("wait"))


def test_a_result_without_its_call_is_left_out():
    assert repair((says("hi"), results("a")), FACTS) == (says("hi"),)


@pytest.mark.parametrize("text", ["", "\n\n", "  "])
def test_an_answer_of_white_space_is_left_out(text):
    history = (says("hi"), Assistant((Text(text),), origin=OWN), says("again"))
    assert repair(history, FACTS) == (says("hi"), says("again"))


def test_users_are_joined_only_where_roles_must_alternate():
    history = (says("one"), says("two"))
    assert repair(history, FACTS) == history
    assert repair(history, PLAIN) == (User((Text("one"), Text("two"))),)


def test_a_call_that_did_not_parse_goes_back_empty_with_a_result_that_says_so():
    call = ToolCall(id="a", name="read_file", arguments=None, malformed='{"path": "x')
    _, answer, given_back = repair((says("hi"), Assistant((call,), origin=OWN)), FACTS)
    assert answer.calls[0].arguments == {}
    assert given_back.results[0].is_error
    assert '{"path": "x' in given_back.results[0].content[0].text


def test_a_given_result_of_a_call_that_did_not_parse_is_kept_as_an_error():
    call = ToolCall(id="a", name="read_file", arguments=None, malformed="{")
    history = (says("hi"), Assistant((call,), origin=OWN), ToolResults((result("a", "bad JSON"),)))
    given_back = repair(history, FACTS)[2]
    assert given_back.results == (result("a", "bad JSON", is_error=True),)


def test_thinking_and_signatures_go_back_to_the_same_model_in_the_same_order():
    content = (
        Thinking("a", "s1"),
        Text("b", signature="s2"),
        Thinking("", "s3"),
        ToolCall(id="a", name="f", arguments={}, signature="s4"),
        Opaque("openai_chat", "reasoning_details", {}),
    )
    own = Assistant(content, origin=OWN)
    assert repair((says("hi"), own, results("a")), FACTS)[1] is own


def test_what_another_model_thought_signed_or_made_is_left_out():
    content = (
        Thinking("a", "s1"),
        Text("b", signature="s2"),
        ToolCall(id="a", name="f", arguments={}, signature="s3"),
        Opaque("openai_chat", "reasoning_details", {}),
        Image("image/png", b"", signature="s4"),
    )
    for origin in (FOREIGN, None, Origin("openai_chat", "acme", "m2")):
        foreign = Assistant(content, origin=origin)
        answer = repair((says("hi"), foreign, results("a")), FACTS)[1]
        assert answer.content == (
            Text("b"),
            ToolCall(id="a", name="f", arguments={}),
            Text("[an image that was made here, left out]"),
        )
    gemini = repair((says("hi"), Assistant(content), results("a")), GEMINI)[1]
    assert gemini.content[-1] == Image("image/png", b"")


def test_reasoning_alone_is_no_answer():
    alone = Assistant((Thinking("hm", "s"), Opaque("openai_chat", "reasoning", {})), origin=OWN)
    assert repair((says("hi"), alone, says("and?")), FACTS) == (says("hi"), says("and?"))


def test_ids_are_mapped_the_same_way_for_call_and_result():
    history = (says("hi"), asks("toolu_01|weird", origin=FOREIGN), results("toolu_01|weird"))
    _, answer, given_back = repair(history, FACTS)
    assert answer.calls[0].id == given_back.results[0].call_id
    assert re.fullmatch(r"call_[0-9a-f]{24}", answer.calls[0].id)


def test_an_id_that_comes_again_gets_another():
    history = (says("hi"), asks("a"), results("a"), asks("a"), results("a"))
    repaired = repair(history, FACTS)
    assert repaired[1].calls[0].id == "a"
    assert repaired[3].calls[0].id != "a"
    assert repaired[3].calls[0].id == repaired[4].results[0].call_id


def test_mistral_gets_ids_of_nine_letters_or_digits():
    repaired = repair((says("hi"), asks("call_1"), results("call_1")), PLAIN)
    assert re.fullmatch(r"[a-z0-9]{9}", repaired[1].calls[0].id)


def test_pictures_become_words_where_they_are_not_taken():
    picture = Image("image/png", b"", "cat.png")
    shown = ToolResults((ToolResult(call_id="a", name="f", content=(picture,)),))
    history = (User((Text("see"), picture)), asks("a"), shown)
    repaired = repair(history, PLAIN)
    assert "cat.png left out" in repaired[0].content[1].text
    assert "cat.png left out" in repaired[2].results[0].content[0].text
    kept = repair(history, FACTS)
    assert kept[0] is history[0]


def test_a_document_becomes_words_where_it_is_not_taken():
    paper = User((Document("application/pdf", b"", "a.pdf"),))
    assert "a.pdf left out" in repair((paper,), FACTS)[0].content[0].text
    assert repair((paper,), GEMINI)[0] is paper


def test_an_empty_result_says_that_there_was_no_output():
    empty = ToolResults((ToolResult(call_id="a", name="read_file", content=()),))
    repaired = repair((says("hi"), asks("a"), empty), FACTS)
    assert repaired[2].results[0].content == (Text("(no output)"),)


def test_a_history_that_ends_with_an_answer_is_continued_by_the_user():
    repaired = repair((says("hi"), asks(text="well")), FACTS)
    assert isinstance(repaired[-1], User)


def test_an_answer_that_the_provider_paused_stays_the_last():
    paused = Assistant((Text("searching"),), origin=OWN, stop_reason=StopReason.PAUSE_TURN)
    assert repair((says("hi"), paused), FACTS)[-1] is paused
    assert isinstance(repair((says("hi"), paused), GEMINI)[-1], User)


def test_a_history_that_begins_with_an_answer_gets_a_beginning():
    repaired = repair((asks(text="well"), says("hi")), FACTS)
    assert isinstance(repaired[0], User)
    assert repaired[1:] == (asks(text="well"), says("hi"))


def test_an_empty_history_stays_empty():
    assert repair((), FACTS) == ()


def test_a_name_no_wire_takes_is_spelt_so_that_all_do():
    call = ToolCall(id="a", name="functions.read:0", arguments={})
    repaired = repair((says("hi"), Assistant((call,), origin=OWN)), FACTS)
    assert repaired[1].calls[0].name == "functions_read_0"
    assert repaired[2].results[0].name == "functions_read_0"
