"""The progress guard: tells a run that goes in circles from one that works through a batch.

A call that was made before *and* came to the same result again is no progress. A change to any file
makes everything worth reading again. A run first gets a nudge, and is stopped when that does not
help.
"""

from collections import Counter
from collections.abc import Sequence
from enum import Enum, auto
from hashlib import blake2b

from hame.base.json import dump_bytes
from hame.base.message import ToolCall
from hame.base.outcome import Done, Failed, Outcome, result_content


class Verdict(Enum):
    """What the guard says after a step."""

    GO_ON = auto()
    NUDGE = auto()
    STOP = auto()


NUDGE_TEXT = (
    "You are repeating calls that bring nothing new. Use what you already know: take a different "
    "approach, or finish and tell the user what is in the way."
)

STALE_NUDGE, STALE_STOP = 3, 6
"""Consecutive steps without anything new."""
FAILING_NUDGE, FAILING_STOP = 3, 5
"""Times the very same call has failed in the very same way."""
SAME_CALL_STOP = 40
"""Times one call may be made without any change of files, whatever it returns (a poll)."""


class ProgressGuard:
    """Watches the settled calls of one run."""

    def __init__(self) -> None:
        """Nothing has been seen."""
        self._seen: set[bytes] = set()
        self._made: Counter[bytes] = Counter()
        self._failed: Counter[bytes] = Counter()
        self._stale = 0

    def judge(self, settled: Sequence[tuple[ToolCall, Outcome]]) -> Verdict:
        """Take one step's calls with their outcomes."""
        fresh = False
        failing = made = 0
        for call, outcome in settled:
            changed = isinstance(outcome, Done | Failed) and bool(outcome.changed)
            if changed:
                self._seen.clear()
                self._made.clear()
                self._failed.clear()
            asked = _digest(call.name, call.arguments, call.malformed)
            whole = asked + _digest(*result_content(outcome))
            fresh = fresh or changed or whole not in self._seen
            self._seen.add(whole)
            self._made[asked] += 1
            made = max(made, self._made[asked])
            if not isinstance(outcome, Done):
                self._failed[whole] += 1
                failing = max(failing, self._failed[whole])
        self._stale = 0 if fresh else self._stale + 1
        if self._stale >= STALE_STOP or failing >= FAILING_STOP or made >= SAME_CALL_STOP:
            return Verdict.STOP
        if self._stale == STALE_NUDGE or failing == FAILING_NUDGE:
            return Verdict.NUDGE
        return Verdict.GO_ON


def _digest(*parts: object) -> bytes:
    return blake2b(dump_bytes(parts), digest_size=16).digest()
