"""Lists for people: sessions."""

import time
from collections.abc import Sequence
from pathlib import Path

from hame.cli.reveal import one_line
from hame.config.places import Places
from hame.sessions.store import SessionStore, SessionSummary


def session_store(places: Places) -> SessionStore:
    """All sessions, with their index."""
    return SessionStore(Path(places.sessions), index=Path(places.cache, "sessions.sqlite"))


def summaries(places: Places, project: str | None, limit: int = 50) -> list[SessionSummary]:
    """The sessions of a project, or all, the newest first."""
    return session_store(places).list(project, limit)


def session_lines(found: Sequence[SessionSummary], *, with_folder: bool = False) -> list[str]:
    """One line for each session: id, age, title."""
    return [session_line(summary, with_folder=with_folder) for summary in found]


def session_line(summary: SessionSummary, *, with_folder: bool = False) -> str:
    """Id, age and title of a session."""
    title = "cannot be read" if summary.damaged else one_line(summary.title, 60) or "(empty)"
    folder = f"  {one_line(summary.cwd)}" if with_folder else ""
    return f"{one_line(summary.id, 80)}  {_age(summary.updated):>12}  {title}{folder}"


def _age(moment: float) -> str:
    seconds = max(time.time() - moment, 0)
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"
