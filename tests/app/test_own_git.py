"""hame's own git calls in repositories that were made to harm: no program of theirs runs.

Tried where nothing confines a program, so that it is the calls themselves that hold.
"""

from pathlib import Path

import anyio
import pytest

from canaries.traps import PLAIN, TRAPS, Site, Trap, spring
from hame.app.build import Launchpad, open_snapshots
from hame.app.opening import opening_notes
from hame.app.taking_back import collect_all
from hame.base.confinement import Confinement
from hame.base.ports import ToolContext
from hame.base.settings import Settings
from hame.base.snapshot import Attempt
from hame.base.zone import ProjectPaths
from hame.config.places import find_places
from hame.permissions.commands.analysis import analyse
from hame.permissions.commands.ground import Ground
from hame.permissions.losses import count_losses
from hame.sandbox.unconfined import Unconfined
from hame.tools.project_overview import ProjectOverview
from hame.workspace.index import LocalIndex
from hame.workspace.inventory import take_inventory
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses

LOSING = (
    "git reset --hard", "git checkout -- .", "git restore .", "git clean -fdx", "git stash drop",
)  # fmt: skip


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def processes_of(site: Site, root: str) -> LocalProcesses:
    return LocalProcesses(PLAIN | site.environment, Unconfined(), without=(root,))


async def take_snapshots(site: Site, root: str) -> None:
    """A session with a command, an edit, a destructive command and an undo."""
    places = find_places({"HOME": str(site.outside / "home")})
    paths = ProjectPaths(root=root, home=places.home)
    processes = processes_of(site, root)
    snapshots = open_snapshots(places, paths, "s1", processes)
    steps = (("make", ()), ("", (f"{root}/a.txt",)), ("git clean -fdx", ()))
    for number, (command, changed) in enumerate(steps):
        attempt = Attempt(
            call=f"c{number}", tool="run_command", title=command, record=f"r{number}",
            command=command, paths=changed,
        )  # fmt: skip
        await snapshots.begin(attempt)
        await anyio.Path(root, "a.txt").write_text(f"step {number}\n")
        snapshots.end(attempt.call)
        await snapshots.settle()
    done = await snapshots.steps()
    assert [change.path for step in done for change in step.changes], "it has seen the changes"
    plan = await snapshots.plan([step.number for step in done])
    await snapshots.undo(plan, "undo", "r9")
    pad = Launchpad(
        settings=Settings(), environment=PLAIN | site.environment, places=places, project=root,
        interactive=False,
    )  # fmt: skip
    await collect_all(pad, everywhere=True, keep_days=0)


async def count(site: Site, root: str) -> None:
    """What is asked before a question about a destructive command."""
    ground = Ground(paths=ProjectPaths(root=root, home="/nonexistent"), cwd=root, level="none")
    for command in LOSING:
        scene = analyse(command, ground).scene
        assert scene is not None
        assert await count_losses(scene, processes_of(site, root))


async def look(site: Site, root: str) -> None:
    """Everything else that looks at a project: notes, overview, index, search, inventory."""
    workspace = open_workspace(root, home=str(site.outside / "home"))
    processes = processes_of(site, root)
    index = LocalIndex(workspace)
    context = ToolContext(
        workspace=workspace, processes=processes, sandbox=Unconfined(), index=index,
        progress=lambda _: None,
    )  # fmt: skip
    opening_notes(workspace.paths, "ask", 0.0)
    action = await ProjectOverview().prepare({}, context)
    await action.run(Confinement())
    action.close()
    take_inventory(root)


CALLS = {"snapshots": take_snapshots, "losses": count, "looks": look}


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
async def test_no_program_of_the_repositorys_runs(site: Site, trap: Trap) -> None:
    """T11, T13, T17; seen to fail on builds that were broken on purpose.

    Without the settings of `hame.base.git`: fsmonitor, include, worktree-config, both submodules, bare,
    commondir and gitfile. Without `switched_off`, or with the user's git directory in place of hame's
    own in snapshots: filter-clean, filter-process, filter-odd and own-attributes. Without both
    `GIT_ALLOW_PROTOCOL` and `GIT_NO_LAZY_FETCH`: lazy-fetch and remote-helper. With `GIT_*` let through:
    parameters and trace. With programs looked for on the whole search path: search-path and
    linked-path. The others need a command that hame does not use; they are here for the day it does.
    """
    trap.set(site)
    spring(trap, site)
    assert site.ran, f"{trap.springs} does not spring the trap any more"
    root = str(site.root / trap.cwd).removesuffix("/.")
    for name, call in CALLS.items():
        site.calm()
        await call(site, root)
        assert site.ran == [], name


async def test_no_git_out_of_a_further_folder_collects_snapshots(tmp_path: Path) -> None:
    """Commands may write there as in the project."""
    root, added, canary = tmp_path / "project", tmp_path / "added", tmp_path / "canary"
    root.mkdir()
    (added / "bin").mkdir(parents=True)
    planted = added / "bin" / "git"
    planted.write_text(f"#!/bin/sh\ntouch {canary}\n")
    planted.chmod(0o755)
    environment = PLAIN | {"PATH": f"{added}/bin:{PLAIN['PATH']}"}
    places = find_places({"HOME": str(tmp_path / "home")})
    paths = ProjectPaths(root=str(root), added=(str(added),), home=places.home)
    processes = LocalProcesses(environment, Unconfined(), without=paths.roots)
    snapshots = open_snapshots(places, paths, "s1", processes)
    for number in range(2):
        await snapshots.begin(
            Attempt(call=f"c{number}", tool="run_command", title="t", record="r", command="make")
        )
        (root / f"{number}.txt").write_text("a\n")
        snapshots.end(f"c{number}")
        await snapshots.settle()
    pad = Launchpad(
        settings=Settings(add_dirs=(str(added),)),
        environment=environment,
        places=places,
        project=str(root),
        interactive=False,
    )
    await collect_all(pad, everywhere=True, keep_days=30)
    assert not canary.exists()
