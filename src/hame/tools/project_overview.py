"""project_overview: what this project is, from its file names and three manifests."""

import posixpath
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial

import msgspec

from hame.base.errors import PathError, ToolError
from hame.base.json import JsonObject
from hame.base.outcome import Done, TextView, text_content
from hame.base.path import FileKind
from hame.base.ports import Action, Located, ToolContext
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Places, Plan, hold, locate_all
from hame.tools.description import describe
from hame.tools.phrase import counted

_FILES = 20_000
_LISTED = 12
_LANGUAGES = 6
_TREE_LINES = 40
_MANIFEST_BYTES = 200_000
_HEAD = ".git/HEAD"
_READ = ("pyproject.toml", "package.json", "Cargo.toml")
"""Manifests that say where a program starts."""


class ProjectOverview:
    """Describes the project."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:  # noqa: ARG002 - the contract's signature
        """The project."""
        return "the project"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:  # noqa: ARG002 - the contract's signature
        """Find the few files that will be read.

        Raises:
            ToolError: when the project's folder is gone.
        """
        wanted = [(".", Operation.LIST), *((name, Operation.READ) for name in _READ)]
        try:
            places = locate_all(context.workspace, *wanted, (_HEAD, Operation.READ))
        except PathError:
            # In a worktree or a submodule `.git` is a file, and the branch is kept elsewhere.
            places = locate_all(context.workspace, *wanted)

        async def plan() -> Plan:
            return Plan(partial(_describe, places, context))

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="project_overview",
        title="Overview",
        description=describe(__file__),
        effect=Effect.READ,
    )


class _Facts(msgspec.Struct, frozen=True):
    """What the overview is written from."""

    root: str
    files: Sequence[str]
    total: int
    branch: str | None
    declared: list[str]
    test_command: str | None


async def _describe(places: Places, context: ToolContext) -> Done:
    from hame.tools.manifest import declared_entry_points

    root = places[0][0]
    files, total = await context.workspace.find_files("**/*", root, _FILES)
    texts = {
        place.resolution.asked: text
        for place, _ in places[1:]
        if (text := await _text(place, context)) is not None
    }
    declared = [line for name in _READ for line in declared_entry_points(name, texts.get(name, ""))]
    facts = _Facts(
        root=root.resolution.real,
        files=files,
        total=total,
        branch=_branch(texts.get(_HEAD)),
        declared=declared,
        test_command=context.index.test_command() if context.index else None,
    )
    text = "\n".join([*_lines(facts), *_tree(facts)])
    return Done(text_content(text), TextView(text, title=posixpath.basename(facts.root)))


async def _text(place: Located, context: ToolContext) -> str | None:
    if place.resolution.kind is not FileKind.FILE:
        return None
    try:
        data = await context.workspace.read_bytes(place, _MANIFEST_BYTES)
    except ToolError:
        return None
    return data.decode("utf-8", "replace")


def _branch(head: str | None) -> str | None:
    """The branch that is checked out, from git's own file (gitrepository-layout(5))."""
    if head is None:
        return None
    branch = head.strip().removeprefix("ref: refs/heads/")
    return branch if branch != head.strip() else f"none (detached at {branch[:12]})"


def _lines(facts: _Facts) -> list[str]:
    from hame.tools.language import language_of
    from hame.tools.manifest import is_entry_point, is_manifest

    languages = Counter(filter(None, map(language_of, facts.files))).most_common(_LANGUAGES)
    folders = {posixpath.dirname(path) for path in facts.files} - {""}
    rows = {
        "root": facts.root,
        "git branch": facts.branch,
        "size": f"{counted(facts.total, 'file')} in {counted(len(folders), 'folder')}",
        "languages": ", ".join(f"{name} ({count})" for name, count in languages),
        "manifests": _listed([path for path in facts.files if is_manifest(path)]),
        "entry points": _listed([*facts.declared, *filter(is_entry_point, facts.files)]),
        "test command": facts.test_command,
    }
    return [f"{label}: {value}" for label, value in rows.items() if value]


def _listed(items: list[str]) -> str:
    """Those nearest to the root first, the rest as a number."""
    items = sorted(items, key=lambda item: item.count("/"))
    more = f", and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return ", ".join(items[:_LISTED]) + more


def _tree(facts: _Facts) -> list[str]:
    """Two levels of folders, each with the number of files below it; files of the root."""
    below: Counter[str] = Counter()
    for path in facts.files:
        first, _, rest = path.partition("/")
        if not rest:
            continue
        second, _, deeper = rest.partition("/")
        below[f"{first}/"] += 1
        if deeper:
            below[f"{first}/{second}/"] += 1
    rows = [
        f"{'  ' * (path.count('/') - 1)}{path} ({number})" for path, number in sorted(below.items())
    ]
    top = [path for path in facts.files if "/" not in path]
    shown = rows[:_TREE_LINES]
    if len(rows) > len(shown):
        shown.append(f"[{len(rows) - len(shown)} more folders; use list_dir]")
    if top:
        shown.append(_listed(top))
    return ["top level (files below):", *shown] if shown else []
