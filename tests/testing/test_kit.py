"""The kit itself: what it exports, that it loads lazily, scripts, and the scripted user."""

import subprocess
import sys
from pathlib import Path

import pytest

import hame
import hame.testing
from hame.base.message import StopReason, Text, ToolCall
from hame.base.question import Answer, Question
from hame.base.unfold import arguments_text
from hame.testing import ScriptedAsker, answer, call
from hame.testing.script import numbered, words


@pytest.mark.parametrize("name", hame.testing.__all__)
def test_every_name_it_promises_is_there(name: str) -> None:
    assert getattr(hame.testing, name) is not None
    assert name in dir(hame.testing)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        getattr(hame.testing, "Nothing")  # noqa: B009 - a name that is not known to exist


def test_importing_it_loads_no_fake() -> None:
    code = (
        "import sys, hame.testing\n"
        "loaded = [name for name in sys.modules if name.startswith('hame.testing.')]\n"
        "assert loaded == [], loaded\n"
        "assert 'anyio' not in sys.modules\n"
        "from hame.testing import FakeClock\n"
        "assert 'hame.testing.server' not in sys.modules\n"
    )
    source = str(Path(hame.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_answer_stops_for_its_calls_or_because_the_turn_is_over() -> None:
    assert answer("a").stop_reason is StopReason.END_TURN
    assert answer("a", call("b")).stop_reason is StopReason.TOOL_USE
    assert answer(call("b"), stop=StopReason.MAX_TOKENS).stop_reason is StopReason.MAX_TOKENS
    assert answer("a", Text("b", "s")).content == (Text("a"), Text("b", "s"))


def test_ids_that_a_test_gives_are_kept() -> None:
    mine = ToolCall("mine", "a", {})
    ids = [each.id for each in numbered(answer(mine, "x", call("b")), 4).calls]
    assert ids == ["mine", "call_4_1"]


@pytest.mark.parametrize("text", ["", "one", " one  two\n\nthree \t", "   ", "\n"])
def test_text_is_cut_into_words_and_nothing_is_left_out(text: str) -> None:
    assert "".join(words(text)) == text
    assert all(words(text))


def test_arguments_are_written_as_a_model_writes_them() -> None:
    assert arguments_text(call("a", path="x", n=1)) == '{"path":"x","n":1}'
    assert arguments_text(ToolCall("i", "a", None, '{"pa')) == '{"pa'
    assert arguments_text(ToolCall("i", "a", None)) == ""


QUESTION = Question(id="q1", title="Run ls?")


async def test_the_scripted_user_answers_in_order() -> None:
    words_instead = Answer(words="use rg")

    def by_title(question: Question) -> str:
        return "no" if "rm" in question.title else "once"

    asker = ScriptedAsker("once", words_instead, None, by_title)
    answers = [await asker.ask(QUESTION) for _ in range(4)]
    assert answers == [Answer(choice="once"), words_instead, None, Answer(choice="once")]
    assert asker.questions == [QUESTION] * 4
    asker.finish()


async def test_a_question_nobody_expected_is_an_error_of_the_test() -> None:
    with pytest.raises(AssertionError, match="nobody expected to be asked: Run ls"):
        await ScriptedAsker().ask(QUESTION)


def test_answers_that_were_not_needed_are_an_error_of_the_test() -> None:
    with pytest.raises(AssertionError, match="1 of 1 answers were not asked for"):
        ScriptedAsker("once").finish()
