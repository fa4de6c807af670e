"""What the wording of a request tells."""

import pytest

from hame.local.english import (
    Answer,
    changes_nothing,
    is_subject,
    is_yes_or_no,
    new_texts,
    old_texts,
    speaks_of_tests,
    subjects,
    wanted_answer,
    wants_change,
)
from hame.local.words import Span, mentions


@pytest.mark.parametrize(
    "text",
    [
        "What is the port?",
        "which file defines foo",
        "Should I replace a with b?",
        "show me a.txt",
        "Tell me what to change in a.txt.",
        "端口是多少？",  # noqa: RUF001 - the question mark of other scripts is what is tested
    ],
)
def test_a_question_and_a_request_to_look_change_nothing(text: str) -> None:
    assert changes_nothing(text)
    assert not wants_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "Replace a with b in c.txt.",
        "Could you replace a with b in c.txt?",
        "In c.txt, please change a to b",
        "create x.txt with the text hi",
    ],
)
def test_a_request_for_a_change_is_known_by_its_first_verb(text: str) -> None:
    assert wants_change(text)
    assert not changes_nothing(text)


def test_without_a_known_verb_nothing_is_ruled_out() -> None:
    text = "foo in a.py should return 2"
    assert not changes_nothing(text)
    assert not wants_change(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which file defines foo?", Answer.PATH),
        ("Where is foo?", Answer.PATH),
        ("How many workers are there?", Answer.NUMBER),
        ("What is the first line of a.txt?", Answer.FIRST_LINE),
        ("Print the last line of a.txt", Answer.LAST_LINE),
        ("Is debug on?", Answer.EVIDENCE),
        ("What is the port?", Answer.PART),
        ("Read a.md and tell me its title.", Answer.PART),
        ("Show me a.txt", Answer.WHOLE),
        ("open a.txt", Answer.WHOLE),
        ("Run the tests.", Answer.ANY),
    ],
)
def test_the_kind_of_answer_follows_from_the_wording(text: str, kind: Answer) -> None:
    assert wanted_answer(text) is kind


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("Replace 1 with 2 in c.txt.", ["1"], ["2"]),
        ("Change the port in c.txt from 8080 to 9090.", ["8080"], ["9090"]),
        ("Set the port in c.txt to 9000 instead of 8080.", ["8080"], ["9000"]),
        ("Rename the function foo to bar in c.txt.", ["foo", "function foo"], ["bar"]),
        ("In c.txt, replace red apples by green pears", ["red apples"], ["green pears"]),
        ("In c.txt replace 'a b' with 'c d'.", ["a b", "c d"], ["a b", "c d"]),
        ("Change c.txt: red -> blue", ["red"], ["blue"]),
    ],
)
def test_old_and_new_are_told_apart_by_the_words_around_them(
    text: str, old: list[str], new: list[str]
) -> None:
    taken = mentions(text, ["c.txt"])
    found = {span.text.removeprefix("'").removesuffix("'") for span in old_texts(text, taken)}
    assert set(old) <= found
    assert {span.text for span in new_texts(text, taken)} == set(new)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("Create c.txt with the text hi.", ["hi"]),
        ("Save the text version two to c.txt.", ["version two"]),
        ("Make a file c.txt that says good morning.", ["good morning"]),
        ("Make c.txt with the word yes in it.", ["yes"]),
        ("Write hello there to c.txt", ["hello there"]),
        ('Put "Hello, sea!" into c.txt.', ["Hello, sea!"]),
        ("c.txt: all is well", ["all is well"]),
        ("Create c.txt.", []),
        ("Rename c.txt to d.txt.", ["d.txt"]),
    ],
)
def test_a_dictated_text_is_found_whole(text: str, new: list[str]) -> None:
    assert [span.text for span in new_texts(text, mentions(text, ["c.txt"]))] == new


def test_a_text_may_be_longer_than_a_few_words() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve"
    said = f"Write the text {text} to c.txt."
    assert text in [span.text for span in new_texts(said, mentions(said, ["c.txt"]))]


def test_subjects_are_what_is_left_of_a_request() -> None:
    text = "What timeout does app.ini set?"
    assert subjects(text, [Span("app.ini", 18, 25)]) == {"timeout"}
    assert is_subject("km_to_miles")
    assert not is_subject("the function")
    assert not is_subject("find Bob")


def test_tests_and_yes_or_no_are_recognised() -> None:
    assert speaks_of_tests("run the test suite")
    assert speaks_of_tests("does everything pass?")
    assert not speaks_of_tests("read the latest notes")
    assert is_yes_or_no("Do the tests pass?")
    assert not is_yes_or_no("Document the tests")
