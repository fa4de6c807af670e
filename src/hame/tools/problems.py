"""What an edit broke: the problems a file has now and did not have before."""

from collections import Counter
from collections.abc import Sequence

from hame.base.edit import Problem
from hame.base.ports import ToolContext

_SHOWN = 5


async def new_problems(context: ToolContext, shown: str, before: str, after: str) -> str:
    """For the model: the problems that are new, on lines of their own; empty when there are none."""
    if context.diagnostics is None:
        return ""
    now = await context.diagnostics.check(shown, after)
    if not now:
        return ""
    fresh = _fresh(await context.diagnostics.check(shown, before), before, now, after)
    lines = [f"\nline {each.line}:{each.column}: {each.message}" for each in fresh[:_SHOWN]]
    more = f"\n[{len(fresh) - _SHOWN} more]" if len(fresh) > _SHOWN else ""
    return f"\nNew problems in {shown}:{''.join(lines)}{more}" if fresh else ""


def _fresh(
    old: Sequence[Problem], before: str, now: Sequence[Problem], after: str
) -> list[Problem]:
    """Those that are not the same as one before, wherever its line has moved to."""
    known = Counter(_identity(problem, before.split("\n")) for problem in old)
    fresh: list[Problem] = []
    lines = after.split("\n")
    for problem in now:
        identity = _identity(problem, lines)
        if known[identity]:
            known[identity] -= 1
        else:
            fresh.append(problem)
    return fresh


def _identity(problem: Problem, lines: Sequence[str]) -> tuple[str, str]:
    line = lines[problem.line - 1] if problem.line <= len(lines) else ""
    return line.strip(), problem.message
