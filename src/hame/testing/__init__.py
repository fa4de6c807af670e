"""Verified fakes for the ports of hame; for its own tests and for those of plugins.

Each passes the same contract suite as the real thing. Nothing here is imported by hame itself, and
each name loads its module only when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hame.testing.asker import ScriptedAsker
    from hame.testing.clock import FakeClock
    from hame.testing.journal import MemoryJournal
    from hame.testing.model import HANG, ScriptedModel
    from hame.testing.reply import Received, Reply
    from hame.testing.script import answer, call, events
    from hame.testing.server import ScriptedServer
    from hame.testing.workspace import MemoryWorkspace

__all__ = [
    "HANG",
    "FakeClock",
    "MemoryJournal",
    "MemoryWorkspace",
    "Received",
    "Reply",
    "ScriptedAsker",
    "ScriptedModel",
    "ScriptedServer",
    "answer",
    "call",
    "events",
]

_HOMES = {
    "HANG": "model",
    "FakeClock": "clock",
    "MemoryJournal": "journal",
    "MemoryWorkspace": "workspace",
    "Received": "reply",
    "Reply": "reply",
    "ScriptedAsker": "asker",
    "ScriptedModel": "model",
    "ScriptedServer": "server",
    "answer": "script",
    "call": "script",
    "events": "script",
}


def __getattr__(name: str) -> object:
    """Load a fake when it is first asked for.

    Raises:
        AttributeError: for a name that is not in `__all__`.
    """
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    """The names there are, loaded or not."""
    return sorted(__all__)
