import io
import re

import msgspec
import pytest

from hame.base import event as ev
from hame.base.errors import ErrorKind, Failure
from hame.base.model import Usage
from hame.base.outcome import (
    CommandView,
    Corrected,
    DiffView,
    Done,
    Failed,
)
from hame.base.question import Answer, Question
from hame.base.run import RunDone, RunFailed, Stopped
from hame.cli.drawing import Drawing
from hame.cli.paint import Paint
from hame.cli.render import TerminalView
from hame.cli.screen import Screen

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FAILURE = Failure(kind=ErrorKind.RATE_LIMIT, message="too many requests", retryable=True)


class Desk:
    """A view whose transcript and live part can be read apart."""

    def __init__(self, columns=61, rows=24, typed=None, **options):
        self.now = 0.0
        self.kept = []
        self.live = []
        screen = Screen(io.StringIO(), lambda: (columns, rows))
        screen.draw = self._draw
        self.view = TerminalView(
            screen,
            Paint(enabled=True),
            drawing=Drawing("36"),
            typed=lambda: typed,
            clock=lambda: self.now,
            **options,
        )

    def _draw(self, stay, live):
        self.kept += [ESCAPES.sub("", line) for line in stay]
        self.live = [ESCAPES.sub("", line) for line in live]

    def show(self, *events):
        for event in events:
            self.view.show(event)
        self.view.tick()
        return self

    def start(self):
        return self.show(
            ev.RunStarted(session="s", model="mock/m", mode="ask", prompt="p", sandbox="A"),
            ev.StepStarted(1),
        )


@pytest.fixture
def desk():
    return Desk().start()


def test_while_the_model_is_waited_for_the_status_says_what_how_long_and_how_to_stop(desk):
    desk.now = 3.0
    desk.show()
    (status,) = desk.live
    assert status[2:] == "waiting for the model · 3.0 s · Ctrl-C stops · ask · mock…"


def test_what_is_typed_is_shown_below_the_status_with_line_breaks_marked():
    desk = Desk(typed="one\ntwo").start()
    assert desk.live[-1] == "\u276f one⏎ two"


def test_an_answer_is_live_until_its_block_is_whole(desk):
    desk.show(ev.TextDelta("First para"))
    assert desk.live[0] == "First para"
    assert desk.kept == []
    desk.show(ev.TextDelta("graph.\n\nSec"))
    assert desk.kept == ["First paragraph.", ""]
    assert desk.live[0] == "Sec"


def test_thinking_is_kept_line_by_line_and_set_apart(desk):
    desk.show(ev.ThinkingDelta("first\nsec"), ev.ThinkingDelta("ond"))
    assert desk.kept == ["first"]
    assert desk.live[0] == "second"
    desk.show(ev.TextDelta("x\n\n"))
    assert desk.kept == ["first", "second", "", "x", ""]


def test_hidden_thinking_is_not_shown_but_said_to_go_on():
    desk = Desk(show_thinking=False).start().show(ev.ThinkingDelta("secret\n"))
    assert desk.kept == []
    assert desk.live[-1][2:].startswith("thinking")


def test_a_running_call_shows_the_end_of_its_output_and_its_time(desk):
    desk.show(ev.CallStarted(call="c", tool="run_command", title="Run", summary="make"))
    desk.now = 2.0
    desk.show(ev.CallProgress(call="c", text="".join(f"line {n}\n" for n in range(9))))
    assert desk.live[0][2:] == "Run  make  2.0 s"
    assert desk.live[1:5] == [f"  │ line {n}" for n in range(5, 9)]


def test_calls_that_run_together_each_have_their_row(desk):
    for call in "ab":
        desk.show(ev.CallStarted(call=call, tool="read_file", title="Read", summary=f"{call}.py"))
    assert [line[2:12] for line in desk.live[:2]] == ["Read  a.py", "Read  b.py"]
    desk.show(ev.CallSettled(call="b", tool="read_file", outcome=Done(())))
    assert desk.kept == ["✓ Read  b.py"]


def test_a_settled_command_shows_its_last_lines_and_how_many_went_before(desk):
    output = "".join(f"line {n}\n" for n in range(20))
    desk.show(
        ev.CallStarted(call="c", tool="run_command", title="Run", summary="make"),
        ev.CallSettled(
            call="c",
            tool="run_command",
            outcome=Done((), CommandView("make", output, 2)),
            seconds=1.5,
        ),
    )
    assert desk.kept[0] == "✗ Run  make  exit code 2  1.5 s"
    assert desk.kept[1] == "  │ … 12 earlier lines"
    assert desk.kept[-1] == "  │ line 19"


def test_what_was_put_right_after_a_command_stands_below_its_output(desk):
    view = CommandView("make", "made\n", 0, aftermath=("put back: .envrc\x1b[2J",))
    desk.show(
        ev.CallStarted(call="c", tool="run_command", title="Run", summary="make"),
        ev.CallSettled(call="c", tool="run_command", outcome=Done((), view), seconds=0),
    )
    assert desk.kept[-2:] == ["  │ made", "  │ put back: .envrc␛[2J"]


def test_a_long_failure_goes_on_its_own_lines_whole(desk):
    message = "the text was not found; " * 5 + "read the file again"
    desk.show(
        ev.CallStarted(call="c", tool="edit_file", title="Edit", summary="a.py"),
        ev.CallSettled(call="c", tool="edit_file", outcome=Failed(message)),
    )
    assert desk.kept[0] == "✗ Edit  a.py"
    assert " ".join(line.strip() for line in desk.kept[1:]) == message


