"""A runtime on a real project, real tools and a real journal; only the model is scripted."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from hame.app.clock import SystemClock
from hame.app.door import gate_maker
from hame.app.late import end_orphans
from hame.app.log import Log
from hame.app.runtime import Parts, Runtime
from hame.app.sessions import StoredSessions
from hame.base.event import RunEvent
from hame.base.ports import Model, ToolContext
from hame.base.settings import Mode, SandboxChoice, Settings
from hame.config.places import find_places
from hame.context import Window
from hame.sandbox.unconfined import Unconfined
from hame.sessions.redaction import Redactor
from hame.testing import ScriptedModel
from hame.tools import builtin_tools
from hame.workspace.jobs import LocalJobs
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses
from hame.workspace.results import ResultStore
from hame.workspace.snapshots.keeper import LocalSnapshots
from hame.workspace.snapshots.store import store_of

SECRET = "very-secret-value-1234567890"


class Scene:
    """A runtime and what it told."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self.results = ResultStore(str(folder / "results"))
        self.sessions = StoredSessions(str(folder / "sessions"))
        self.places = find_places({"HOME": str(folder)})
        self.events: list[RunEvent] = []
        self.model = ScriptedModel()
        self.opened: list[str | None] = []
        self.runtimes: list[Runtime] = []

    def folder_of_jobs(self) -> Path:
        folder = Path(self.places.jobs)
        folder.mkdir(parents=True)
        return folder

    async def closed(self) -> None: ...

    async def open_model(self, name: str | None) -> Model:
        self.opened.append(name)
        return self.model

    def start(
        self,
        *steps: object,
        mode: Mode = Mode.AUTO,
        interactive: bool = False,
        resume: str | None = None,
        open_model: Callable[[str | None], Awaitable[Model]] | None = None,
        user_notes: str = "",
        web_search: bool = False,
    ) -> Runtime:
        self.model = ScriptedModel(*steps)
        workspace = open_workspace(str(self.project), home=str(self.project.parent))
        context = ToolContext(
            workspace=workspace,
            processes=LocalProcesses({"PATH": "/usr/bin:/bin"}, Unconfined()),
            sandbox=Unconfined(),
            progress=lambda _: None,
            blobs=self.results,
            user_notes=user_notes,
        )
        parts = Parts(
            settings=Settings(mode=mode, sandbox=SandboxChoice.NONE, web_search=web_search),
            clock=SystemClock(),
            new_tools=builtin_tools,
            tool_context=context,
            new_gate=gate_maker(
                Settings(mode=mode, sandbox=SandboxChoice.NONE),
                {"PATH": "/usr/bin:/bin"},
                self.places,
                context,
            ),
            sessions=self.sessions,
            new_jobs=lambda: LocalJobs(context.processes, self.results),
            new_snapshots=lambda session: LocalSnapshots(
                store_of(self.project.parent / "snapshots", str(self.project), "/nowhere"),
                session,
                workspace.paths,
                context.processes,
            ),
            open_model=open_model or self.open_model,
            new_context=Window,
            redaction=Redactor([SECRET]),
            log=Log(str(self.project.parent / "log"), Redactor([SECRET]).text),
            interactive=interactive,
            end_orphans=lambda: end_orphans(self.places.jobs),
            close=self.closed,
        )
        root = workspace.paths.root
        journal = self.sessions.resume(resume) if resume else self.sessions.create(root)
        runtime = Runtime(parts, journal)
        runtime.subscribe(self.events.append)
        self.runtimes.append(runtime)
        return runtime

    def seen(self, kind: type) -> list:
        return [item for item in self.events if isinstance(item, kind)]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    made = Scene(tmp_path)
    yield made
    for runtime in made.runtimes:
        await runtime.close()
