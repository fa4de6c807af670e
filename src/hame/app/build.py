"""Settings in, a Runtime out: where the rooms are joined."""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from hame.app.clock import SystemClock
from hame.app.confinement import open_sandbox
from hame.app.door import gate_maker
from hame.app.lastwords import known_secrets
from hame.app.late import LateJobs, LateSnapshots, LateWeb, NoSnapshots, end_orphans
from hame.app.log import Log
from hame.app.models import Models
from hame.app.runtime import Parts, Runtime
from hame.app.sessions import StoredSessions
from hame.base.ports import Blobs, Clock, Jobs, Processes, Snapshots, ToolContext, Web
from hame.base.run import Allowance
from hame.base.settings import Settings
from hame.base.zone import ProjectPaths
from hame.config.places import Places
from hame.config.trust import is_trusted
from hame.context import Window
from hame.sessions.redaction import Redactor
from hame.tools import builtin_tools
from hame.version import __version__
from hame.workspace.index import LocalIndex
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses
from hame.workspace.results import ResultStore
from hame.workspace.syntax import Syntax


class Launchpad(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime is made from."""

    settings: Settings
    environment: Mapping[str, str]
    places: Places
    project: str
    """Real path of the folder to work in."""
    interactive: bool
    """Somebody is there to answer questions."""
    resume: str | None = None
    """Id of a session to go on with, or the beginning of it."""
    trusted: bool = False
    """The user trusts the folder for this run, whatever they said before."""
    snapshots: bool = True
    """What files were is held, so that it can be undone."""
    tries: bool = True
    """A local model may be asked how it calls tools before it is asked anything else."""


async def build_runtime(pad: Launchpad) -> Runtime:
    """Join the rooms.

    Raises:
        ConfigError: for settings that cannot be used.
        SessionError: if the session to go on with cannot be opened.
    """
    settings, places = pad.settings, pad.places
    workspace = open_workspace(
        pad.project,
        added=settings.add_dirs,
        home=places.home,
        results=places.results,
        config=places.config,
    )
    redaction = Redactor(known_secrets(settings, pad.environment))
    log = Log(places.log, redaction.text)
    sandbox = open_sandbox(settings, pad.environment, places, workspace, log=log)
    index, clock = LocalIndex(workspace), SystemClock()
    processes = LocalProcesses(pad.environment, sandbox, without=workspace.paths.roots)
    models = Models(
        settings,
        pad.environment,
        places,
        index=index,
        processes=processes,
        clock=clock,
        log=log,
    )
    models.keys.on_secret = redaction.add
    for secret in models.keys.store.plain_secrets():
        models.keys.learned(secret)
    sessions, blobs = StoredSessions(places.sessions), ResultStore(places.results)
    context = ToolContext(
        workspace=workspace,
        processes=processes,
        sandbox=sandbox,
        index=index,
        structure=Syntax(),
        diagnostics=Syntax(),
        progress=lambda _: None,
        command_timeout_s=settings.command_timeout_s,
        blobs=blobs,
        web=LateWeb(lambda: open_web(settings, pad.environment)),
        user_notes=places.rules_file,
    )

    def speak_through(tell: Callable[[str], None]) -> None:
        sandbox.speak_through(tell)
        if pad.tries:
            models.speak_through(tell)

    async def close() -> None:
        await models.close()
        await sandbox.close()

    parts = Parts(
        settings=settings,
        clock=clock,
        new_tools=builtin_tools,
        tool_context=context,
        new_gate=gate_maker(settings, pad.environment, places, context),
        sessions=sessions,
        new_jobs=lambda: LateJobs(lambda: open_jobs(places, processes, blobs)),
        new_snapshots=lambda session: (
            LateSnapshots(lambda: open_snapshots(places, workspace.paths, session, processes))
            if pad.snapshots
            else NoSnapshots()
        ),
        open_model=models.open,
        count_tokens=models.count_tokens,
        remember=models.remember,
        speak_through=speak_through,
        new_context=lambda: Window(blobs),
        redaction=redaction,
        log=log,
        interactive=pad.interactive,
        close=close,
        trusted=lambda: pad.trusted or is_trusted(places, pad.project),
        new_allowance=lambda session: open_allowance(settings, places, clock, session),
        end_orphans=lambda: end_orphans(places.jobs),
    )
    resumed = sessions.resume(pad.resume) if pad.resume else None
    return Runtime(parts, resumed or sessions.create(workspace.paths.root))


def open_snapshots(
    places: Places, paths: ProjectPaths, session: str, processes: Processes
) -> Snapshots:
    """What a session's files were, kept in hame's own folder."""
    from hame.workspace.snapshots.keeper import LocalSnapshots
    from hame.workspace.snapshots.store import store_of

    store = store_of(Path(places.snapshots), paths.root, places.home)
    return LocalSnapshots(store, session, paths, processes)


def open_allowance(
    settings: Settings, places: Places, clock: Clock, session: str
) -> Callable[[], Allowance] | None:
    """Tells what is left of the day's limits while a run of the session goes on; None: there are none."""
    if not settings.limits_days:
        return None
    from hame.app.today import Today

    return Today(settings, places, clock.now, session).left


def open_jobs(places: Places, processes: Processes, blobs: Blobs) -> Jobs:
    """A session's commands in the background."""
    from hame.workspace.jobs import LocalJobs
    from hame.workspace.orphans import JobRecords

    return LocalJobs(processes, blobs, records=JobRecords(places.jobs))


def open_web(settings: Settings, environment: Mapping[str, str]) -> Web:
    """The public web for tools."""
    from hame.net.public import PublicWeb

    return PublicWeb(
        user_agent=f"hame/{__version__}",
        proxy=settings.proxy,
        environment=environment,
        ca_file=settings.ca_file,
    )
