"""What several sessions of one project changed at the same time, by their lists of steps."""

from collections.abc import Sequence
from pathlib import Path

from hame.base.snapshot import Step
from hame.workspace.snapshots.log import StepLog
from hame.workspace.snapshots.store import Store


def claims(store: Store, session: str, steps: Sequence[Step]) -> dict[int, dict[str, str]]:
    """Step -> paths that another session also changed while it ran, and which session.

    A step that declared what it changes is its own: nobody else can claim that.
    """
    mine = [step for step in steps if not step.exact and not step.reverts]
    if not mine:
        return {}
    found: dict[int, dict[str, str]] = {}
    first = min(step.began for step in mine)
    for folder in store.sessions():
        if folder.name == session or not _active_since(folder / "log.jsonl", first):
            continue
        for other in StepLog(folder / "log.jsonl").steps():
            for step in mine:
                if other.began <= step.ended and other.ended >= step.began:
                    shared = {change.path for change in other.changes}
                    paths = {each.path for each in step.changes} & shared
                    found.setdefault(step.number, {}).update(dict.fromkeys(paths, folder.name))
    return found


def _active_since(log: Path, moment: float) -> bool:
    try:
        return log.stat().st_mtime >= moment
    except OSError:
        return False
