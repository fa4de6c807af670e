"""What the terminal says about a session's memory: /context, /compact, /constraints, /cache, names."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hame.base.errors import ConfigError
from hame.base.memory import CacheReading, Constraint, WindowReport
from hame.cli.reveal import one_line
from hame.cli.slash import Slash
from hame.cli.words import counted, money, tokens

if TYPE_CHECKING:
    from hame.app.memory import Memory

_BAR = 30
"""Cells of the bar that shows how full the window is."""
_READINGS = 12


async def remember(memory: "Memory", slash: Slash) -> list[str]:
    """Do what a slash command asks of the memory; the lines to show.

    Raises:
        ConfigError: if it is not meant that way.
        HameError: if it cannot be done.
    """
    match slash.name:
        case "context":
            return window_lines(await memory.report())
        case "compact":
            return await _compact(memory, slash.argument)
        case "constraints":
            return await _constraints(memory, slash.argument)
        case "cache":
            return cache_lines(memory.readings())
        case "rename":
            if not slash.argument:
                raise ConfigError("/rename needs a name", hint="/rename the parser work")
            await memory.rename(slash.argument)
            return [f"this session is now called {one_line(slash.argument, 60)}"]
        case "label":
            await memory.label(slash.argument)
            return [
                f"this place is labelled {slash.argument}" if slash.argument else "label taken away"
            ]
        case _:
            raise ConfigError(f"/{slash.name} is not about the memory")


def window_lines(report: WindowReport) -> list[str]:
    """What fills the window, by part, and what to do about it."""
    share = report.total / report.window
    full = min(round(share * _BAR), _BAR)
    counted_by = "counted by the provider" if report.measured else "estimated"
    window = f"{tokens(report.window)}{' (assumed)' if report.assumed else ''}"
    bar = "█" * full + "░" * (_BAR - full)
    lines = [f"{bar} {tokens(report.total)} of {window} tokens, {share:.0%}, {counted_by}"]
    for part in report.parts:
        if part.tokens:
            count = f"  {part.count}" if part.count > 1 else ""
            lines.append(
                f"  {tokens(part.tokens):>8}  {part.tokens / report.window:>4.0%}  {part.name}{count}"
            )
    free = max(report.window - report.total, 0)
    lines.append(f"  {tokens(free):>8}  {free / report.window:>4.0%}  free")
    return [*lines, *report.advice]


def constraint_lines(constraints: Sequence[Constraint]) -> list[str]:
    """The demands that hold: id, words, since when, how they came in."""
    rows: list[str] = []
    for each in constraints:
        since = time.strftime("%d %b %H:%M", time.localtime(each.since)) if each.since else ""
        found = {"phrase": "you said so", "model": "the model noticed", "user": "added by you"}
        notes = ", ".join(
            filter(None, [found.get(each.found_by, each.found_by), since, each.scope])
        )
        rows.append(f"{each.id:>4}  {one_line(each.text, 120)}  ({notes})")
    return rows


def cache_lines(readings: Sequence[CacheReading]) -> list[str]:
    """What the provider's cache did for the last requests, and why not more."""
    if not readings:
        return ["no request of this session was counted yet"]
    served, total = sum(each.got for each in readings), sum(each.total for each in readings)
    lost = [each.lost_usd for each in readings if each.lost_usd is not None]
    lines = [
        f"{counted(len(readings), 'request')}: {tokens(served)} of {tokens(total)} tokens from the"
        f" cache ({served / max(total, 1):.0%})"
        + (f"; misses cost about {money(sum(lost))}" if lost else "")
    ]
    first = max(len(readings) - _READINGS, 0)
    for number, each in enumerate(readings[first:], first + 1):
        why = f"  {each.why}" if each.why else ""
        price = f", {money(each.lost_usd)}" if each.lost_usd else ""
        lines.append(
            f"  {number:>4}  {tokens(each.got):>7} of {tokens(each.total):>7}"
            f"  (expected {tokens(each.expected)}{price}){why}"
        )
    return lines


async def _compact(memory: "Memory", focus: str) -> list[str]:
    done = await memory.compact(focus)
    if done is None:
        return ["there is too little to summarise yet"]
    shorter = f"{tokens(done.tokens_before)} tokens → {tokens(done.tokens_after)}"
    made = (
        f"made from the journal: {done.trouble}"
        if done.trouble
        else "this is what the model keeps:"
    )
    return [shorter, made, *done.summary.splitlines()]


async def _constraints(memory: "Memory", argument: str) -> list[str]:
    verb, _, rest = argument.partition(" ")
    match verb:
        case "":
            held = constraint_lines(memory.constraints())
            how = "/constraints add TEXT · change ID TEXT · remove ID"
            return [*(held or ["no demands hold yet"]), how]
        case "add":
            added = await memory.add_constraint(rest)
            return [f"{added.id} holds from now on: {added.text}"]
        case "change":
            name, _, text = rest.strip().partition(" ")
            changed = await memory.change_constraint(name, text)
            return [f"{changed.id} holds from now on: {changed.text}"]
        case "remove":
            gone = await memory.remove_constraint(rest.strip())
            return [f"{gone.id} holds no more: {gone.text}"]
        case _:
            raise ConfigError(
                f"/constraints does not know {one_line(verb, 30)}",
                hint="/constraints add TEXT · change ID TEXT · remove ID",
            )
