"""What two models did with the same prompt, and how the files differ that they left."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hame.base.entry import (
    AnswerAbandoned,
    AnswerInterrupted,
    CallSettled,
    HistoryCompacted,
    ModelAnswered,
    OutcomesLost,
    Record,
    RunFinished,
    UserSaid,
)
from hame.base.message import Assistant
from hame.base.model import Usage
from hame.base.run import RunResult
from hame.base.snapshot import FileState
from hame.workspace.duplicates.duplicate import Duplicate

_ARGUMENTS = 2_000
"""Characters of a call's arguments that are told; all of them are compared."""
_LARGEST = 1 << 20
"""Bytes of a file whose lines are counted."""


class Call(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a model's."""

    name: str
    arguments: str
    """As JSON, members sorted; paths below the project's folder are relative to it."""
    outcome: str = "lost"
    """`done`, `failed`, `denied`, `corrected`, `cancelled` or `lost`."""


class Side(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one model did with a prompt."""

    calls: tuple[Call, ...] = ()
    result: RunResult | None = None
    """None: it broke off."""
    steps: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    """None: unknown."""
    seconds: float = 0.0


class FileDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that the two left differently."""

    path: str
    """Relative to the project."""
    recorded: bool
    """It is there in the recorded result."""
    now: bool
    """It is there in the new one."""
    added: int | None = None
    """Lines that only the new one has; None where that cannot be told."""
    removed: int | None = None


def side_of(records: Iterable[Record], root: str) -> Side:
    """What was done from a prompt on; `root` is the folder of the project."""
    calls: dict[str, Call] = {}
    result: RunResult | None = None
    steps, usage, cost, priced = 0, Usage(), 0.0, True
    began = ended = 0.0
    for record in records:
        match record.entry:
            case UserSaid(steering=False) if not began:
                began = record.at
            case ModelAnswered(message=message):
                steps += 1
                calls |= {
                    call.id: Call(name=call.name, arguments=_arguments(call.arguments, root))
                    for call in message.calls
                }
                usage += _used(message)
            case AnswerAbandoned(message=message) | AnswerInterrupted(message=message):
                usage += _used(message)
            case HistoryCompacted(usage=Usage() as used):
                usage += used
            case CallSettled(call_id=call_id, outcome=outcome) if call_id in calls:
                kind = str(type(outcome).__struct_config__.tag)
                calls[call_id] = msgspec.structs.replace(calls[call_id], outcome=kind)
            case OutcomesLost():
                pass
            case RunFinished() as finished:
                result = finished.result
                priced = priced and finished.cost_usd is not None
                cost += finished.cost_usd or 0.0
            case _:
                continue
        ended = record.at
    return Side(
        calls=tuple(calls.values()),
        result=result,
        steps=steps,
        usage=usage,
        cost_usd=cost if priced and result is not None else None,
        seconds=round(max(ended - began, 0.0), 3),
    )


def divergence(recorded: Side, now: Side) -> str:
    """The first place where two sides did not do the same, in words; empty where there is none."""
    for number, (then, today) in enumerate(zip(recorded.calls, now.calls, strict=False), 1):
        if (then.name, then.arguments) != (today.name, today.arguments):
            return f"call {number}: recorded {_named(then)}; now {_named(today)}"
        if then.outcome != today.outcome:
            return f"call {number}, {_named(then)}: recorded {then.outcome}; now {today.outcome}"
    shared = min(len(recorded.calls), len(now.calls))
    if len(recorded.calls) > shared:
        return f"call {shared + 1}: recorded {_named(recorded.calls[shared])}; now none"
    if len(now.calls) > shared:
        return f"call {shared + 1}: recorded none; now {_named(now.calls[shared])}"
    if type(recorded.result) is not type(now.result):
        return f"the end: recorded {result_name(recorded)}; now {result_name(now)}"
    return ""


def result_name(side: Side) -> str:
    """How a side ended, in a word."""
    if side.result is None:
        return "broke off"
    return str(type(side.result).__struct_config__.tag).replace("_", " ")


async def compare_files(copy: Duplicate) -> list[FileDifference]:
    """Where the copy is not what the session left.

    Raises:
        ToolError: if it cannot be read.
    """
    recorded, now = copy.left_by_session(), await copy.states()
    found: list[FileDifference] = []
    for path in sorted(recorded.keys() | now.keys()):
        then, today = recorded.get(path, FileState()), now.get(path, FileState())
        if not then.same_as(today):
            found.append(await _difference(copy, path, then, today))
    return found


async def _difference(
    copy: Duplicate, path: str, then: FileState, today: FileState
) -> FileDifference:
    lines = [await _lines(copy, path, state) for state in (then, today)]
    added, removed = _counts(*lines)
    return FileDifference(
        path=path, recorded=then.exists, now=today.exists, added=added, removed=removed
    )


async def _lines(copy: Duplicate, path: str, state: FileState) -> list[bytes] | None:
    if not state.exists:
        return []
    data = await copy.read(path, state)
    if data is None or len(data) > _LARGEST or b"\0" in data:
        return None
    return data.splitlines()


def _counts(
    then: Sequence[bytes] | None, today: Sequence[bytes] | None
) -> tuple[int | None, int | None]:
    """Lines that only the second has, and those that only the first has."""
    if then is None or today is None:
        return None, None
    added = removed = 0
    matcher = difflib.SequenceMatcher(None, then, today)
    for kind, first, after_first, second, after_second in matcher.get_opcodes():
        if kind != "equal":
            removed += after_first - first
            added += after_second - second
    return added, removed


def _arguments(arguments: Mapping[str, object] | None, root: str) -> str:
    text = msgspec.json.encode(arguments, order="sorted").decode()
    return text.replace(f"{root}/", "").replace(f'"{root}"', '"."') if root else text


def _used(message: Assistant) -> Usage:
    return message.usage if message.usage is not None else Usage()


def _named(call: Call) -> str:
    arguments = call.arguments
    cut = arguments if len(arguments) <= _ARGUMENTS else f"{arguments[:_ARGUMENTS]}…"
    return f"{call.name} {cut}"
