"""Changing several files so that all of them change or none does.

Every new text is written and synced beside its place first, and every old one is checked; only then
are names exchanged, one after another. When one exchange fails, those before it are undone. What is
replaced or deleted keeps a second, hidden name until all is done.
"""

import contextlib
import os
from collections.abc import Callable
from contextlib import ExitStack

import msgspec

from hame.base.path import FileText
from hame.workspace.draft import aside_name
from hame.workspace.locate import Place
from hame.workspace.refusal import refusing
from hame.workspace.rename import rename_new
from hame.workspace.tree import entered
from hame.workspace.writing import (
    Old,
    check_target,
    check_unchanged,
    found_at,
    sync_directory,
    temporary,
)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One file's change, in bytes."""

    place: Place
    before: FileText | None
    data: bytes | None
    """What it will hold; None: the bytes it has, or nothing when it goes."""
    target: Place | None = None
    delete: bool = False


class Batch:
    """Some changes that belong together. `finish` or `roll_back` must follow a `commit`."""

    def __init__(self, steps: list[Step]) -> None:
        """Take the steps; nothing happens yet."""
        self._steps = steps
        self._undo: list[Callable[[], None]] = []
        self._done: list[Callable[[], None]] = []
        self._directories: list[int] = []
        self._held = ExitStack()

    def commit(self) -> None:
        """Make all changes.

        Raises:
            PathError: when one cannot be made; all is as it was before.
        """
        with ExitStack() as held:
            exchanges = [self._stage(step, held) for step in self._steps]
            for step in self._steps:
                if step.before is not None:
                    check_unchanged(step.place, step.before)
            try:
                for step, exchange in zip(self._steps, exchanges, strict=True):
                    with refusing("change", step.place.shown):
                        exchange()
                for directory in self._directories:
                    with refusing("save the folder of", self._steps[0].place.shown):
                        sync_directory(directory)
            except BaseException:
                self._reverse()
                raise
            self._held = held.pop_all()

    def finish(self) -> None:
        """Forget what was there before."""
        with self._held:
            for done in self._done:
                with contextlib.suppress(OSError):
                    done()

    def roll_back(self) -> None:
        """Put everything back as it was."""

        def fail() -> None:
            raise _RolledBackError

        # Folders that were made are taken away by those who made them, as after any failure.
        with contextlib.suppress(_RolledBackError), self._held:
            self._reverse()
            fail()

    def _reverse(self) -> None:
        for undo in reversed(self._undo):
            with contextlib.suppress(OSError):
                undo()
        self._undo.clear()

    def _stage(self, step: Step, held: ExitStack) -> Callable[[], None]:
        """Write what is new beside its place; what is left of the change only moves names."""
        goal = step.target or step.place
        with refusing("write", goal.shown):
            directory = held.enter_context(entered(goal))
            old = _standing(step.place)
            if step.target is None:
                _check(step.place, old, directory, replace=step.before is not None)
            else:
                _check(goal, _standing(goal), directory, replace=False)
            self._directories.append(directory)
            if step.data is not None:
                name = held.enter_context(temporary(directory, step.data, old))
                return lambda: self._bring_in(step, name, directory)
        if step.delete:
            return lambda: self._set_aside(step.place)
        if step.target is None:
            return lambda: None
        return lambda: self._rename(step.place, goal.leaf, directory)

    def _bring_in(self, step: Step, name: str, directory: int) -> None:
        """Give a new file its name; the old one, if there is one, goes aside."""
        goal = step.target or step.place
        if step.target is None and _standing(goal) is not None:
            self._keep(goal)
            os.rename(name, goal.leaf, src_dir_fd=directory, dst_dir_fd=directory)
            return
        rename_new(name, directory, goal.leaf, directory)
        self._undo.append(lambda: os.unlink(goal.leaf, dir_fd=directory))
        if step.target is not None:
            self._set_aside(step.place)

    def _keep(self, place: Place) -> None:
        """A second name for a file, under which it survives being replaced."""
        kept, here = aside_name(), place.directory
        try:
            os.link(place.leaf, kept, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
        except OSError:
            # A file system without hard links: for a moment the file has only its hidden name.
            os.rename(place.leaf, kept, src_dir_fd=here, dst_dir_fd=here)
        self._undo.append(lambda: _bring_back(place, kept))
        self._done.append(lambda: os.unlink(kept, dir_fd=here))

    def _set_aside(self, place: Place) -> None:
        """Take a file's name away, so that it can still come back."""
        kept, here = aside_name(), place.directory
        os.rename(place.leaf, kept, src_dir_fd=here, dst_dir_fd=here)
        self._undo.append(lambda: rename_new(kept, here, place.leaf, here))
        self._done.append(lambda: os.unlink(kept, dir_fd=here))

    def _rename(self, source: Place, name: str, directory: int) -> None:
        rename_new(source.leaf, source.directory, name, directory)
        here = source.directory
        self._undo.append(lambda: rename_new(name, directory, source.leaf, here))


class _RolledBackError(Exception):
    """Everything was put back; the holders of what was made in between clean up after it."""


def _bring_back(place: Place, kept: str) -> None:
    os.rename(kept, place.leaf, src_dir_fd=place.directory, dst_dir_fd=place.directory)
    # Between two names of one file, rename does nothing (rename(2)).
    with contextlib.suppress(FileNotFoundError):
        os.unlink(kept, dir_fd=place.directory)


def _standing(place: Place) -> Old | None:
    """The file at a place; None when there is none."""
    if place.missing:
        return None
    found = found_at(place.leaf, place.directory)
    return None if found is None else Old(place.leaf, place.directory, found)


def _check(place: Place, old: Old | None, directory: int, *, replace: bool) -> None:
    check_target(place, None if old is None else old.found, directory, replace=replace)
