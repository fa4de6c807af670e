"""Messages that come while a run is going."""

from collections import deque


class Inbox:
    """Steering messages in the order sent; delivered at the next step, or as a follow-up at the end."""

    def __init__(self) -> None:
        """Start empty."""
        self._waiting: deque[str] = deque()

    def post(self, text: str) -> None:
        """Leave a message for the run."""
        self._waiting.append(text)

    def take(self) -> tuple[str, ...]:
        """All waiting messages; they are waiting no longer."""
        taken = tuple(self._waiting)
        self._waiting.clear()
        return taken

    @property
    def waiting(self) -> bool:
        """Whether anything is waiting."""
        return bool(self._waiting)
