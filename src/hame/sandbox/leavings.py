"""What is new in the project after a command that may write it, as far as others would trip over it."""

import os
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from hame.base.zone import SYSTEM_PLACES, is_below, split
from hame.sandbox.account import Account
from hame.sandbox.gitconfig import Variable, may_stay, read_config, write_config
from hame.sandbox.inventory import ENVIRONMENT, Folder
from hame.sandbox.keepsake import Aside, Keeper, Kept, put_back
from hame.sandbox.protected import is_protected_name
from hame.sandbox.repository import Repository, is_harmless, pointed_at, telling_files

_CONFIGURATIONS = frozenset({"config", "config.worktree"})
_MOST_FILES = 5000
"""New files whose mode is looked at."""
_SYSTEM = SYSTEM_PLACES | {"nix", "opt", "snap"}


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command may write, and where things go that must not stay there."""

    roots: tuple[str, ...]
    further: tuple[str, ...]
    """Other places that are its own: a link to there does not lead out."""
    aside: Aside
    account: Account

    def root_of(self, path: str) -> str | None:
        """The root that holds it."""
        return next((root for root in self.roots if _lies_in(path, root)), None)

    def set_aside(self, path: str, root: str | None = None) -> None:
        """Take something away; `root` is what holds it, where that is none of the roots."""
        root = root or self.root_of(path)
        if root is None:
            return
        try:
            self.aside.take(root, path)
        except OSError as error:
            self.account.failed(path, error.strerror or str(error))
        else:
            self.account.took(path)


class Leavings:
    """New entries of folders, judged one by one."""

    def __init__(
        self, ground: Ground, before: Mapping[str, Folder], guarded: Collection[str] | None
    ) -> None:
        """`before` is what the folders held; `guarded` are entries that are as they have to be.

        None: no command could reach them, and while one runs something empty stands in for the missing.
        """
        self._ground = ground
        self._before = before
        self._guarded = guarded or ()
        self._empty_counts = guarded is not None

    def judge(self, after: Mapping[str, Folder], known: Mapping[str, Repository]) -> None:
        """Put right what has to be, and note the rest. `known` are all repositories there are now."""
        left = _MOST_FILES
        for path, folder in after.items():
            old = self._before.get(path)
            if folder is old or folder.within:
                continue
            if folder.closed and not (old and old.closed):
                self._ground.account.failed(path, "it cannot be looked into")
            names = [name for name in folder.inodes if _is_new(name, folder.inodes, old)]
            files = [name for name in folder.files if _is_new(name, folder.files, old)]
            for name in sorted((*names, *files)):
                self._judge_name(path, name, old, known)
                if name in folder.links and not holds_programs(path):
                    self._judge_link(f"{path}/{name}")
            for name in sorted(files)[:left]:
                self._take_off_marks(path, name)
            left = max(0, left - len(files))

    def clean(self, repository: Repository) -> None:
        """Leave a new repository nothing that makes git start programs."""
        for name in telling_files(repository.path):
            path = f"{repository.path}/{name}"
            leaf = name.rpartition("/")[2]
            if is_harmless(name) or leaf == "gitdir" or name == "info/attributes":
                continue
            if not os.path.lexists(path):
                continue
            if leaf in _CONFIGURATIONS:
                self._clean_config(path)
            elif not (leaf == "commondir" and name.startswith("worktrees/")):
                self._ground.set_aside(path)

    def _judge_name(
        self, folder: str, name: str, old: Folder | None, known: Mapping[str, Repository]
    ) -> None:
        path = f"{folder}/{name}"
        if path in self._guarded or (old is not None and name in old.names):
            return  # What was there before is put back, or was out of reach.
        if name == ".git":
            if path not in known and pointed_at_known(path, known) is None:
                self._ground.set_aside(path)
        elif is_protected_name(folder, name) and (self._empty_counts or not _is_empty(path)):
            if old is None:
                self._ground.account.found_brought(path)
            else:
                self._ground.set_aside(path)

    def _judge_link(self, path: str) -> None:
        try:
            target = os.path.realpath(path)
        except OSError:
            target = "a place that may not be looked at"
        parts = split(target)
        own = (*self._ground.roots, *self._ground.further)
        if parts and parts[0] not in _SYSTEM and not any(is_below(parts, root) for root in own):
            self._ground.account.found_link(path, target)

    def _take_off_marks(self, folder: str, name: str) -> None:
        path = f"{folder}/{name}"
        with suppress(OSError):
            place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                mode = os.fstat(place).st_mode
                if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
                    plain = stat.S_IMODE(mode) & ~(stat.S_ISUID | stat.S_ISGID)
                    Path(f"/proc/self/fd/{place}").chmod(plain)
                    self._ground.account.unmarked(path)
            finally:
                os.close(place)

    def _clean_config(self, path: str) -> None:
        was = Keeper().keep(path)
        variables = _variables_of(was)
        if was is None or variables is None:
            self._ground.set_aside(path)
            return
        kept = [each for each in variables if may_stay(each) or self._stays_inside(each, path)]
        if len(kept) == len(variables):
            return
        root = self._ground.root_of(path)
        data = write_config(kept).encode("utf-8", "surrogateescape")
        clean = msgspec.structs.replace(was, data=data)
        try:
            put_back(root or path, path, clean, self._ground.aside)
        except OSError as error:
            self._ground.account.failed(path, error.strerror or str(error))
        else:
            gone = [each for each in variables if each not in kept]
            self._ground.account.cut(path, dict.fromkeys(map(str, gone)))

    def _stays_inside(self, variable: Variable, path: str) -> bool:
        """The files of a submodule lie elsewhere in the project."""
        if (variable.section, variable.key) != ("core", "worktree") or not variable.value:
            return False
        try:
            place = os.path.realpath(Path(path).parent / variable.value)
        except OSError:
            return False
        return self._ground.root_of(place) is not None


def _variables_of(config: Kept | None) -> list[Variable] | None:
    """None for what is no file, is too large, or cannot be read as git reads it."""
    if config is None or config.data is None or not stat.S_ISREG(config.mode):
        return None
    try:
        return read_config(config.data.decode("utf-8", "surrogateescape"))
    except ValueError:
        return None


def pointed_at_known(path: str, known: Mapping[str, Repository]) -> str | None:
    """The known repository that a `.git` which is a file leads to."""
    if Path(path).is_symlink():
        return None
    target = pointed_at(path)
    if target is None:
        return None
    worktree = target.rpartition("/worktrees/")[0]
    return target if target in known or worktree in known else None


def _is_new(name: str, inodes: Mapping[str, int], old: Folder | None) -> bool:
    return old is None or inodes[name] not in {old.inodes.get(name), old.files.get(name)}


def programs_in(folders: Mapping[str, Folder]) -> dict[str, tuple[int, int, int]]:
    """What others run by name, or are led by to what they run: inode, time of change and size of each."""
    found: dict[str, tuple[int, int, int]] = {}
    for path, folder in folders.items():
        whole = holds_programs(path)
        names = folder.names if whole else {ENVIRONMENT} & folder.files.keys()
        for name in names:
            with suppress(OSError):
                status = os.lstat(f"{path}/{name}")
                found[f"{path}/{name}"] = (status.st_ino, status.st_ctime_ns, status.st_size)
    return found


def holds_programs(path: str) -> bool:
    """A folder that is on the search path when its project is worked on."""
    above, _, name = path.rpartition("/")
    if name == ".bin":
        return above.endswith("/node_modules")
    return name in {"bin", "Scripts"} and os.path.lexists(f"{above}/{ENVIRONMENT}")


def _is_empty(path: str) -> bool:
    """Whether it holds nothing: what stands in the place of a missing file while a sandbox is open."""
    with suppress(OSError):
        status = os.lstat(path)
        if stat.S_ISDIR(status.st_mode):
            return not any(Path(path).iterdir())
        return stat.S_ISREG(status.st_mode) and status.st_size == 0
    return False


def _lies_in(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
