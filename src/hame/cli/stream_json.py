"""A run as JSON for programs; the format is described in docs/stream-json.md.

`stream-json` writes every event on a line of its own and the result as the last line; `json` writes
the result only. Both write the result always, also when nothing could be started.
"""

from typing import TextIO, assert_never

import msgspec

from hame.base.errors import HameError, ModelError
from hame.base.event import AnswerCompleted, RunEnded, RunEvent, RunStarted
from hame.base.json import JsonObject, as_object, dump
from hame.base.model import Usage
from hame.base.run import (
    BudgetSpent,
    Refused,
    RunDone,
    RunFailed,
    RunResult,
    StepLimit,
    Stopped,
    Truncated,
)
from hame.cli.exits import ExitCode
from hame.cli.words import ending, final_text


class JsonView:
    """Implements View by writing JSON lines."""

    def __init__(self, out: TextIO, *, events: bool) -> None:
        """With `events` False only the result is written."""
        self._out, self._events = out, events
        self._seq = 0
        self._session: str | None = None
        self._text = ""

    def show(self, event: RunEvent) -> None:
        """Write an event."""
        if isinstance(event, RunStarted):
            self._session = event.session
        if isinstance(event, AnswerCompleted) and event.parent is None:
            self._text = event.message.text or self._text
        if self._events:
            body = as_object(msgspec.to_builtins(event)) or {}
            self._write({"type": body.pop("type"), "session_id": self._session, "seq": 0, **body})

    def tick(self) -> None:
        """Nothing here moves."""

    def close(self) -> None:
        """Everything has been written."""

    def finish(self, ended: RunEnded, code: int) -> None:
        """Write the result of a run that ended."""
        error = _error_of(ended.result)
        self._write_result({
            "status": _status(ended.result),
            "text": final_text(ended.result) or self._text,
            "usage": _usage(ended.usage),
            "cost_usd": ended.cost_usd,
            "steps": ended.steps,
            "seconds": round(ended.seconds, 3),
            "exit_code": int(code),
            **({"error": error} if error else {}),
            **({"refused": ended.refused} if ended.refused else {}),
        })

    def fail(self, error: HameError, code: int) -> None:
        """Write the result of a run that could not be started, or that broke."""
        kind = error.failure.kind if isinstance(error, ModelError) else _kind(code)
        self._write_result({
            "status": "failed",
            "text": self._text,
            "usage": _usage(Usage()),
            "cost_usd": None,
            "steps": 0,
            "seconds": 0.0,
            "exit_code": int(code),
            "error": {"kind": kind, "message": error.message, "hint": error.hint},
        })

    def _write_result(self, body: JsonObject) -> None:
        head: JsonObject = {"type": "result", "session_id": self._session}
        self._write({**head, **({"seq": 0} if self._events else {}), **body})

    def _write(self, line: JsonObject) -> None:
        self._seq += 1
        if "seq" in line:
            line["seq"] = self._seq
        self._out.write(dump(line) + "\n")
        self._out.flush()


def _kind(code: int) -> str:
    return "configuration" if code == ExitCode.USAGE else "internal"


def _usage(usage: Usage) -> JsonObject:
    return {name: getattr(usage, name) for name in Usage.__struct_fields__}


def _status(result: RunResult) -> str:
    return str((as_object(msgspec.to_builtins(result)) or {})["type"])


def _error_of(result: RunResult) -> JsonObject | None:
    """Why a run did not end well, as kind, message and hint."""
    match result:
        case RunDone():
            return None
        case RunFailed(failure=failure):
            return {"hint": "", **(as_object(msgspec.to_builtins(failure)) or {})}
        case Truncated() | Refused() | StepLimit() | BudgetSpent() | Stopped():
            message, hint = ending(result, once=True)
            return {"kind": _status(result), "message": message, "hint": hint}
        case _:
            assert_never(result)
