"""What a folder holds that acts by itself or leads out of it: looked at, and never run.

Files of instructions; files of other tools that make those tools run something; settings of its git
directory that do; links that lead out; files that have a second name. Nothing is started, git neither,
and nothing is followed out of the folder. The walk is bounded, and says when it was cut short.
"""

import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec

from hame.base.git import executes
from hame.base.hidden import count_hidden
from hame.base.instructions import OBEYED_NAMES
from hame.base.json import get_object, parse_object

_MOST_ENTRIES = 200_000
_MOST_SECONDS = 5.0
_LISTED = 50
"""Of each kind; the rest is counted."""
_DEEPEST = 40
_READ_BYTES = 1 << 20

_ACTING: tuple[tuple[str, str], ...] = (
    (".mcp.json", "starts MCP servers (Claude Code and others)"),
    (".claude/settings.json", "hooks and permissions of Claude Code"),
    (".claude/settings.local.json", "hooks and permissions of Claude Code"),
    (".claude/hooks", "hooks of Claude Code"),
    (".codex/config.toml", "settings of Codex"),
    (".gemini/settings.json", "settings of Gemini CLI"),
    (".cursor/mcp.json", "starts MCP servers (Cursor)"),
    (".cursor/hooks.json", "hooks of Cursor"),
    (".vscode/tasks.json", "tasks of VS Code; some run when the folder is opened"),
    (".vscode/settings.json", "settings of VS Code, which can name programs"),
    (".vscode/launch.json", "programs VS Code starts"),
    (".vscode/mcp.json", "starts MCP servers (VS Code)"),
    (".idea/workspace.xml", "run configurations of JetBrains editors"),
    (".idea/watcherTasks.xml", "programs JetBrains editors start when a file is saved"),
    (".devcontainer/devcontainer.json", "commands of a development container"),
    (".devcontainer.json", "commands of a development container"),
    (".envrc", "a script that direnv runs"),
    (".env", "variables that other tools load; hame does not"),
    (".husky", "git hooks that husky installs"),
    (".pre-commit-config.yaml", "git hooks that pre-commit installs"),
    ("lefthook.yml", "git hooks that lefthook installs"),
    (".yarnrc.yml", "can name the program that `yarn` runs"),
    (".npmrc", "settings of npm, which can name programs"),
    (".cargo/config.toml", "settings of cargo, which can name programs"),
    (".mise.toml", "tools and hooks of mise"),
    (".tool-versions", "tools of asdf and mise"),
    (".gitmodules", "submodules that git fetches"),
)
"""Files, by their path in the folder, and what they make other tools do."""
_ACTING_NAMES = {
    "pyvenv.cfg": "a Python environment, whose programs may be anything",
    ".ripgreprc": "options of ripgrep",
}
"""The same, wherever they lie."""
_NPM_HOOKS = ("preinstall", "install", "postinstall", "prepare", "prepublish")
_ATTRIBUTE = re.compile(r"(?:^|\s)(filter|diff|merge)=(\S+)")
_SECTION = re.compile(r"^\s*\[\s*([A-Za-z0-9.-]+)\s*(?:\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*(.*)$")
_SETTING = re.compile(r"^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$")


class Instructions(msgspec.Struct, frozen=True, kw_only=True):
    """A file that tells agents what to do."""

    path: str
    size: int
    """Bytes."""
    hidden: int
    """Characters in it that nobody sees."""


class Acting(msgspec.Struct, frozen=True, kw_only=True):
    """Something that makes another tool run a program."""

    path: str
    """In the folder."""
    what: str
    """What it does, in words; names in it are the folder's own."""


class Leading(msgspec.Struct, frozen=True, kw_only=True):
    """A link that leads out of the folder."""

    path: str
    target: str
    """Where it leads, as the system follows it."""


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """A file that has further names, perhaps outside the folder."""

    path: str
    names: int


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """What was found; at most fifty of each, the nearest to the top first."""

    instructions: tuple[Instructions, ...] = ()
    acting: tuple[Acting, ...] = ()
    leading: tuple[Leading, ...] = ()
    leading_count: int = 0
    shared: tuple[Shared, ...] = ()
    shared_count: int = 0
    cut: bool = False
    """The folder is too large to be looked through as a whole."""


def take_inventory(root: str) -> Inventory:
    """Look through a folder, given by its real path. Takes seconds at most; run it in a thread."""
    scan = _Scan(root)
    cut = scan.run()
    acting = [*_acting_files(root), *scan.acting, *_of_git(root)]
    return Inventory(
        instructions=tuple(_instructions(root, path) for path in sorted(scan.obeyed, key=_depth))[
            :_LISTED
        ],
        acting=tuple(acting[:_LISTED]),
        leading=tuple(scan.leading[:_LISTED]),
        leading_count=len(scan.leading),
        shared=tuple(scan.shared[:_LISTED]),
        shared_count=len(scan.shared),
        cut=cut,
    )


