"""What the first message of a session tells the model of where it works."""

import os
import time
from pathlib import Path

from hame.base.message import Note
from hame.base.zone import ProjectPaths
from hame.prompts.opening import Surroundings, environment_note, find_rules, rules_note


def opening_notes(
    paths: ProjectPaths, mode: str, now: float, user_rules: str = "", *, trusted: bool = False
) -> tuple[Note, ...]:
    """Folder, date, platform and mode; the user's own rules and the project's where there are any.

    `trusted`: the user trusts the project's folder, so that its rules are taken for theirs.
    """
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
    stop = repository or root
    rules = find_rules(root, stop)
    own = Path(user_rules) if user_rules else None
    notes = (
        rules_note(own, "of the user's for all projects") if own and own.is_file() else None,
        rules_note(rules, trusted=trusted, stop=stop) if rules else None,
    )
    return (environment_note(surroundings), *(note for note in notes if note))
