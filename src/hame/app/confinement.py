"""The sandbox of a runtime: where it stands, whom it tells, and the folder that commands know as /tmp."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from hashlib import blake2b

import anyio
import msgspec
from typing_extensions import override

from hame.app.log import Log
from hame.app.temporary import TemporaryFolder
from hame.base.confinement import Confinement, Level, SandboxDenied, Standing
from hame.base.ports import Cell, Gateway, Sandbox
from hame.base.process import Launch
from hame.base.settings import SandboxChoice, Settings
from hame.config.places import Places
from hame.sandbox.expected import expected_level
from hame.sandbox.ladder import Ladder
from hame.sandbox.site import Site
from hame.workspace.local import LocalWorkspace, open_workspace
from hame.workspace.process import LocalProcesses

TEMPORARY_ALIAS = "/tmp"  # noqa: S108 - what commands call their private folder
"""Where level A puts the private folder."""


class ToldSandbox(Sandbox):
    """Implements the Sandbox port by another one; says when it holds less than was expected."""

    def __init__(self, inner: Ladder, temporary: TemporaryFolder) -> None:
        """Nobody is told yet. The folder goes with the sandbox."""
        self._inner = inner
        self._temporary = temporary
        self._tell: Callable[[str], None] = lambda _: None
        self._told = False

    def speak_through(self, tell: Callable[[str], None]) -> None:
        """Say what there is to say to the user through this."""
        self._tell = tell

    @property
    @override
    def level(self) -> Level:
        """As the inner one says."""
        return self._inner.level

    @override
    async def prepare(self) -> Standing:
        """Try it, and say what was not expected."""
        expected = self._inner.level
        standing = await self._inner.prepare()
        if standing.level is not expected and not self._told:
            self._told = True
            self._tell(_fallen(expected, standing))
        return standing

    @override
    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        """As the inner one does."""
        if launch.keep:
            self._temporary.keep()
        return self._inner.confine(launch)

    @override
    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        """As the inner one does."""
        return self._inner.explain(confinement, output, refused, cwd)

    async def close(self) -> None:
        """Take away what commands and their sandboxes have left."""
        await self._inner.close()
        await self._temporary.remove()


def open_sandbox(
    settings: Settings,
    environment: Mapping[str, str],
    places: Places,
    workspace: LocalWorkspace,
    *,
    log: Log,
) -> ToldSandbox:
    """The sandbox for a project's commands, and their private folder; nothing is tried or made yet."""
    paths = workspace.paths
    site = Site(
        paths=paths,
        own=(places.config, places.data, places.state, places.cache),
        caches=f"{places.builds}/{_name_of(paths.root)}",
        scratch=places.sandbox,
        search_path=environment.get("PATH", os.defpath),
    )
    temporary = TemporaryFolder(places.temporary)
    if settings.sandbox is not SandboxChoice.NONE:
        level = expected_level(site, settings.sandbox)
        workspace.share_temporary(temporary.path, TEMPORARY_ALIAS if level is Level.A else "")
        site = msgspec.structs.replace(site, paths=workspace.paths)
    ladder = Ladder(
        site,
        settings.sandbox,
        lambda sandbox: LocalProcesses(environment, sandbox, without=paths.roots),
        lambda: open_gateway(settings, environment, log),
    )
    return ToldSandbox(ladder, temporary)


def open_gateway(settings: Settings, environment: Mapping[str, str], log: Log) -> Gateway:
    """What leads confined commands to the machines that they were granted."""
    from hame.net.egress import Egress

    return Egress(
        proxy=settings.proxy,
        environment=environment,
        ca_file=settings.ca_file,
        report=lambda error: log.write("egress", error=repr(error)),
    )


async def try_sandbox(
    settings: Settings, environment: Mapping[str, str], places: Places, project: str
) -> Standing:
    """What confines the commands of a project, found by trying; nothing is left of the trial.

    Raises:
        ToolError: if what the settings ask for by name does not work here.
    """
    workspace = open_workspace(
        project,
        added=settings.add_dirs,
        home=places.home,
        results=places.results,
        config=places.config,
    )
    log = Log(places.log, lambda text: text)
    sandbox = open_sandbox(settings, environment, places, workspace, log=log)
    try:
        return await sandbox.prepare()
    finally:
        with anyio.CancelScope(shield=True):
            await sandbox.close()
        log.close()


def _name_of(root: str) -> str:
    digest = blake2b(root.encode(errors="surrogateescape"), digest_size=8).hexdigest()
    return f"{os.path.basename(root) or 'root'}-{digest}"  # noqa: PTH119 - a str of a str


def _fallen(expected: Level, standing: Standing) -> str:
    reason = f": {standing.reason}" if standing.reason else ""
    return (
        f"commands are confined at level {standing.level}, not {expected}{reason}; see hame doctor"
    )
