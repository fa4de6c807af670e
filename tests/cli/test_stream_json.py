import io
import json
import re
from pathlib import Path
from typing import get_args

import pytest

from hame.base import event as ev
from hame.base.errors import ConfigError, ErrorKind, Failure, ModelError
from hame.base.message import Assistant, Text
from hame.base.model import Usage
from hame.base.run import (
    BudgetSpent,
    Refused,
    RunDone,
    RunFailed,
    StepLimit,
    Stopped,
    Truncated,
)
from hame.cli.stream_json import JsonView

DOCUMENT = Path(__file__).parents[2] / "docs" / "stream-json.md"
FAILURE = Failure(kind=ErrorKind.OVERLOADED, message="overloaded", said="busy", status=529)
STARTED = ev.RunStarted(session="s", model="m/m", mode="ask", prompt="p", seq=77)


def view_of(*events, stream=True):
    out = io.StringIO()
    view = JsonView(out, events=stream)
    for event in events:
        view.show(event)
    view.tick()
    view.close()
    return view, lambda: [json.loads(line) for line in out.getvalue().splitlines()]


def ended(result, **more):
    return ev.RunEnded(result=result, usage=Usage(output=3), steps=2, seconds=1.23456, **more)


def test_every_kind_of_event_is_documented_with_all_its_fields():
    text = DOCUMENT.read_text()
    for kind in get_args(ev.RunEvent):
        tag = kind.__struct_config__.tag
        assert f"`{tag}`" in text, f"{tag} is not in docs/stream-json.md"
    for name in ErrorKind:
        assert f"`{name}`" in text


def test_lines_have_their_own_numbers_and_the_session():
    _, lines = view_of(STARTED, ev.TextDelta("a"), ev.TextDelta("b", parent="r0"))
    assert [(line["seq"], line["session_id"]) for line in lines()] == [(1, "s"), (2, "s"), (3, "s")]
    assert lines()[2]["parent"] == "r0"


@pytest.mark.parametrize(
    ("result", "status", "kind"),
    [
        (RunDone("x"), "done", None),
        (Truncated("x"), "truncated", "truncated"),
        (Refused("", "no"), "refused", "refused"),
        (StepLimit(3), "step_limit", "step_limit"),
        (BudgetSpent("time", 3), "budget_spent", "budget_spent"),
        (Stopped("stopped by the user"), "stopped", "stopped"),
        (RunFailed(FAILURE), "failed", "overloaded"),
    ],
)
def test_the_result_says_how_it_ended_and_why(result, status, kind):
    view, lines = view_of(STARTED, stream=False)
    view.finish(ended(result, refused=1), 4)
    (line,) = lines()
    assert line["status"] == status
    assert line.get("error", {}).get("kind") == kind
    assert line["refused"] == 1
    assert line["cost_usd"] is None
    assert line["seconds"] == 1.235
    assert "seq" not in line
    assert all(line["error"][name] is not None for name in ("message", "hint")) if kind else True


def test_a_run_that_did_not_end_well_still_gives_the_last_answer():
    answer = ev.AnswerCompleted(Assistant((Text("so far"),)))
    view, lines = view_of(STARTED, answer, stream=False)
    view.finish(ended(StepLimit(1)), 4)
    assert lines()[0]["text"] == "so far"


def test_what_could_not_be_run_is_a_result_too():
    view, lines = view_of()
    view.fail(ConfigError("bad key", hint="fix it"), 2)
    assert lines()[0]["error"] == {"kind": "configuration", "message": "bad key", "hint": "fix it"}
    assert lines()[0]["session_id"] is None
    view.fail(ModelError(FAILURE), 1)
    assert lines()[1]["error"]["kind"] == "overloaded"


def test_the_results_fields_are_documented():
    view, lines = view_of(STARTED)
    view.finish(ended(RunFailed(FAILURE), refused=1), 1)
    documented = set(re.findall(r"^\| `(\w+)` \|", DOCUMENT.read_text(), re.MULTILINE))
    assert set(lines()[-1]) <= documented
