"""The progress guard tells circles from batches."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hame.agent.progress import (
    FAILING_NUDGE,
    FAILING_STOP,
    SAME_CALL_STOP,
    STALE_NUDGE,
    STALE_STOP,
    ProgressGuard,
    Verdict,
)
from hame.base.message import ToolCall
from hame.base.outcome import Done, Failed, Outcome, text_content


def call(name: str = "read_file", **arguments: object) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=dict(arguments))


def done(text: str = "ok", *changed: str) -> Done:
    return Done(content=text_content(text), changed=changed)


def verdicts(guard: ProgressGuard, steps: Sequence[tuple[ToolCall, Outcome]]) -> list[Verdict]:
    return [guard.judge([step]) for step in steps]


def test_a_batch_of_different_reads_is_no_loop() -> None:
    steps = [(call(path=f"f{n}"), done(f"text {n}")) for n in range(200)]
    assert set(verdicts(ProgressGuard(), steps)) == {Verdict.GO_ON}


def test_the_same_failing_call_is_nudged_and_then_stopped() -> None:
    steps = [(call(path="gone"), Failed(message="no such file"))] * FAILING_STOP
    got = verdicts(ProgressGuard(), steps)
    assert got[FAILING_NUDGE - 1] is Verdict.NUDGE
    assert got[-1] is Verdict.STOP


def test_reading_the_same_files_in_a_cycle_is_nudged_and_then_stopped() -> None:
    cycle = [(call(path=name), done(name)) for name in "ab"]
    got = verdicts(ProgressGuard(), cycle * (STALE_STOP // 2 + 1))
    assert got[:2] == [Verdict.GO_ON, Verdict.GO_ON]
    assert got[2 + STALE_NUDGE - 1] is Verdict.NUDGE
    assert got[2 + STALE_STOP - 1] is Verdict.STOP


def test_after_an_edit_everything_is_worth_reading_and_running_again() -> None:
    guard = ProgressGuard()
    for n in range(30):
        edit = (call("edit_file", path="a", old=str(n)), done(f"edited {n}", "a"))
        read = (call(path="a"), done("same text"))
        test = (call("run_command", command="pytest"), Failed(message="exit code 1"))
        assert set(verdicts(guard, [edit, read, test])) == {Verdict.GO_ON}


def test_polling_a_job_whose_output_grows_is_progress_but_not_for_ever() -> None:
    steps = [(call("run_command", command="tail log"), done(str(n))) for n in range(SAME_CALL_STOP)]
    got = verdicts(ProgressGuard(), steps)
    assert set(got[:-1]) == {Verdict.GO_ON}
    assert got[-1] is Verdict.STOP


def test_a_step_with_one_new_call_among_old_ones_is_progress() -> None:
    guard = ProgressGuard()
    for n in range(SAME_CALL_STOP - 1):
        old = (call(path="a"), done("a"))
        new = (call(path=f"b{n}"), done(f"b{n}"))
        assert guard.judge([old, new]) is Verdict.GO_ON


@given(st.lists(st.integers(0, 1000), unique=True, max_size=60))
def test_distinct_calls_never_stop_a_run(numbers: list[int]) -> None:
    steps: list[tuple[ToolCall, Outcome]] = [
        (call(n=n), Failed(message="no") if n % 2 else done(str(n))) for n in numbers
    ]
    assert Verdict.STOP not in verdicts(ProgressGuard(), steps)
