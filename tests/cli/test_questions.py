import pytest

from hame.base.outcome import CommandView, DiffView
from hame.base.question import Answer, Choice, Question
from hame.cli.paint import Paint
from hame.cli.questions import Pending, decline, draw_choices, draw_question, read_answer

PLAIN = Paint(enabled=False)
ALLOW = Question(id="q", title="Run make", view=CommandView("make"), grant="make in this project")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", Answer(choice="once")),
        (" YES ", Answer(choice="once")),
        ("once", Answer(choice="once")),
        ("s", Answer(choice="session")),
        ("n", Answer(choice="no")),
        ("no", Answer(choice="no")),
        ("use ninja instead", Answer(words="use ninja instead")),
        ("", None),
        ("x", None),
        ("a", None),
    ],
)
def test_a_typed_line_is_a_choice_or_words_and_a_slip_is_neither(typed, answer):
    assert read_answer(ALLOW, typed) == answer


def test_choices_of_a_tool_have_numbers():
    question = Question(id="q", title="Which?", choices=("red", "blue"), free_text=False)
    assert read_answer(question, "2") == Answer(choice="blue")
    assert read_answer(question, "Red") == Answer(choice="red")
    assert read_answer(question, "green") is None
    assert draw_choices(question, PLAIN, 80) == ["  1  red", "  2  blue"]


def test_the_grant_that_lasts_says_what_it_covers():
    assert draw_choices(ALLOW, PLAIN, 80) == [
        "  y  yes, once",
        "  s  yes, for this session: make in this project",
        "  n  no",
        "     or say what to do instead",
    ]


def test_the_whole_command_is_shown_with_its_line_breaks_marked():
    command = "make \\\n  -j4\nrm -rf ./out"
    question = Question(id="q", title="Run make", view=CommandView(command), reason="may write")
    assert draw_question(question, PLAIN, 60) == [
        "? Run make",
        "  │ make \\⏎",
        "  │   -j4⏎",
        "  │ rm -rf ./out",
        "  may write",
    ]


def test_the_dangerous_end_of_a_long_command_is_in_sight():
    command = "echo " + "a" * 5000 + "; rm -rf ~"
    question = Question(id="q", title="Run", detail=command)
    lines = draw_question(question, PLAIN, 80)
    assert "".join(line.removeprefix("  │ ") for line in lines[1:]).endswith("; rm -rf ~")


def test_a_very_long_change_is_announced_and_can_be_seen_whole():
    diff = "@@ -0,0 +1,500 @@\n" + "\n".join(f"+line {n}" for n in range(500))
    question = Question(id="q", title="Create x", view=DiffView("x", diff))
    assert (
        "300 more lines are not shown: v shows everything" in draw_question(question, PLAIN, 60)[-1]
    )
    assert "line 499" in draw_question(question, PLAIN, 60, whole=True)[-1]


def test_a_choice_that_would_push_the_others_off_the_screen_is_announced_and_can_be_seen_whole():
    words = " ".join(f"file{n}" for n in range(200))
    question = Question(
        id="q",
        title="Run",
        detail=f"touch {words}",
        choices=(Choice.ONCE, Choice.SESSION, Choice.ALWAYS, Choice.NO),
        grant=f"`touch {words}`, these very words",
        rules=(f"allow command touch {words}",),
    )
    choices = draw_choices(question, PLAIN, 60)
    assert len(choices) < 30
    assert sum("more lines are not shown: v shows everything" in line for line in choices) == 3
    assert max(map(len, choices)) <= 60
    shown = "".join(draw_question(question, PLAIN, 60, whole=True)).replace("  │ ", "")
    assert shown.count("file199") == 3, "the command, what is granted, and the rule"


def test_why_a_command_leaves_the_sandbox_is_said_once():
    why = "git push talks to another machine with your keys"
    question = Question(
        id="q",
        title="Run",
        extent=f"it will run outside the sandbox: {why}",
        reason=f"it has to run outside the sandbox: {why}",
    )
    assert "\n".join(draw_question(question, PLAIN, 200)).count(why) == 1
    other = Question(id="q", title="Run", extent="it writes: out", reason="make: not known")
    assert draw_question(other, PLAIN, 80)[1:] == ["  it writes: out", "  make: not known"]


def test_a_contributed_tool_is_named_as_such_on_one_line():
    question = Question(id="q", title="t", source="mcp\x1b[2J\nserver")
    assert "  from mcp␛[2J server, not a tool of hame's own" in draw_question(question, PLAIN, 80)


def test_closing_a_question_is_a_no_where_there_is_one():
    assert decline(ALLOW) == Answer(choice="no")
    assert decline(Question(id="q", title="Which?", choices=("a", "b"))) == Answer()


def test_questions_that_come_together_are_shown_one_after_another():
    pending = Pending()
    first, second = Question(id="1", title="a"), Question(id="2", title="b")
    assert pending.add(first)
    assert not pending.add(second)
    assert pending.settle("1") == second
    assert pending.settle("2") is None
    assert pending.current is None


def test_a_question_that_is_withdrawn_while_another_is_shown_changes_nothing_in_sight():
    pending = Pending()
    first, second = Question(id="1", title="a"), Question(id="2", title="b")
    pending.add(first)
    pending.add(second)
    assert pending.settle("2") is None
    assert pending.current == first