class _Scan:
    """One walk through the folder, the upper levels first."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.obeyed: list[str] = []
        self.acting: list[Acting] = []
        self.leading: list[Leading] = []
        self.shared: list[Shared] = []

    def run(self) -> bool:
        """Look at everything; True when there is more."""
        deadline = time.monotonic() + _MOST_SECONDS
        folders = [""]
        seen = 0
        while folders:
            below: list[str] = []
            for folder in folders:
                for entry in _entries(f"{self._root}/{folder}"):
                    seen += 1
                    self._look(f"{folder}{entry.name}", entry, below)
                if seen > _MOST_ENTRIES or time.monotonic() > deadline:
                    return True
            folders = below
            if folders and _depth(folders[0]) > _DEEPEST:
                return True
        return False

    def _look(self, path: str, entry: os.DirEntry[str], below: list[str]) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if stat.S_ISLNK(found.st_mode):
            self._link(path)
        elif stat.S_ISDIR(found.st_mode):
            # git links its objects when it clones on one disk, and replaces them, never writes them.
            if not path.endswith(".git/objects"):
                below.append(f"{path}/")
            if entry.name == ".git" and path != ".git":
                self.acting.append(
                    Acting(path=path, what="a repository within, with its own hooks")
                )
        elif stat.S_ISREG(found.st_mode):
            self._file(path, entry.name, found)

    def _file(self, path: str, name: str, found: os.stat_result) -> None:
        if found.st_nlink > 1:
            self.shared.append(Shared(path=path, names=found.st_nlink))
        folded = name.lower()
        if folded in OBEYED_NAMES or path.startswith(".cursor/rules/"):
            self.obeyed.append(path)
        if folded in _ACTING_NAMES:
            self.acting.append(Acting(path=path, what=_ACTING_NAMES[folded]))
        elif name == "package.json":
            self.acting += _scripts(self._root, path)
        elif name == ".gitattributes" or path == ".git/info/attributes":
            self.acting += _attributes(self._root, path)

    def _link(self, path: str) -> None:
        target = os.path.realpath(f"{self._root}/{path}")
        if target != self._root and not target.startswith(f"{self._root.rstrip('/')}/"):
            self.leading.append(Leading(path=path, target=target))


def _depth(path: str) -> int:
    return path.count("/")


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _instructions(root: str, path: str) -> Instructions:
    data = _read(root, path)
    text = data.decode("utf-8", "replace")
    with suppress(OSError):
        size = os.lstat(f"{root}/{path}").st_size
        return Instructions(path=path, size=size, hidden=count_hidden(text))
    return Instructions(path=path, size=len(data), hidden=count_hidden(text))


def _acting_files(root: str) -> Iterator[Acting]:
    for path, what in _ACTING:
        if os.path.lexists(f"{root}/{path}"):
            yield Acting(path=path, what=what)


def _scripts(root: str, path: str) -> Iterator[Acting]:
    """The scripts of a package, those first that run by themselves when it is installed."""
    manifest = parse_object(_read(root, path)) or {}
    names = list(get_object(manifest, "scripts"))
    if not names:
        return
    hooks = [name for name in names if name in _NPM_HOOKS]
    rest = [name for name in names if name not in _NPM_HOOKS]
    said = f"scripts that run when it is installed: {', '.join(hooks)}" if hooks else ""
    plain = f"scripts: {', '.join(rest)}" if rest else ""
    yield Acting(path=path, what="; ".join(filter(None, (said, plain))))


def _attributes(root: str, path: str) -> Iterator[Acting]:
    named = {
        f"{kind}={driver}": None
        for line in _read(root, path).decode("utf-8", "replace").splitlines()
        if not line.lstrip().startswith("#")
        for kind, driver in _ATTRIBUTE.findall(line)
    }
    if named:
        what = f"files go through {', '.join(named)}, where git's settings name a program for it"
        yield Acting(path=path, what=what)


# ---------------------------------------------------------------- the git directory


def _of_git(root: str) -> Iterator[Acting]:
    """Hooks that are switched on, settings that run something, a git directory that lies elsewhere."""
    place = f"{root}/.git"
    if os.path.lexists(place) and not os.path.isdir(place):  # noqa: PTH112 - strings all through
        pointer = _read(root, ".git").decode("utf-8", "replace").strip()
        yield Acting(path=".git", what=f"a file that leads git elsewhere ({pointer})")
        return
    if os.path.lexists(f"{place}/commondir"):
        yield Acting(path=".git/commondir", what="leads git elsewhere for its settings and hooks")
    hooks = [
        entry.name
        for entry in _entries(f"{place}/hooks")
        if not entry.name.endswith(".sample") and os.access(entry.path, os.X_OK)
    ]
    if hooks:
        yield Acting(path=".git/hooks", what=f"git hooks: {', '.join(hooks)}")
    for name in (".git/config", ".git/config.worktree"):
        settings = [key for key in _settings(_read(root, name)) if executes(key)]
        if settings:
            yield Acting(path=name, what=f"settings that git runs: {', '.join(settings)}")


def _settings(data: bytes) -> Sequence[str]:
    """The names of the settings in a git file, as `git config --list` has them (git-config(1))."""
    found: dict[str, None] = {}
    section = ""
    for written in data.decode("utf-8", "replace").splitlines():
        line = written
        if match := _SECTION.match(line):
            inner = match[2]
            section = match[1].lower() + (f".{inner}" if inner is not None else "")
            line = match[3]
        if section and (setting := _SETTING.match(line)):
            found[f"{section}.{setting[1].lower()}"] = None
    return list(found)


def _read(root: str, path: str) -> bytes:
    """The beginning of a regular file; nothing where it is none. The last name is not followed."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(f"{root}/{path}", flags)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return file.read(_READ_BYTES)
