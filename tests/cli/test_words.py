import pytest

from hame.base.errors import ErrorKind, Failure
from hame.base.event import RunEnded
from hame.base.model import Usage
from hame.base.outcome import (
    Cancelled,
    CommandView,
    Corrected,
    Denied,
    DiffView,
    Done,
    Failed,
    PathsView,
    TextView,
)
from hame.base.run import (
    BudgetSpent,
    Refused,
    RunDone,
    RunFailed,
    StepLimit,
    Stopped,
    Truncated,
)
from hame.cli.exits import ExitCode, exit_code
from hame.cli.words import (
    came_to,
    duration,
    earlier_lines,
    ending,
    money,
    spent_line,
    tokens,
    usage_line,
)

FAILURE = Failure(kind=ErrorKind.AUTH, message="refused the key", hint="set one", said="bad key")


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0"), (999, "999"), (12_400, "12.4k"), (999_999, "1.00M")]
)
def test_tokens_are_short(number, said):
    assert tokens(number) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.04, "0.0 s"), (9.96, "10 s"), (61, "1 min 1 s"), (59.6, "1 min 0 s")]
)
def test_times_are_short(seconds, said):
    assert duration(seconds) == said


def test_an_unknown_cost_is_said_to_be_unknown():
    assert money(None) == "cost unknown"
    assert money(0.0) == "$0.00"
    assert money(0.00421) == "$0.0042"
    assert money(1.5) == "$1.50"


def test_the_last_line_counts_steps_time_tokens_and_money():
    usage = Usage(input_uncached=1400, cache_read=11000, output=600)
    ended = RunEnded(result=RunDone("x"), usage=usage, steps=1, seconds=3.21)
    assert spent_line(ended) == "1 step · 3.2 s · 12.4k in (11.0k cached), 600 out · cost unknown"


def test_a_run_that_hit_a_limit_is_gone_on_with_where_it_was_run():
    assert ending(StepLimit(1))[1] == "Say 'go on' to continue, or raise --max-steps."
    once = ending(BudgetSpent("time", 60), once=True)[1]
    assert once == "Run hame --continue -p 'go on' to continue, or raise --max-time."


def test_tokens_that_nobody_counted_are_not_said_to_be_none():
    ended = RunEnded(result=Stopped("stopped"), usage=Usage(), steps=1, seconds=1.0)
    assert spent_line(ended) == "1 step · 1.0 s · tokens and cost unknown"
    failed = RunEnded(result=RunFailed(FAILURE), usage=Usage(), steps=1, seconds=1.0)
    assert spent_line(failed) == "1 step · 1.0 s"
    none = RunEnded(result=StepLimit(0), usage=Usage(), steps=0, seconds=0.0, cost_usd=0.0)
    assert spent_line(none) == "0 steps · 0.0 s · 0 in, 0 out · $0.00"


def test_lines_that_were_left_out_before_are_counted_with_those_that_are_not_shown():
    gap = "[9,958,000 characters (242,878 lines) left out here]"
    assert earlier_lines(["a", "b"]) == "2 earlier lines"
    assert earlier_lines(["a", gap, "b"]) == "242,880 earlier lines"


def test_what_was_written_to_a_cache_and_thought_is_counted_apart():
    usage = Usage(cache_write=100, cache_write_long=800, output=1200, reasoning=900)
    assert usage_line(usage) == "900 in (900 written), 1.2k out (900 thinking)"
    more = usage + Usage(cache_read=5000)
    assert usage_line(more) == "5.9k in (5.0k cached, 900 written), 1.2k out (900 thinking)"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Done(()), ""),
        (Done((), TextView("a\nb")), "2 lines"),
        (Done((), TextView("a", title="a.py")), "1 line"),
        (Done((), PathsView(("a",), total=12)), "12 paths"),
        (Done((), DiffView("x", "", 3, 1)), "+3 -1"),
        (Done((), DiffView("x", "", 3, 0, created=True)), "created +3 -0"),
        (Done((), CommandView("x", exit_code=0)), ""),
        (Done((), CommandView("x", exit_code=2)), "exit code 2"),
        (Failed("no", CommandView("x", ended="timed out after 5 s")), "timed out after 5 s"),
        (Failed("not\nfound"), "not found"),
        (Denied("why"), "not allowed: why"),
        (Denied("", by_user=True), "refused by you"),
        (Denied("why", unanswered=True), "refused: why"),
        (Corrected("use make"), "refused, you said: use make"),
        (Cancelled(), "stopped by the user"),
    ],
)
def test_outcomes_are_said_in_a_few_words(outcome, said):
    assert came_to(outcome) == said


@pytest.mark.parametrize(
    ("result", "said", "code"),
    [
        (RunDone("x"), "", 0),
        (Truncated("x"), "the answer hit the model's output limit", 4),
        (Refused("", "it refused"), "the model would not answer: it refused", 5),
        (StepLimit(1), "stopped at the limit of 1 step", 4),
        (BudgetSpent("time", 60), "stopped at the limit of 1 min 0 s", 4),
        (BudgetSpent("tokens", 5000), "stopped at the limit of 5.0k tokens", 4),
        (BudgetSpent("cost", 0.5), "stopped at the limit of $0.5000", 4),
        (BudgetSpent("steps today", 50), "stopped at the limit of 50 steps for today", 4),
        (BudgetSpent("cost today", 2.0), "stopped at the limit of $2.00 for today", 4),
        (Stopped("stopped by the user"), "stopped by the user", 130),
        (Stopped("nothing new", by_user=False), "stopped: nothing new", 1),
        (RunFailed(FAILURE), "refused the key (bad key)", 1),
    ],
)
def test_every_end_is_said_and_has_its_exit_code(result, said, code):
    assert ending(result)[0] == said
    ended = RunEnded(result=result, usage=Usage(), steps=1, seconds=1)
    assert exit_code(ended) == code


def test_a_call_that_nobody_could_allow_shows_in_the_exit_code():
    ended = RunEnded(result=RunDone("x"), usage=Usage(), steps=1, seconds=1, refused=2)
    assert exit_code(ended) == ExitCode.UNANSWERED == 3
