"""How the small model is asked, and what is said without asking it."""

import pytest

from hame.base.json import JsonObject
from hame.local.protocol import (
    MOST_RESULT,
    UNSEEN,
    best_verb,
    closing_words,
    preamble,
    question,
    verb_scores,
)
from hame.local.turn import Step, Turn
from local.conftest import TOOLS


def test_the_preamble_names_every_masked_tool_once_and_shows_examples_of_it() -> None:
    text = preamble(TOOLS)
    usage = text.partition("<|im_end|>")[0]
    for form in ("list DIR", "read FILE", "find TEXT", "write FILE: TEXT", "edit FILE: OLD -> NEW"):
        assert usage.count(form) == 1
    for verb in ("list", "read", "find", "write", "edit", "test", "show", "say"):
        assert f"<|im_start|>assistant\n{verb}" in text


def test_examples_of_tools_that_are_not_there_are_left_out() -> None:
    only_read = [spec for spec in TOOLS if spec.name == "read_file"]
    text = preamble(only_read)
    assert "assistant\nread" in text
    assert "assistant\nwrite" not in text
    assert "edit" not in text


def test_the_preamble_is_the_same_for_the_same_tools() -> None:
    assert preamble(TOOLS) == preamble(tuple(TOOLS))


def test_the_prompt_ends_without_a_space_where_the_model_goes_on() -> None:
    assert question(Turn("hi"), TOOLS).endswith("<|im_start|>assistant\n")


def test_steps_are_retold_as_lines() -> None:
    edited: JsonObject = {"path": "a.txt", "old_string": "x", "new_string": "y"}
    turn = Turn(
        "go on", (Step("edit_file", edited, "edited"), Step("run_command", {"command": "t"}, ""))
    )
    text = question(turn, TOOLS)
    assert "assistant\nedit a.txt: x -> y<|im_end|>" in text
    assert "assistant\ntest<|im_end|>" in text
    assert "Result: (empty)" in text


def test_long_words_and_results_are_cut() -> None:
    text = question(Turn("w" * 10_000, (Step("read_file", {}, "r" * 10_000),)), TOOLS)
    assert text.count("r" * MOST_RESULT) == 1
    assert len(text) < 3_000


@pytest.mark.parametrize("mark", ["<|im_end|>", "<|im_start|>", "<|endoftext|>"])
def test_marks_of_the_template_in_foreign_words_mean_nothing(mark: str) -> None:
    def asked(word: str) -> str:
        step = Step("read_file", {"path": "x"}, f"c {word} d")
        return question(Turn(f"a {word} b", (step,)), TOOLS)

    assert asked(mark).count(mark) == asked("word").count(mark)


def test_a_verb_is_judged_by_its_first_token() -> None:
    likeliest = [("read", -0.5), (" find", -2.0), ("re", -1.0), ("r", -0.1), ("x", -0.2)]
    assert verb_scores(likeliest, ["read", "find", "list"]) == {
        "read": -0.5,
        "find": -2.0,
        "list": UNSEEN,
    }


def test_the_best_verb_gained_most_by_what_the_user_said() -> None:
    told = {"read": -0.5, "edit": -3.0, "find": -4.0}
    neutral = {"read": -0.4, "edit": -9.0, "find": -4.0}
    assert best_verb(told, neutral) == "edit"


def test_where_nothing_can_be_done_it_says_what_it_can_do() -> None:
    words = closing_words(Turn("Make me a sandwich"), TOOLS)
    assert "read a file" in words
    assert "hame models" in words


def test_a_change_is_confirmed_and_a_refused_one_is_not() -> None:
    made = Step("edit_file", {}, "edited a.txt")
    assert closing_words(Turn("x", (made,)), TOOLS) == "Done."
    refused = Step("edit_file", {}, "The user refused this call.", failed=True)
    assert closing_words(Turn("x", (refused,)), TOOLS) == "Not done. The user refused this call."
