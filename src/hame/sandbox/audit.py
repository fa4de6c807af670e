"""What a command that may write the project leaves behind for others to trip over.

Programs that no sandbox holds read files of the project later: git its configuration and its hooks, an
editor its settings, a shell `.envrc`. What was protected before is put back, where the sandbox could not keep
it out of reach (`hame.sandbox.baseline`); what is new is judged (`hame.sandbox.leavings`).

Commands overlap. What counts as before is what there was when none of them ran, in any session: what another
one has already changed is not taken for what it was.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from hame.sandbox.account import Account
from hame.sandbox.baseline import Baseline, Restoration, keep, known_files
from hame.sandbox.innards import Found, Innards, leads_away, programs_to_come
from hame.sandbox.inventory import MOST, Folder, Inventory
from hame.sandbox.keepsake import Aside, Kept
from hame.sandbox.leavings import Ground, Leavings, programs_in
from hame.sandbox.repository import Repository, find_repositories
from hame.sandbox.shared import Shared
from hame.sandbox.worktree import Worktree, find_worktree


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """What there was when a command began."""

    folders: Mapping[str, Folder]
    repositories: Mapping[str, Repository]
    programs: Mapping[str, tuple[int, int, int]]
    innards: Mapping[str, Found]
    """What leads git elsewhere, in its own folders."""
    whole: bool
    """Whether all folders were looked at."""
    to_come: Mapping[str, str]
    """What an unfinished rebase would run."""


class Audit:
    """Looks at some folders before and after commands that may write in them. Not for several threads."""

    def __init__(
        self,
        roots: Sequence[str],
        *,
        further: Sequence[str] = (),
        shared: Shared | None = None,
        aside: str,
    ) -> None:
        """`further` are other places that commands may write; `aside` takes what has to go.

        With `shared`, what was protected is kept and put back; without, it was out of their reach.
        """
        self._roots, self._further = tuple(roots), tuple(further)
        self._aside = aside
        self._shared = shared
        self._inventory = Inventory(roots)
        self._baseline: Baseline | None = None
        self._known: Mapping[str, Kept] = {}
        self._innards = Innards()
        self._worktrees: tuple[Worktree, ...] = ()
        self._first: Before | None = None
        self._running = 0

    def begin(self) -> Before:
        """A command begins.

        Raises:
            OSError: if what other sessions know cannot be read, or told.
        """
        if self._running == 0:
            self._worktrees = tuple(filter(None, map(find_worktree, self._roots)))
        before = self._look()
        if self._running == 0:
            self._first = before
            if self._shared is not None:
                self._baseline = self._shared.join(lambda: self._keep(before))
        self._running += 1
        return before

    def renew(self) -> None:
        """Something has ended that may change everything: what is there now counts as before.

        Raises:
            OSError: if other sessions cannot be told.
        """
        if self._running:
            before = self._look()
            self._first = before
            if self._shared is not None:
                self._baseline = self._keep(before)
                self._shared.write(self._baseline)

    def end(self, before: Before) -> Sequence[str]:
        """It has ended, with all it has started: put right what has to be; lines that say what was."""
        account, aside = Account(self._roots[0]), Aside(self._aside)
        ground = Ground(roots=self._roots, further=self._further, aside=aside, account=account)
        try:
            now, settled = self._look(), set[str]()
            if self._baseline is not None:
                restoration = Restoration(ground, self._baseline)
                restoration.run(now.folders, now.repositories)
                settled = restoration.settled
                now = self._look()
            leavings = Leavings(ground, before.folders, self._guarded())
            leavings.judge(now.folders, now.repositories)
            first = self._first or before
            if first.whole and not now.whole:
                account.failed(self._roots[0], f"it has more than {MOST:,} folders now")
            self._judge_innards(ground, first, now)
            old = {each.inode for each in first.repositories.values()}
            for path, repository in now.repositories.items():
                if path not in settled and repository.inode not in old:
                    leavings.clean(repository)
            for path, programs in now.to_come.items():
                if before.to_come.get(path) != programs:
                    account.found_to_come(path, programs)
            for program in sorted(now.programs):
                if now.programs[program] != before.programs.get(program):
                    account.found_program(*program.rsplit("/", 1))
        finally:
            self._leave()
        return account.lines(aside.used)

    def _judge_innards(self, ground: Ground, first: Before, now: Before) -> None:
        """Take away what has come into git's folders and leads it elsewhere."""
        shared = (path for each in self._worktrees for path in (each.own, *each.shared))
        places = (*self._roots, *self._further, *shared)
        for path, found in now.innards.items():
            if first.innards.get(path) != found and leads_away(path, found, places):
                ground.set_aside(path, found.repository)

    def _guarded(self) -> Collection[str] | None:
        return None if self._baseline is None else self._baseline.entries

    def _leave(self) -> None:
        self._running -= 1
        if self._running == 0:
            self._baseline = None
            if self._shared is not None:
                self._shared.leave()

    def _look(self) -> Before:
        folders = self._inventory.look()
        repositories = find_repositories(folders)
        parts = [path for each in self._worktrees for path in (each.own, *each.shared)]
        return Before(
            folders=folders,
            repositories=repositories,
            programs=programs_in(folders),
            innards=self._innards.look((*repositories, *parts)),
            whole=self._inventory.whole,
            to_come=programs_to_come((*repositories, *parts)),
        )

    def _keep(self, before: Before) -> Baseline:
        baseline = keep(before.folders, before.repositories, self._known)
        self._known = known_files(baseline)
        return baseline
