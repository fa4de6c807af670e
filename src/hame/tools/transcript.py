"""Output of any length in bounded memory: its beginning and its end, and how much lies between."""

from collections import deque

_HEAD = 16_000
_TAIL = 16_000
KEPT = _HEAD + _TAIL
"""Characters of an output of which nothing is left out."""


class Transcript:
    """Collects text; keeps the first and the last characters of it."""

    def __init__(self, head: int = _HEAD, tail: int = _TAIL) -> None:
        """Keep `head` characters of the beginning and at least `tail` of the end."""
        self._head_limit, self._tail_limit = head, tail
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_size = self._tail_size = 0
        self._dropped = self._dropped_lines = 0

    def add(self, text: str) -> None:
        """Take more text."""
        room = self._head_limit - self._head_size
        if room > 0:
            self._head.append(text[:room])
            self._head_size += len(self._head[-1])
            text = text[room:]
        if not text:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            self._drop(self._tail.popleft())

    def text(self) -> str:
        """What was kept, with the gap named."""
        head, tail = "".join(self._head), "".join(self._tail)
        spare = len(tail) - self._tail_limit
        if self._dropped == 0 and spare <= 0:
            return head + tail
        dropped, lines = self._dropped + spare, self._dropped_lines + tail.count("\n", 0, spare)
        tail = tail[spare:]
        # Cut at line borders where there are any near.
        head_cut = head.rfind("\n", len(head) // 2) + 1
        tail_cut = tail.find("\n", 0, len(tail) // 2) + 1
        if head_cut:
            dropped += len(head) - head_cut
            head = head[:head_cut]
        if tail_cut:
            dropped += tail_cut
            lines += 1
            tail = tail[tail_cut:]
        gap = f"[{dropped:,} characters ({lines:,} lines) left out here]"
        return f"{head.rstrip()}\n{gap}\n{tail}"

    def _drop(self, text: str) -> None:
        self._tail_size -= len(text)
        self._dropped += len(text)
        self._dropped_lines += text.count("\n")
