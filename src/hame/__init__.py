"""hame: a coding agent, one harness around any model.

The public Python API is `open` and the nouns it hands out; they are imported when first used, so
that `import hame` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from hame.version import __version__

if TYPE_CHECKING:
    from hame.app.api import Events, Session
    from hame.app.api import open_session as open  # noqa: A004 - `hame.open` is the public name
    from hame.base.errors import HameError
    from hame.base.event import RunEvent
    from hame.base.question import Answer, Question
    from hame.base.run import RunResult

__all__ = [
    "Answer",
    "Events",
    "HameError",
    "Question",
    "RunEvent",
    "RunResult",
    "Session",
    "__version__",
    "open",
]

_HOMES = {
    "Answer": "base.question",
    "Events": "app.api",
    "HameError": "base.errors",
    "Question": "base.question",
    "RunEvent": "base.event",
    "RunResult": "base.run",
    "Session": "app.api",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for.

    Raises:
        AttributeError: for a name that is not public.
    """
    if name == "open":
        return import_module("hame.app.api").open_session
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hame' has no attribute {name!r}")
    return getattr(import_module(f"hame.{home}"), name)
