import io

from hame.base import event as ev
from hame.base.errors import ErrorKind, Failure
from hame.base.model import Usage
from hame.base.outcome import Cancelled, CommandView, Denied, DiffView, Done, Failed
from hame.base.question import Answer, Question
from hame.base.run import RunDone, RunFailed
from hame.cli.plain import PlainView

FAILURE = Failure(kind=ErrorKind.OVERLOADED, message="overloaded", hint="Try later.")


def shown(*events, **options):
    out = io.StringIO()
    view = PlainView(out, **options)
    for event in events:
        view.show(event)
    view.tick()
    view.close()
    return out.getvalue()


def test_words_come_as_they_are_and_harmless():
    assert shown(ev.TextDelta("a\x1b[2J"), ev.TextDelta("b")) == "a␛[2Jb\n"
    assert shown(ev.TextDelta("a"), answers=False) == ""
    assert shown(ev.TextDelta("a", parent="r")) == ""


def test_thinking_is_marked_where_it_is_wanted():
    events = (ev.ThinkingDelta("hm"), ev.TextDelta("so"))
    assert shown(*events, thinking=True) == "(thinking) hm\nso\n"
    assert shown(*events) == "so\n"


def test_a_call_is_a_line_with_its_result():
    start = ev.CallStarted(call="c", tool="run_command", title="Run", summary="make")

    def settled(outcome):
        return shown(
            start, ev.CallSettled(call="c", tool="run_command", outcome=outcome, seconds=2)
        )

    view = CommandView("make", "a\n" * 10, 1)
    assert settled(Done((), view)).startswith("[failed] Run make: exit code 1 (2.0 s)\n")
    assert "    ... 2 earlier lines\n" in settled(Done((), view))
    put_right = CommandView("make", "", 0, aftermath=("put back: .envrc",))
    assert settled(Done((), put_right)).endswith("\n    [put back: .envrc]\n")
    assert settled(Done(())) == "[ok] Run make (2.0 s)\n"
    assert settled(Failed("no")) == "[failed] Run make: no (2.0 s)\n"
    assert settled(Denied("why")) == "[refused] Run make: not allowed: why (2.0 s)\n"
    assert settled(Cancelled()) == "[stopped] Run make: stopped by the user (2.0 s)\n"
    assert "    +b\n" in settled(Done((), DiffView("x", "@@ -1 +1 @@\n-a\n+b\n", 1, 1)))


def test_questions_and_answers_are_lines():
    question = Question(id="q", title="Run make")
    text = shown(
        ev.QuestionAsked(question),
        ev.QuestionAnswered(question="q", answer=Answer(words="use ninja")),
        ev.QuestionWithdrawn(question="r", reason="stopped"),
    )
    assert text.splitlines() == [
        "? Run make",
        "  y  yes, once",
        "  s  yes, for this session",
        "  n  no",
        "     or say what to do instead",
        "answered: use ninja",
        "withdrawn: stopped",
    ]


def test_asking_again_repeats_the_choices_or_everything():
    out = io.StringIO()
    view = PlainView(out)
    view.ask_again()
    view.show(ev.QuestionAsked(Question(id="q", title="Sure?")))
    view.ask_again()
    view.ask_again(whole=True)
    assert out.getvalue().count("? Sure?") == 2
    assert "That is none of the answers." in out.getvalue()


def test_the_course_of_a_run_is_told():
    text = shown(
        ev.RunStarted(session="s", model="mock/m", mode="ask", prompt="p", sandbox="A"),
        ev.StepStarted(1),
        ev.WaitStarted(seconds=5, failure=FAILURE, attempt=1),
        ev.AnswerAbandoned(failure=FAILURE, again=False),
        ev.SteeringTaken("more"),
        ev.ModeChanged("plan"),
        ev.Compacted(tokens_before=1000, tokens_after=10),
        ev.ConstraintChanged("tabs", added=False),
        ev.Notice("careful", "warning"),
        ev.Notice("by the way"),
        ev.RunEnded(result=RunFailed(FAILURE), usage=Usage(), steps=1, seconds=1),
    )
    assert text.splitlines() == [
        "model mock/m, mode ask, sandbox A; Ctrl-C stops",
        "waiting 5.0 s (attempt 1 failed): overloaded",
        "the answer broke off: overloaded",
        "delivered: more",
        "mode: plan",
        "history shortened: 1.0k to 10 tokens",
        "no longer holds: tabs",
        "warning: careful",
        "by the way",
        "error: overloaded",
        "Try later.",
        "1 step · 1.0 s",
    ]


def test_a_run_that_is_done_ends_with_its_count():
    ended = ev.RunEnded(result=RunDone("x"), usage=Usage(), steps=2, seconds=1, cost_usd=0)
    assert shown(ev.TextDelta("x"), ended) == "x\n2 steps · 1.0 s · 0 in, 0 out · $0.00\n"
