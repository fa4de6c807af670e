"""What the first message of a session tells the model of where it works."""

import os
import time
from pathlib import Path

from hame.base.message import Note
from hame.base.zone import ProjectPaths
from hame.prompts.opening import Surroundings, environment_note, find_rules, rules_note


def opening_notes(paths: ProjectPaths, mode: str, now: float) -> tuple[Note, ...]:
    """Folder, date, platform and mode, and the project's rules file where it has one."""
    root = Path(paths.root)
    repository = next((p for p in (root, *root.parents) if (p / ".git").exists()), None)
    surroundings = Surroundings(
        root=paths.root,
        date=time.strftime("%Y-%m-%d", time.localtime(now)),
        platform=f"{os.uname().sysname} {os.uname().machine}",
        mode=mode,
        git=repository is not None,
        added=paths.added,
    )
    rules = find_rules(root, repository or root)
    note = rules_note(rules) if rules else None
    return (environment_note(surroundings), *((note,) if note else ()))
