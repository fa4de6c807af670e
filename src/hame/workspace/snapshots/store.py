"""The folder in which one project's snapshots lie.

* `objects/`: what files held, shared by all sessions of the project;
* `roots/HASH/`: a git directory without objects for each folder that is captured;
* `sessions/ID/`: a session's list of steps, and its indexes;
* `project`: the project's path.
"""

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from hame.base.ports import Processes
from hame.workspace.private import make_private_folder, write_private
from hame.workspace.snapshots.git import Git, GitDirectory
from hame.workspace.snapshots.objects import Objects

_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
_ATTRIBUTES = "* -text !eol -filter -ident !working-tree-encoding\n"
"""Bytes go in and come out as they are, whatever the project's attributes say."""
_GLOBAL_IGNORE = re.compile(r"^\s*excludesfile\s*=\s*\"?([^\"\n;#]+)", re.IGNORECASE | re.MULTILINE)


class Store:
    """One project's snapshots."""

    def __init__(self, folder: Path, project: str, home: str) -> None:
        """Made by `store_of`; nothing is written before it is used."""
        self.folder = folder
        self.project = project
        self._home = home
        self.objects = Objects(folder / "objects")

    def make(self) -> None:
        """Make the folder; what it holds is for the user alone.

        Raises:
            OSError: if it cannot be made.
        """
        make_private_folder(self.folder)
        for folder in (self.folder, self.folder.parent):
            if folder.stat().st_mode & 0o077:
                folder.chmod(0o700)

    def session(self, session: str) -> Path:
        """The folder of a session."""
        return self.folder / "sessions" / session

    def sessions(self) -> list[Path]:
        """The folders of all sessions."""
        with contextlib.suppress(OSError):
            return sorted(path for path in (self.folder / "sessions").iterdir() if path.is_dir())
        return []

    def git(self, root: str, processes: Processes) -> Git:
        """Git on the files of a folder; its directory is made when it is not there.

        Raises:
            OSError: if it cannot be made.
        """
        folder = self.folder / "roots" / _short(root)
        repository = _repository(root)
        top = repository or root
        if not (folder / "config").exists():
            self._make(folder)
        _write_if_other(folder / "info" / "exclude", self._excludes(top))
        place = GitDirectory(
            folder=folder,
            objects=self.objects.folder,
            work_tree=top,
            cwd=root,
            in_repository=repository is not None,
            excludes_file=_global_ignore(self._home),
        )
        return Git(processes, place)

    def index(self, session: str, root: str) -> Path:
        """A session's index of a folder; a new one begins as the newest of another session."""
        path = self.session(session) / f"{_short(root)}.index"
        if not path.exists():
            make_private_folder(path.parent)
            others = [other / path.name for other in self.sessions()]
            newest = max((each for each in others if each.exists()), key=_age, default=None)
            if newest is not None:
                with contextlib.suppress(OSError):  # It may go away meanwhile.
                    draft = path.with_suffix(f".{secrets.token_hex(4)}")
                    write_private(draft, newest.read_bytes())
                    draft.rename(path)
        return path

    def _make(self, folder: Path) -> None:
        for each in ("info", "objects", "refs"):
            make_private_folder(folder / each)
        make_private_folder(self.folder / "objects")
        _write_if_other(self.folder / "project", self.project)
        _write_if_other(folder / "HEAD", "ref: refs/heads/none\n")
        _write_if_other(folder / "info" / "attributes", _ATTRIBUTES)
        _write_if_other(folder / "config", _CONFIG)

    def _excludes(self, top: str) -> str:
        """The user's own rules for this repository, and hame's folder where it lies in it."""
        lines: list[str] = []
        git = _common_directory(Path(top) / ".git")
        with contextlib.suppress(OSError):
            text = (git / "info" / "exclude").read_text("utf-8", "surrogateescape")
            lines.append(text.rstrip("\n"))
        mine = os.path.realpath(self.folder.parent)
        if mine.startswith(f"{top.rstrip('/')}/"):
            lines.append(mine[len(top.rstrip("/")) :] + "/")
        return "\n".join(lines) + "\n"


def store_of(base: Path, project: str, home: str) -> Store:
    """The store of a project (its real path) among all of them."""
    name = re.sub(r"[^\w.-]", "_", Path(project).name)[:40] or "root"
    return Store(base / f"{name}-{_short(project)}", project, home)


def stores(base: Path, home: str) -> Iterator[Store]:
    """All stores there are."""
    with contextlib.suppress(OSError):
        for folder in sorted(base.iterdir()):
            with contextlib.suppress(OSError):
                project = (folder / "project").read_text("utf-8", "surrogateescape")
                yield Store(folder, project, home)


def _repository(folder: str) -> str | None:
    """The top of the user's repository that a folder lies in; git is not asked."""
    place = Path(folder)
    for each in (place, *place.parents):
        if (each / ".git").exists():
            return str(each)
    return None


def _common_directory(git: Path) -> Path:
    """Where a repository keeps what all its worktrees share (gitrepository-layout(5))."""
    with contextlib.suppress(OSError, IndexError):
        if git.is_file():
            git = git.parent / git.read_text("utf-8").split("gitdir:", 1)[1].strip()
        common = git / "commondir"
        if common.is_file():
            return git / common.read_text("utf-8").strip()
    return git


def _global_ignore(home: str) -> str:
    """The file that the user's git settings name for ignored files of all projects, if they do."""
    for name in (f"{home}/.gitconfig", f"{home}/.config/git/config"):
        with contextlib.suppress(OSError, ValueError):
            found = _GLOBAL_IGNORE.search(Path(name).read_text("utf-8"))
            if found is not None:
                path = found[1].strip()
                return home + path[1:] if path.startswith("~/") else path
    return ""


def _write_if_other(path: Path, text: str) -> None:
    data = os.fsencode(text)
    with contextlib.suppress(FileNotFoundError):
        if not path.is_symlink() and path.read_bytes() == data:
            return
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    write_private(draft, data)
    draft.rename(path)


def _age(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _short(path: str) -> str:
    return sha256(os.fsencode(path)).hexdigest()[:12]
