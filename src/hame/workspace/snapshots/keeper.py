"""Keeping what files were: before a call that may change them, and after it.

A call that names the files it changes is held exactly: their bytes before and after. Of any other,
a command above all, everything in the project is captured before and after, and the difference is
what it did. What the user, or another session, changes between two calls is nobody's step.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
from typing_extensions import override

from hame.base.errors import ToolError
from hame.base.ports import Processes, Snapshots
from hame.base.snapshot import DIRECTORY, Attempt, FileState, PathChange, Step, UndoPlan
from hame.base.zone import ProjectPaths
from hame.workspace.snapshots.capture import Capture, Capturer
from hame.workspace.snapshots.claims import claims
from hame.workspace.snapshots.collect import collect, is_due
from hame.workspace.snapshots.contents import contents
from hame.workspace.snapshots.destructive import destroys
from hame.workspace.snapshots.disk import look
from hame.workspace.snapshots.folders import folders, holds
from hame.workspace.snapshots.git import GitError, GitMissingError
from hame.workspace.snapshots.holding import what_is_held
from hame.workspace.snapshots.log import Began, Ended, StepLog, Undid
from hame.workspace.snapshots.store import Store
from hame.workspace.snapshots.taken import Taken, began_line, captured_by, changes_between
from hame.workspace.snapshots.undo import Ground, make_moves, make_plan

_FIRST_LIMIT_S = 60.0
"""The first capture of a project reads all of it."""
_LIMIT_S = 20.0


class _Whole(msgspec.Struct):
    """A step that may have changed anything."""

    number: int
    trees: list[Taken]
    ended: float | None = None


class _Exact(msgspec.Struct, frozen=True):
    """A step that changes these paths only."""

    number: int
    before: dict[str, FileState]


class LocalSnapshots(Snapshots):
    """Implements the Snapshots port for one session of one project."""

    def __init__(
        self,
        store: Store,
        session: str,
        paths: ProjectPaths,
        processes: Processes,
        *,
        now: Callable[[], float] = time.time,
        still: bool = False,
    ) -> None:
        """Nothing is read, written or started before the first step.

        With `still` steps without an end are left alone: another process may be at them.
        """
        self._still = still
        self._store = store
        self._session = session
        self._paths = paths
        self._processes = processes
        self._now = now
        self._lock = anyio.Lock()
        self._log: StepLog | None = None
        self._capturers: list[Capturer] | None = None
        self._exact: dict[str, _Exact] = {}
        self._whole: dict[str, _Whole] = {}
        self._said: set[str] = set()
        self._off = ""
        """Why nothing is captured any more in this session."""

    @property
    def log(self) -> StepLog:
        """The session's list of steps."""
        if self._log is None:
            self._log = StepLog(self._store.session(self._session) / "log.jsonl")
        return self._log

    # ------------------------------------------------------------ ahead of all calls

    @override
    async def prepare(self) -> None:
        """Capture the project for the first time, while nobody waits for it.

        What was captured when it is stopped is not captured again.
        """
        with suppress(GitError, OSError), anyio.move_on_after(_FIRST_LIMIT_S):
            self._store.make()
            for capturer in self._all_capturers():
                await capturer.take()

    # ------------------------------------------------------------ around a call

    @override
    async def begin(self, attempt: Attempt) -> str | None:
        """Hold what there is before a call; words for the user where they have to know."""
        try:
            self._store.make()
            async with self._lock:
                # What is captured here and now for the step before is what this one begins with.
                again = not await self._settled_now()
                before = self._states(attempt)
                if before is None:
                    return await self._begin_whole(attempt, again=again)
                self._begin_exact(attempt, before)
                return None
        except GitMissingError:
            words = "git is not installed: what commands change cannot be undone, edits can"
            return self._once(words)
        except (GitError, OSError) as error:
            return self._once(f"no snapshot: this step cannot be undone ({error})")

    @override
    def end(self, call: str) -> None:
        """The call has ended. What it did exactly is held now, anything else with `settle`."""
        exact = self._exact.pop(call, None)
        if exact is not None:
            with suppress(OSError):  # The step stays open; it is ended when the list is read.
                self._end_exact(exact)
        whole = self._whole.get(call)
        if whole is not None:
            whole.ended = self._now()

    @override
    async def settle(self) -> Sequence[str]:
        """Capture what ended calls have left; the paths that changed."""
        if not self._is_owed():
            return ()
        async with self._lock:
            try:
                changed = await self._settle()
            except (GitError, OSError):
                return ()  # The steps stay open; the next capture ends them.
        with suppress(ToolError, OSError):  # A collection that fails is made another time.
            if is_due(self._store, self._now()):
                await collect(self._store, self._processes, spare=self._session)
        return changed

    def _is_owed(self) -> bool:
        """Whether a call has ended that may have changed anything, and it was not looked since."""
        return any(whole.ended is not None for whole in self._whole.values())

    async def _settled_now(self) -> bool:
        """Capture what ended calls have left, if any; whether that was done."""
        if not self._is_owed():
            return False
        try:
            await self._settle()
        except (GitError, OSError):
            return False  # The steps stay open; the next capture ends them.
        return True

    # ------------------------------------------------------------ undo

    @override
    async def steps(self) -> Sequence[Step]:
        """The steps that changed something, in order."""
        if not self._still:
            async with self._lock:
                await self._take_up_unended()
        return self.log.steps()

    @override
    async def plan(self, numbers: Sequence[int], *, over: bool = False) -> UndoPlan:
        """What taking back these steps would do.

        Raises:
            ToolError: for a step there is none of, and when what was held cannot be read.
        """
        known = {step.number: step for step in await self.steps()}
        missing = [number for number in numbers if number not in known]
        if missing:
            raise ToolError(f"there is no step {missing[0]} that changed a file")
        steps = [known[number] for number in numbers]
        return await make_plan(steps, self._ground(steps), over=over)

    @override
    async def undo(self, plan: UndoPlan, title: str, record: str, head: str = "") -> Step | None:
        """Do what was planned; itself a step, None when it changes nothing.

        Raises:
            ToolError: if something was changed since the plan was made; nothing is changed then. Also
                if files were taken back and that cannot be written down.
        """
        done, failed = await self._make_moves(plan)
        if not done and not head:
            return None
        number = self.log.next_number
        step = Undid(
            number=number,
            title=title,
            record=record,
            at=self._now(),
            changes=tuple(done),
            reverts=plan.steps,
            head=head,
            failed=tuple(failed),
        )
        try:
            self.log.write(step)
        except OSError as error:
            if done:
                raise ToolError(
                    f"the files are taken back, but that cannot be written down: {error}",
                    hint="This undo cannot be undone by hame.",
                ) from error
            return None  # The conversation alone goes; its place is in the journal.
        return next(step for step in self.log.steps() if step.number == number)

    async def _make_moves(self, plan: UndoPlan) -> tuple[list[PathChange], list[str]]:
        """Do what was planned with files: what was changed, and what could not be.

        Raises:
            ToolError: if something was changed since, or what goes cannot be held; nothing is changed.
        """
        if not plan.moves:
            return [], []
        known = {step.number: step for step in self.log.steps()}
        try:
            ground = self._ground([known[number] for number in plan.steps if number in known])
        except OSError as error:
            raise ToolError(f"what would go cannot be held: {error}") from error
        return await make_moves(plan, ground)

    def _ground(self, steps: Sequence[Step]) -> Ground:
        git = self._store.git(self._paths.root, self._processes)

        async def read(names: Sequence[str]) -> dict[str, bytes]:
            return await contents(self._store.objects, git, names)

        return Ground(
            objects=self._store.objects,
            read=read,
            combine=git.merge,
            root_of=self._root_of,
            claimed=claims(self._store, self._session, steps),
        )

    def _root_of(self, path: str) -> str:
        roots = (self._paths.root, *self._paths.added)
        return next((root for root in roots if holds(root, path)), str(Path(path).parent))

    async def _take_up_unended(self) -> None:
        """Steps whose end was not written (hame was killed) ended with what is there now."""
        mine = {step.number for step in (*self._exact.values(), *self._whole.values())}
        for number, began in list(self.log.unended.items()):
            if number in mine:
                continue
            if not began.trees:
                self._end_exact(_Exact(number, began.before))
                continue
            trees = [
                Taken(capturer, captured_by(began, capturer.root))
                for capturer in self._all_capturers()
                if capturer.root in began.trees
            ]
            await self._end_whole(_Whole(number, trees, self._now()))

    # ------------------------------------------------------------ calls that say what they change

    def _states(self, attempt: Attempt) -> dict[str, FileState] | None:
        """The states of what a call declares to change; None when that may be anything."""
        if not attempt.paths or attempt.command:
            return None
        before = {path: look(path, self._store.objects) for path in attempt.paths}
        return None if any(state.mode == DIRECTORY for state in before.values()) else before

    def _begin_exact(self, attempt: Attempt, before: dict[str, FileState]) -> None:
        number = self.log.next_number
        self.log.write(
            Began(
                number=number,
                tool=attempt.tool,
                title=attempt.title,
                record=attempt.record,
                at=self._now(),
                paths=attempt.paths,
                before=before,
            )
        )
        self._exact[attempt.call] = _Exact(number, before)

    def _end_exact(self, exact: _Exact) -> None:
        changes: list[PathChange] = []
        for path, before in exact.before.items():
            try:
                after = look(path, self._store.objects)
            except OSError:
                continue
            if not after.same_as(before):
                changes.append(PathChange(path, before, after))
        self.log.write(Ended(number=exact.number, at=self._now(), changes=tuple(changes)))

    # ------------------------------------------------------------ calls that may change anything

    async def _begin_whole(self, attempt: Attempt, *, again: bool) -> str | None:
        if self._off:
            return None
        destructive = destroys(attempt.command) or bool(attempt.paths)
        trees: list[Taken] = []
        for capturer in self._all_capturers():
            first = tuple(
                path[len(capturer.root) + 1 :]
                for path in attempt.paths
                if path.startswith(capturer.root + "/")
            )
            before = await self._take(capturer, again=again, ignored=destructive, first=first)
            trees.append(Taken(capturer, before))
        number = self.log.next_number
        self.log.write(began_line(number, attempt, trees, self._now()))
        self._whole[attempt.call] = _Whole(number, trees)
        if destructive:
            held = sum(tree.capturer.held + len(tree.before.forced) for tree in trees)
            return what_is_held(held, [tree.before for tree in trees])
        return self._beyond(trees)

    async def _settle(self) -> Sequence[str]:
        """End the calls that have ended with what is there now."""
        ended = {call: step for call, step in self._whole.items() if step.ended is not None}
        changed: dict[str, None] = {}
        for call, whole in ended.items():
            changed.update(dict.fromkeys(await self._end_whole(whole)))
            del self._whole[call]
        return tuple(self._shown(path) for path in changed)

    async def _end_whole(self, whole: _Whole) -> list[str]:
        """Write down what a step has changed; the paths."""
        changes: list[PathChange] = []
        trees: dict[str, str] = {}
        for tree in whole.trees:
            after = await self._take(tree.capturer, forced=tree.before.forced)
            trees[tree.capturer.root] = after.tree
            changes += await changes_between(tree.capturer, tree.before, after)
        at = self._now() if whole.ended is None else whole.ended
        self.log.write(Ended(number=whole.number, at=at, changes=tuple(changes), trees=trees))
        return [change.path for change in changes]

    async def _take(
        self,
        capturer: Capturer,
        *,
        again: bool = True,
        ignored: bool = False,
        forced: Sequence[str] = (),
        first: Sequence[str] = (),
    ) -> Capture:
        """Capture a folder within the time there is.

        Raises:
            GitError: if it takes longer, or cannot be done.
        """
        limit = _LIMIT_S if capturer.held else _FIRST_LIMIT_S
        with anyio.move_on_after(limit) as scope:
            return await capturer.take(again=again, ignored=ignored, forced=forced, prefixes=first)
        assert scope.cancelled_caught
        self._off = f"{capturer.root} takes longer than {limit:g} s to capture"
        raise GitError(f"{self._off}; commands of this session cannot be undone, edits can")

    def _all_capturers(self) -> list[Capturer]:
        if self._capturers is None:
            self._capturers = [
                Capturer(self._store.git(root, self._processes), self._index(root))
                for root in folders(self._paths)
            ]
        return self._capturers

    def _index(self, root: str) -> Path:
        return self._store.index(self._session, root)

    def _beyond(self, trees: Sequence[Taken]) -> str | None:
        beyond = sum(tree.before.beyond for tree in trees)
        if not beyond:
            return None
        return self._once(f"{beyond:,} new files are more than a snapshot takes: not undoable")

    def _once(self, words: str) -> str | None:
        if words in self._said:
            return None
        self._said.add(words)
        return words

    def _shown(self, path: str) -> str:
        root = self._paths.root
        return path[len(root) + 1 :] if path.startswith(root + "/") else path
