"""The path guard on a real layout: what it says of each path, for `hame debug path`."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hame.base.errors import PathError
from hame.base.ports import Target
from hame.base.zone import Operation, ProjectPaths
from hame.permissions.decision import Decision, Judgement, strictest
from hame.permissions.place import judge_place
from hame.workspace.locate import locate

_OPERATIONS = {
    "read": Operation.READ,
    "list": Operation.LIST,
    "write": Operation.WRITE,
    "create": Operation.CREATE,
    "delete": Operation.DELETE,
    "rename": Operation.DELETE,
}


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a file of paths: where things are."""

    home: str
    workspace: str
    cwd: str = ""
    extra_rw: tuple[str, ...] = ()
    extra_ro: tuple[str, ...] = ()
    tmp: str = ""
    hame_config: str = ""
    hame_data: str = ""

    @property
    def paths(self) -> ProjectPaths:
        """The same as the workspace takes it."""
        return ProjectPaths(
            root=self.workspace,
            added=self.extra_rw,
            read_only=self.extra_ro,
            temporary=self.tmp,
            home=self.home,
            config=self.hame_config,
            results=f"{self.hame_data}/results" if self.hame_data else "",
        )


class PathRow(msgspec.Struct, frozen=True, kw_only=True):
    """One path and what is to be done with it."""

    id: str
    op: str
    input: str
    cwd: str = ""
    platform: str = "posix"


class PathVerdict(msgspec.Struct, frozen=True):
    """What the guard says."""

    id: str
    verdict: Decision
    resolved: str | None
    reason: str = ""


def judge_rows(layout: Layout, rows: Sequence[Mapping[str, Any]]) -> Iterator[PathVerdict]:
    """The verdict on each row of this platform; nothing is opened for reading or writing."""
    for row in rows:
        asked = msgspec.convert(row, PathRow)
        if asked.platform == "posix":
            yield judge_row(layout, asked)


def judge_row(layout: Layout, row: PathRow) -> PathVerdict:
    """The verdict on one path; both ends of a rename count."""
    cwd = row.cwd or layout.cwd or layout.workspace
    names = row.input.split(" -> ", 1) if row.op == "rename" else [row.input]
    operations = (_OPERATIONS[row.op], Operation.CREATE)
    found = [
        _judge(_from(cwd, name), operation, layout.paths)
        for name, operation in zip(names, operations, strict=False)
    ]
    judgement = strictest(judgement for judgement, _ in found)
    return PathVerdict(row.id, judgement.decision, found[0][1], judgement.reason)


def _judge(asked: str, operation: Operation, paths: ProjectPaths) -> tuple[Judgement, str | None]:
    try:
        place = locate(asked, operation, paths)
    except PathError as error:
        return Judgement(Decision.DENY, error.message, "path: unusable"), _beyond(asked)
    try:
        judgement = judge_place(Target(place.resolution, operation), paths)
    finally:
        place.close()
    return judgement, _without_number(place.resolution.real)


def _from(cwd: str, name: str) -> str:
    """A path from the session's current folder, as a tool would hand it on."""
    return name if not name or name.startswith(("/", "~")) or "://" in name else f"{cwd}/{name}"


def _beyond(asked: str) -> str | None:
    """Where a refused link of a process would have led, when that can be told."""
    if not asked.startswith("/proc/"):
        return None
    try:
        return os.path.realpath(asked, strict=True)
    except OSError:
        return None


def _without_number(real: str) -> str:
    """The folder of this process in /proc by the name that everybody knows."""
    own = f"/proc/{os.getpid()}"
    return "/proc/self" + real[len(own) :] if f"{real}/".startswith(f"{own}/") else real
