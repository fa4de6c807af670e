"""What the terminal says about events, in plain words; how it looks is decided elsewhere."""

import re
from collections.abc import Sequence
from typing import assert_never

from hame.base.errors import Failure
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
    Outcome,
    PathsView,
    TextView,
    TodoState,
    TodoView,
    View,
)
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
from hame.cli.reveal import one_line

_GAP = re.compile(r"\[[\d,]+ characters \(([\d,]+) lines\) left out here\]")
"""Stands in an output that was too long, see `hame.tools.transcript`."""


def counted(number: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def tokens(number: int) -> str:
    """`950`, `12.4k`, `1.20M`."""
    if number < 1000:
        return str(number)
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.2f}M"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `2 min 5 s`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def first_lines(text: str, most: int = 8) -> list[str]:
    """The first lines of a text that hold something, and how many more there are."""
    lines = [one_line(line, 160) for line in text.splitlines() if line.strip()]
    rest = len(lines) - most
    return lines if rest <= 0 else [*lines[:most], f"({counted(rest, 'more line')})"]


def earlier_lines(lines: Sequence[str]) -> str:
    """How many lines those are, with what was left out among them."""
    gaps = (_GAP.fullmatch(line.strip()) for line in lines)
    number = sum(int(gap[1].replace(",", "")) if gap else 1 for gap in gaps)
    return counted(number, "earlier line")


def money(dollars: float | None) -> str:
    """`$0.0042`, `$1.20`; None is unknown and is said so."""
    if dollars is None:
        return "cost unknown"
    return f"${dollars:.2f}" if dollars >= 0.995 or dollars == 0 else f"${dollars:.4f}"


def usage_line(spent: Usage) -> str:
    """`12.4k in (11.0k cached, 900 written), 1.2k out (800 thinking)`."""
    written = spent.cache_write + spent.cache_write_long
    given = _of((spent.cache_read, "cached"), (written, "written"))
    made = _of((spent.reasoning, "thinking"))
    return f"{tokens(spent.input_total)} in{given}, {tokens(spent.output)} out{made}"


def spent_line(ended: RunEnded) -> str:
    """The last line of a run: steps, time, tokens, money."""
    steps, seconds = counted(ended.steps, "step"), duration(ended.seconds)
    spent = ended.usage
    if ended.steps and ended.cost_usd is None and not spent.input_total and not spent.output:
        # A provider tells with the end of an answer, and there was none; a failure says enough.
        unknown = "" if isinstance(ended.result, RunFailed) else " · tokens and cost unknown"
        return f"{steps} · {seconds}{unknown}"
    return f"{steps} · {seconds} · {usage_line(spent)} · {money(ended.cost_usd)}"


def came_to(outcome: Outcome) -> str:
    """What a call came to, in a few words."""
    match outcome:
        case Done(view=view):
            return _seen(view)
        case Failed(message=message, view=CommandView() as view):
            return _ended(view) or one_line(message, 200)
        case Failed(message=message):
            return one_line(message, 200)
        case Denied(unanswered=True, reason=reason):
            return f"refused: {one_line(reason, 200)}"
        case Denied(by_user=by_user, reason=reason):
            who = "refused by you" if by_user else "not allowed"
            return f"{who}: {one_line(reason, 200)}" if reason else who
        case Corrected(words=words):
            return f"refused, you said: {one_line(words, 200)}"
        case Cancelled(reason=reason):
            return one_line(reason, 200)
        case _:
            assert_never(outcome)


def failure_line(failure: Failure) -> str:
    """What happened, and the provider's own words where they add something."""
    said = one_line(failure.said, 300)
    message = one_line(failure.message, 600)
    return f"{message} ({said})" if said and said not in message else message


def ending(run: RunResult, *, once: bool = False) -> tuple[str, str]:
    """How a run ended and what to do about it; two empty texts when it is simply done.

    `once`: no conversation goes on in which something could be said.
    """
    go_on = "Run hame --continue -p 'go on'" if once else "Say 'go on'"
    match run:
        case RunDone():
            return "", ""
        case Truncated():
            return "the answer hit the model's output limit", f"{go_on} to let it continue."
        case Refused(reason=reason):
            return f"the model would not answer: {one_line(reason)}", "Ask in other words."
        case StepLimit(steps=steps):
            more = f"{go_on} to continue, or raise --max-steps."
            return f"stopped at the limit of {counted(steps, 'step')}", more
        case BudgetSpent(what=what, limit=limit):
            return f"stopped at the limit of {_limit(what, limit)}", (
                "Raise the limit with hame config to go on today."
                if what.endswith(" today")
                else f"{go_on} to continue, or raise --max-{what}."
            )
        case Stopped(reason=reason):
            named = reason.startswith("stopped")
            return one_line(reason) if named else f"stopped: {one_line(reason)}", ""
        case RunFailed(failure=failure):
            return failure_line(failure), failure.hint
        case _:
            assert_never(run)


def final_text(run: RunResult) -> str:
    """The answer in a result; empty where it holds none."""
    match run:
        case RunDone(text=text) | Truncated(text=text) | Refused(text=text):
            return text
        case StepLimit() | BudgetSpent() | Stopped() | RunFailed():
            return ""
        case _:
            assert_never(run)


def _of(*parts: tuple[int, str]) -> str:
    """What of a number of tokens is special, in brackets."""
    said = ", ".join(f"{tokens(number)} {word}" for number, word in parts if number)
    return f" ({said})" if said else ""


def _limit(what: str, limit: float) -> str:
    what, today, _ = what.partition(" today")
    return f"{_amount(what, limit)}{' for today' if today else ''}"


def _amount(what: str, limit: float) -> str:
    match what:
        case "time":
            return duration(limit)
        case "cost":
            return money(limit)
        case _:
            return f"{tokens(int(limit))} {what}"


def _seen(view: View | None) -> str:
    match view:
        case None:
            return ""
        case TextView(text=text):
            return counted(len(text.splitlines()), "line")
        case DiffView(added=added, removed=removed, created=created, deleted=deleted):
            kind = "created " if created else "deleted " if deleted else ""
            return f"{kind}+{added} -{removed}"
        case PathsView(paths=paths, total=total):
            return counted(len(paths) if total is None else total, "path")
        case CommandView():
            return _ended(view)
        case TodoView(items=items):
            done = sum(item.state is TodoState.DONE for item in items)
            return f"{done} of {len(items)} done"
        case _:
            assert_never(view)


_MARKS = {TodoState.OPEN: "☐", TodoState.ACTIVE: "▸", TodoState.DONE: "☑"}
_PLAIN_MARKS = {TodoState.OPEN: "[ ]", TodoState.ACTIVE: "[>]", TodoState.DONE: "[x]"}


def todo_lines(view: TodoView, *, plain: bool = False) -> list[str]:
    """A plan, one line for each item; `plain` with signs that every terminal has."""
    marks = _PLAIN_MARKS if plain else _MARKS
    return [f"{marks[item.state]} {one_line(item.text, 300)}" for item in view.items]


def _ended(view: CommandView) -> str:
    if view.ended:
        return one_line(view.ended, 120)
    return f"exit code {view.exit_code}" if view.exit_code else ""
