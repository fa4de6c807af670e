"""Lists for people: sessions."""

import time
from collections.abc import Sequence
from pathlib import Path

from hame.cli.reveal import one_line
from hame.config.places import Places
from hame.sessions.store import SessionStore, SessionSummary


def summaries(places: Places, project: str | None) -> list[SessionSummary]:
    """The sessions of a project, or all, the newest first."""
    return SessionStore(Path(places.sessions)).list(project)


def session_lines(found: Sequence[SessionSummary], *, with_folder: bool = False) -> list[str]:
    """One line for each session: id, age, title."""
    lines: list[str] = []
    for summary in found:
        title = "cannot be read" if summary.damaged else one_line(summary.title, 60) or "(empty)"
        folder = f"  {summary.cwd}" if with_folder else ""
        lines.append(f"{summary.id}  {_age(summary.updated):>12}  {title}{folder}")
    return lines


def _age(moment: float) -> str:
    seconds = max(time.time() - moment, 0)
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"
