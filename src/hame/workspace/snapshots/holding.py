"""Words for the user: what can be brought back, said before something may be taken away."""

import os
from collections.abc import Sequence

from hame.workspace.snapshots.capture import Capture

_NAMED = 3
"""Places that are named."""


def what_is_held(held: int, captures: Sequence[Capture]) -> str:
    """What `held` files in these captures are, and what is not among them."""
    ignored = [path for capture in captures for path in capture.forced]
    left = [path for capture in captures for path in capture.not_held]
    beyond = sum(capture.beyond for capture in captures)
    words = [f"undo holds {held:,} file{'s' if held != 1 else ''} as they are now"]
    if ignored:
        words.append(f"{len(ignored):,} of them ignored ({_named(ignored)})")
    if left:
        words.append(f"not {_named(left)} (ignored and too large)")
    if beyond:
        words.append(f"not {beyond:,} new files that are more than it takes")
    return ", ".join(words)


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(os.fsencode(path).decode("utf-8", "replace") for path in paths[:_NAMED])
    return f"{shown}, ..." if len(paths) > _NAMED else shown
