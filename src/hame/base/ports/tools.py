"""Tools: what they are, what they may use, and who says whether they may run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from hame.base.confinement import Confinement, SandboxDenied
from hame.base.json import JsonObject
from hame.base.message import ToolCall
from hame.base.outcome import Corrected, Denied, Done, Failed, View
from hame.base.path import Resolution
from hame.base.ports.processes import Jobs, Processes, Sandbox
from hame.base.ports.workspace import Blobs, Diagnostics, Index, Structure, Workspace
from hame.base.question import Answer, Question
from hame.base.tool import ToolSpec
from hame.base.web import WebRequest, WebResponse
from hame.base.zone import Operation


class Web(Protocol):
    """The public web; addresses of private networks and of this machine are refused."""

    async def fetch(self, request: WebRequest) -> WebResponse:
        """Ask. Redirects are followed as long as they stay with the host.

        Raises:
            ToolError: for an address that may not be asked, and when there is no answer.
        """
        ...


class Target(msgspec.Struct, frozen=True):
    """A place a call would touch, for the gate to judge."""

    resolution: Resolution
    operation: Operation


class Action(Protocol):
    """A call that has been checked and is ready to run, but has not run.

    The gate judges the targets, the question shows the view, and `run` acts on exactly what was
    judged: it checks `digest` again and refuses if anything changed in between.
    """

    @property
    def targets(self) -> Sequence[Target]:
        """The places it would touch."""
        ...

    @property
    def view(self) -> View | None:
        """The real thing for the question: the diff, the whole command."""
        ...

    @property
    def digest(self) -> str:
        """Hash of what will run and on what."""
        ...

    def bind(self, still: Callable[[], bool]) -> None:
        """What an approval rests on is as it was while this says so; looked at as late as can be."""
        ...

    async def run(self, confinement: Confinement) -> Done | Failed:
        """Do it; programs it starts are confined like this.

        Raises:
            ToolError: when it cannot be done, or is not any more what was approved; becomes the
                call's failed outcome.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds open, whether or not it ran."""
        ...


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool may use."""

    workspace: Workspace
    processes: Processes
    sandbox: Sandbox
    progress: Callable[[str], None]
    """More text to show while the call runs."""
    command_timeout_s: float = 120.0
    index: Index | None = None
    """What is known of the whole project, where somebody keeps it."""
    structure: Structure | None = None
    """What source code defines, where somebody can tell."""
    diagnostics: Diagnostics | None = None
    """What is wrong with a file, where somebody can tell."""
    blobs: Blobs | None = None
    """Where results are kept whole."""
    jobs: Jobs | None = None
    """Commands in the background."""
    asker: "Asker | None" = None
    """The user."""
    web: Web | None = None
    """The public web."""
    tools: "Mapping[str, Tool]" = {}
    """All tools of the run, by name."""
    user_notes: str = ""
    """The user's own file of rules for all projects."""


class Tool(Protocol):
    """Something the model can ask for."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        ...

    def summarize(self, arguments: JsonObject) -> str:
        """One line for eyes: what this call does. Must not raise, whatever the arguments."""
        ...

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Check everything that can be checked before the question: the file exists, the text is unique.

        Raises:
            ToolError: with words for the model; nothing was changed.
        """
        ...


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is ready to run, as the gate is asked about it."""

    call: ToolCall
    spec: ToolSpec
    action: Action
    summary: str
    """One line for eyes."""


class Shortfall(msgspec.Struct, frozen=True, kw_only=True):
    """A command that failed, most likely because of what its sandbox kept it from."""

    given: Confinement
    """What it ran with."""
    denied: tuple[SandboxDenied, ...]


class Gate(Protocol):
    """Decides whether a call may run."""

    async def decide(self, proposal: Proposal) -> Denied | Corrected | Confinement:
        """A confinement: it may run, and what it starts may reach so far. Asks where the rules say so."""
        ...

    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | Corrected | None:
        """What the user grants a command that its sandbox kept from something; None: nothing more.

        The narrowest grant is offered first. It counts for this very action, once, unless the user
        says otherwise.
        """
        ...


class Asker(Protocol):
    """Asks the user."""

    async def ask(self, question: Question) -> Answer | None:
        """The answer; None when there is nobody to ask."""
        ...
