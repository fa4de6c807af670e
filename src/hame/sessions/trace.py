"""The trace: what happened in a session, one line for each thing, as a view of its journal."""

from collections.abc import Iterable, Iterator
from typing import assert_never

import msgspec

from hame.base.entry import (
    AnswerAbandoned,
    AnswerInterrupted,
    CacheRead,
    CallSettled,
    ConstraintAdded,
    ConstraintRemoved,
    Entry,
    HistoryCompacted,
    LabelSet,
    ModeChosen,
    ModelAnswered,
    ModelChosen,
    NoteAdded,
    OutcomesLost,
    QuestionSettled,
    Record,
    ResultsElided,
    Rewound,
    RunFinished,
    SessionStarted,
    TitleSet,
    UserSaid,
)
from hame.base.json import dump
from hame.base.message import Assistant, Text
from hame.base.outcome import Done, result_content
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

SLOW_S = 10.0
"""Seconds from which a part is marked as slow."""
_PREVIEW = 120
_ARGUMENT = 60


class TraceLine(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened."""

    record: str
    run: int
    """Number of the run, from 1; 0 before the first."""
    ms: int
    """Milliseconds since the run began."""
    took_ms: int
    """Milliseconds since what happened before it."""
    stage: str
    detail: str
    preview: str = ""
    slow: bool = False


class Tracer:
    """Makes lines of records, one after the other."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self._run = 0
        self._began = 0.0
        self._before: float | None = None

    def lines(self, records: Iterable[Record]) -> Iterator[TraceLine]:
        """A line for each of these records; they follow those of the call before."""
        for record in records:
            if isinstance(record.entry, UserSaid) and not record.entry.steering:
                self._run += 1
                self._began, self._before = record.at, record.at
            before = record.at if self._before is None else self._before
            took = max(record.at - before, 0.0)
            self._before = record.at
            stage, detail, preview = describe(record.entry)
            yield TraceLine(
                record=record.id,
                run=self._run,
                ms=round(max(record.at - self._began, 0.0) * 1_000) if self._run else 0,
                took_ms=round(took * 1_000),
                stage=stage,
                detail=detail,
                preview=_short(preview),
                slow=took >= SLOW_S and not isinstance(record.entry, UserSaid),
            )


def describe(entry: Entry) -> tuple[str, str, str]:
    """Stage, detail and preview of an entry."""
    match entry:
        case UserSaid(message=message, steering=steering):
            return "STEER" if steering else "PROMPT", "", message.words
        case ModelAnswered(message=message):
            return "ANSWER", _answer(message), message.text
        case AnswerInterrupted(message=message):
            return "STOPPED", "", message.text
        case AnswerAbandoned(message=message, failure=failure):
            return "BROKEN", failure.kind, failure.message
        case CallSettled():
            return _call(entry)
        case NoteAdded(text=text, source=source):
            return "NOTE", source, text
        case QuestionSettled(title=title, answer=answer):
            return "QUESTION", answer.choice if answer else "unanswered", title
        case ModelChosen(model=name) | ModeChosen(mode=name) | TitleSet(title=name):
            return _chosen(entry), name, ""
        case RunFinished(result=result, steps=steps):
            how, why = _result(result)
            return "DONE", f"{how}, {_count(steps, 'step')}", why
        case _:
            return _memory(entry)


def _memory(entry: Entry) -> tuple[str, str, str]:
    """The entries that are about the session itself."""
    match entry:
        case SessionStarted(cwd=cwd, hame=hame):
            return "SESSION", f"hame {hame}", cwd
        case OutcomesLost(calls=calls):
            return "LOST", f"{_count(len(calls), 'call')} without an outcome", ""
        case Rewound(left=left):
            return "REWOUND", f"from {left}", ""
        case ResultsElided(stubs=stubs):
            return "ELIDED", f"{_count(len(stubs), 'result')}, {_tokens(entry)}", ""
        case HistoryCompacted(summary=summary, by_model=by_model):
            how = "by the model" if by_model else "from the journal"
            return "SUMMARY", f"{how}, {_tokens(entry)}", summary
        case ConstraintAdded(constraint=constraint):
            return "DEMAND", f"{constraint.id} {constraint.found_by}", constraint.text
        case ConstraintRemoved(id=name):
            return "DEMAND", f"{name} taken back", ""
        case CacheRead(reading=reading):
            return "CACHE", f"{reading.got:,} of {reading.total:,} tokens", reading.why
        case LabelSet(record=record, label=label):
            return "LABEL", record, label
        case (
            UserSaid() | ModelAnswered() | AnswerInterrupted() | AnswerAbandoned() | CallSettled()
            | NoteAdded() | QuestionSettled() | ModelChosen() | ModeChosen() | TitleSet()
            | RunFinished()
        ):  # fmt: skip
            return "", "", ""
        case _:
            assert_never(entry)


def _chosen(entry: ModelChosen | ModeChosen | TitleSet) -> str:
    match entry:
        case ModelChosen():
            return "MODEL"
        case ModeChosen():
            return "MODE"
        case TitleSet():
            return "TITLE"


def _answer(message: Assistant) -> str:
    calls = ", ".join(
        f"{call.name} {_short(dump(call.arguments), _ARGUMENT)}" for call in message.calls
    )
    usage = message.usage
    counted = f"{usage.input_total:,} in, {usage.output:,} out" if usage is not None else ""
    return " · ".join(filter(None, [message.stop_reason.value, counted, calls]))


def _call(entry: CallSettled) -> tuple[str, str, str]:
    content, _ = result_content(entry.outcome)
    text = "".join(block.text for block in content if isinstance(block, Text))
    how = "" if isinstance(entry.outcome, Done) else f" {type(entry.outcome).__name__.lower()}"
    return "RESULT", f"{entry.name}{how}, {entry.seconds * 1_000:.0f} ms, {len(text):,} chars", text


def _result(result: RunResult) -> tuple[str, str]:
    """How a run ended, and why where that is not plain."""
    how = str(result.__struct_config__.tag)
    match result:
        case RunFailed(failure=failure):
            return how, failure.message
        case Stopped(reason=reason) | Refused(reason=reason):
            return how, reason
        case BudgetSpent(what=what):
            return f"{how} ({what})", ""
        case RunDone() | Truncated() | StepLimit():
            return how, ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _tokens(entry: ResultsElided | HistoryCompacted) -> str:
    return f"{entry.tokens_before:,} to {entry.tokens_after:,} tokens"


def _short(text: str, most: int = _PREVIEW) -> str:
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