def test_a_change_that_was_seen_in_its_question_is_not_shown_twice(desk):
    view = DiffView("a.py", "@@ -1 +1 @@\n-a\n+b", 1, 1)
    question = Question(id="q", title="Edit a.py", view=view, call_id="c")
    desk.show(ev.CallStarted(call="c", tool="edit_file", title="Edit", summary="a.py"))
    desk.show(ev.QuestionAsked(question))
    assert desk.kept.count("  │   1 - a") == 1
    assert desk.live[0] == "  y  yes, once"
    desk.show(
        ev.QuestionAnswered(question="q", answer=Answer(choice="once")),
        ev.CallSettled(call="c", tool="edit_file", outcome=Done((), view)),
    )
    assert desk.kept.count("  │   1 - a") == 1
    assert "  \u276f yes, once" in desk.kept
    assert "✓ Edit  a.py  +1 -1" in desk.kept


def test_a_change_that_needed_no_question_is_shown(desk):
    view = DiffView("a.py", "@@ -1 +1 @@\n-a\n+b", 1, 1)
    desk.show(ev.CallSettled(call="c", tool="edit_file", outcome=Done((), view)))
    assert desk.kept == ["✓ edit_file  +1 -1", "  │   1 - a", "  │   1 + b"]


def test_a_slip_is_pointed_out_and_the_whole_can_be_asked_for(desk):
    desk.show(ev.QuestionAsked(Question(id="q", title="Sure?")))
    desk.view.ask_again()
    desk.show()
    assert "     that is none of the answers" in desk.live
    desk.view.ask_again(whole=True)
    desk.show()
    assert desk.kept.count("? Sure?") == 2


def test_the_words_of_a_correction_are_kept(desk):
    desk.show(
        ev.CallSettled(call="c", tool="run_command", outcome=Corrected("use make"), seconds=0.0)
    )
    assert desk.kept == ["⊘ run_command  refused, you said: use make"]


def test_a_wait_counts_down(desk):
    desk.show(ev.WaitStarted(seconds=12.0, failure=FAILURE, attempt=2))
    desk.now = 4.0
    desk.show()
    assert desk.live[-1][2:].startswith("waiting 8 s · Ctrl-C stops · attempt 2 failed: too many")


def test_a_queued_message_is_shown_until_it_is_delivered(desk):
    desk.view.queue("also the docs")
    desk.show()
    assert "  queued: also the docs" in desk.live
    desk.show(ev.SteeringTaken("also the docs"))
    assert "  queued: also the docs" not in desk.live
    assert "\u276f also the docs" in desk.kept


def ended(result):
    return ev.RunEnded(result=result, usage=Usage(output=7), steps=1, seconds=2.0)


def test_the_end_takes_the_live_part_away_and_sums_up(desk):
    desk.show(ev.TextDelta("Done."), ended(RunDone("Done.")))
    assert desk.live == []
    assert desk.kept == ["Done.", "", "1 step · 2.0 s · 0 in, 7 out · cost unknown", ""]


def test_a_failed_run_says_why_and_what_to_do(desk):
    failure = Failure(kind=ErrorKind.AUTH, message="refused the key", hint="Set MOCK_API_KEY.")
    desk.show(ended(RunFailed(failure)))
    assert desk.kept[:2] == ["✗ refused the key", "  Set MOCK_API_KEY."]


def test_a_stopped_run_keeps_what_was_half_written(desk):
    desk.show(ev.TextDelta("Half a sen"), ended(Stopped("stopped by the user")))
    assert desk.kept[:3] == ["Half a sen", "", "! stopped by the user"]


def test_an_answer_that_broke_off_is_kept_and_said(desk):
    failure = msgspec.structs.replace(FAILURE, message=f"{FAILURE.message}.")
    desk.show(ev.TextDelta("Half"), ev.AnswerAbandoned(failure=failure, again=True))
    assert desk.kept == ["Half", "", "! the answer broke off: too many requests; asking again"]


def test_changes_and_notices_are_said(desk):
    desk.show(
        ev.ModeChanged("auto"),
        ev.Compacted(tokens_before=120_000, tokens_after=30_000),
        ev.ConstraintChanged("use tabs"),
        ev.Notice("cut \x1b[2J", "warning"),
        ev.FilesChanged(("a",)),
        ev.UsageUpdated(usage=Usage(output=1200), step_usage=Usage(), cost_usd=0.5),
        ev.CallProposed(call="c", tool="edit_file"),
    )
    assert desk.kept == [
        "mode: auto",
        "history shortened: 120.0k → 30.0k tokens",
        "noted: use tabs",
        "! cut ␛[2J",
    ]
    assert desk.live[-1][2:].startswith("preparing edit_file")


def test_what_a_sub_run_says_is_not_mixed_into_the_answer(desk):
    desk.show(ev.TextDelta("inner", parent="r0"), ev.TextDelta("outer\n\n"))
    assert desk.kept == ["outer", ""]


@pytest.mark.parametrize("columns", [20, 40, 100])
async def test_no_line_is_wider_than_the_terminal(scripted, columns):
    class Settings:
        mode = "ask"

    class Launch:
        resume, settings, interactive = None, Settings(), False

    desk = Desk(columns=columns, typed="漢字" * 50)
    session = scripted.ScriptedSession(Launch())
    session.subscribe(desk.show)
    from hame.cli.cells import width

    widest = []
    session.subscribe(lambda _: widest.append(max(map(width, [*desk.kept, *desk.live, ""]))))
    for scenario in ("tour", "question", "wrongkey"):
        await session.prompt(scenario)
    assert max(widest) < columns
