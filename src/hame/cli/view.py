"""What a surface of the command line is to a run: it takes events and shows them."""

from typing import Protocol

from hame.base.event import RunEvent


class View(Protocol):
    """Shows a run. `show` is a sink of RunEvents: it does not block for long."""

    def show(self, event: RunEvent) -> None:
        """Take an event."""
        ...

    def tick(self) -> None:
        """Time has passed; called some twenty times a second while a run is going."""
        ...

    def close(self) -> None:
        """Nothing more comes; leave the terminal tidy."""
        ...
