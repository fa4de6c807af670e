"""The trace is a view of the journal: runs, times, stages, previews."""

from pathlib import Path
from typing import get_args

import pytest

from hame.base.entry import Entry, NoteAdded, Record, RunFinished
from hame.base.errors import ErrorKind, Failure
from hame.base.message import Text, User
from hame.base.model import Usage
from hame.base.run import BudgetSpent, RunDone, RunFailed, StepLimit, Stopped
from hame.sessions.branch import read_branch
from hame.sessions.trace import Tracer, describe
from sessions.conftest import asked, said

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_kind_of_entry_has_a_stage(path: Path) -> None:
    lines = list(Tracer().lines(read_branch(path).records))
    assert all(line.stage.isupper() for line in lines)


def test_all_kinds_are_among_them() -> None:
    seen = {type(entry) for path in GOLDEN for entry in read_branch(path).entries}
    assert seen == set(get_args(Entry))


def records(*entries: tuple[float, Entry]) -> list[Record]:
    return [
        Record(id=str(number), parent=None, at=at, entry=entry)
        for number, (at, entry) in enumerate(entries, 1)
    ]


def test_runs_are_counted_and_times_begin_with_each() -> None:
    note = NoteAdded(text="n", source="mode")
    found = records(
        (1.0, note), (10.0, said("go")), (10.5, asked("a")), (60.0, said("on")), (75.0, asked("b"))
    )
    lines = list(Tracer().lines(found))
    assert [(line.run, line.ms) for line in lines] == [
        (0, 0),
        (1, 0),
        (1, 500),
        (2, 0),
        (2, 15_000),
    ]
    assert [line.slow for line in lines] == [False, False, False, False, True]


def test_lines_that_come_later_go_on_where_the_others_ended() -> None:
    tracer = Tracer()
    found = records((10.0, said("go")), (10.5, asked("a")))
    assert [line.run for line in tracer.lines(found[:1])] == [1]
    assert [(line.run, line.ms) for line in tracer.lines(found[1:])] == [(1, 500)]


def test_a_clock_that_was_set_back_gives_no_negative_times() -> None:
    lines = list(Tracer().lines(records((10.0, said("go")), (5.0, asked("a")))))
    assert [(line.ms, line.took_ms) for line in lines] == [(0, 0), (0, 0)]


def test_previews_are_one_short_line() -> None:
    _, _, preview = describe(said("a\n" * 500))
    (line,) = Tracer().lines(records((1.0, said(preview))))
    assert len(line.preview) <= 120
    assert "\n" not in line.preview
    assert User((Text(preview),)).words == preview


@pytest.mark.parametrize(
    ("result", "steps", "told"),
    [
        (RunDone("four"), 1, ("DONE", "done, 1 step", "")),
        (StepLimit(steps=3), 3, ("DONE", "step_limit, 3 steps", "")),
        (BudgetSpent(what="cost today", limit=1.0), 2, ("DONE", "budget_spent (cost today), 2 steps", "")),
        (Stopped(reason="by the user"), 2, ("DONE", "stopped, 2 steps", "by the user")),
        (
            RunFailed(Failure(kind=ErrorKind.AUTH, message="the key is refused")),
            1,
            ("DONE", "failed, 1 step", "the key is refused"),
        ),
    ],
)  # fmt: skip
def test_the_end_of_a_run_says_how_and_why(result, steps: int, told: tuple[str, str, str]) -> None:
    assert describe(RunFinished(result=result, usage=Usage(), steps=steps)) == told
