"""What the command line needs of a runtime, and how it gets one."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hame.base.event import RunEnded
from hame.base.ports import Emit
from hame.base.question import Answer
from hame.base.settings import Mode
from hame.cli.launch import Launch

if TYPE_CHECKING:
    from hame.app.build import Launchpad
    from hame.app.memory import Memory
    from hame.app.undo import Rewind, Rewinder
    from hame.base.snapshot import Step


class Session(Protocol):
    """What the command line needs of a runtime; `hame.app.runtime.Runtime` is one."""

    @property
    def session(self) -> str:
        """Id of the session."""
        ...

    @property
    def model(self) -> str:
        """`backend/model`; empty until one has been opened."""
        ...

    @property
    def mode(self) -> Mode:
        """What runs without a question."""
        ...

    @property
    def sandbox(self) -> str:
        """How commands are confined."""
        ...

    def subscribe(self, sink: Emit) -> Callable[[], None]:
        """Send all events to `sink`."""
        ...

    async def prompt(self, text: str) -> RunEnded:
        """One run, to its end."""
        ...

    def steer(self, text: str) -> None:
        """Say something while a run is going."""
        ...

    def cancel(self, reason: str = ...) -> None:
        """Stop the run that is going."""
        ...

    def answer(self, question_id: str, answer: Answer) -> bool:
        """Answer a question."""
        ...

    async def set_model(self, name: str | None) -> None:
        """Ask this model from now on."""
        ...

    async def set_mode(self, mode: Mode) -> None:
        """Change what runs without a question."""
        ...

    async def clear(self) -> None:
        """Begin a new session."""
        ...

    async def resume(self, session: str) -> None:
        """Go on with another session."""
        ...

    def memory(self) -> "Memory":
        """What the session remembers."""
        ...

    def rewinder(self) -> "Rewinder":
        """What takes the session back."""
        ...

    async def rewind(self, plan: "Rewind") -> "Step | None":
        """Do what was planned."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


Build: TypeAlias = Callable[[Launch], Awaitable[Session]]
"""Makes a runtime."""


async def build_session(launch: Launch) -> Session:
    """Make the real thing."""
    from hame.app.build import build_runtime

    return await build_runtime(launchpad(launch))


def launchpad(launch: Launch) -> "Launchpad":
    """What the rooms below start from."""
    from hame.app.build import Launchpad

    return Launchpad(
        settings=launch.settings,
        environment=launch.environment,
        places=launch.places,
        project=launch.project,
        interactive=launch.interactive,
        resume=launch.resume,
        trusted=launch.trusted,
    )
