"""The labelled paths of the evidence folder, on a real disk.

The workspace says where a path leads and in which zone; the gate makes a verdict of it. The rows
whose verdict needs more than a zone are named in `OF_THE_GATE`, each with what it needs; of those
the place alone is checked.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from corpus.paths import lay_out, moved, needs_paths, posix_rows, rows
from hame.base.errors import PathError
from hame.base.path import FileKind, Resolution
from hame.base.zone import Operation, Zone, is_protected, is_secret
from hame.workspace.local import LocalWorkspace, open_workspace

OF_THE_GATE = {
    "p017": "files that later sessions obey are asked about",
    "p081": "workflows of the continuous integration are asked about",
    "p083": "a secret of the project may be written after a question",
    "p043": "what everybody may read of the system needs no question",
    "p046": "what everybody may read of the system needs no question",
    "p090": "what everybody may read of the system needs no question",
    "p097": "a file with a second name is asked about",
    "p101": "an added folder may be for reading only",
    "p102": "the private folder for temporary files is writable",
    "p107": "a name with control characters is asked about",
    "p113": "the current folder of the session",
    "p114": "the current folder of the session",
    "p115": "the current folder of the session",
}
NOT_FOLLOWED = {"p056"}
"""Rows that say where a link of a process would lead; it is not followed at all."""
OPERATIONS = {
    "read": Operation.READ,
    "write": Operation.WRITE,
    "list": Operation.LIST,
    "delete": Operation.DELETE,
    "rename": Operation.DELETE,
}


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layout below a folder of our own."""
    return lay_out(tmp_path_factory.mktemp("disk"))


@pytest.fixture(scope="module")
def workspace(laid_out: Path) -> LocalWorkspace:
    layout = rows()[0]
    return open_workspace(
        moved(layout["workspace"], laid_out),
        added=[moved(path, laid_out) for path in (*layout["extra_rw"], *layout["extra_ro"])],
        home=moved(layout["home"], laid_out),
        config=moved(layout["hame_config"], laid_out),
        rg="",
    )


def verdict(found: Resolution, operation: Operation) -> str:
    """What a zone comes to without anything else."""
    reads = operation in {Operation.READ, Operation.LIST}
    special = {FileKind.FIFO, FileKind.SOCKET, FileKind.DEVICE}
    if found.kind in special and found.zone is not Zone.SECRET:
        return "deny"
    match found.zone:
        case Zone.PROJECT | Zone.HAME:
            return "allow"
        case Zone.PROTECTED:
            return "allow" if reads else "deny"
        case Zone.SECRET:
            return "deny"
        case Zone.OUTSIDE:
            return "ask"


@needs_paths
@pytest.mark.parametrize("row", posix_rows(), ids=lambda row: row["id"])
def test_a_labelled_path(row: dict[str, Any], laid_out: Path, workspace: LocalWorkspace) -> None:
    operation = OPERATIONS[row["op"]]
    asked = row["input"].split(" -> ")[0] if row["op"] == "rename" else row["input"]
    asked = moved(asked, laid_out)
    if "cwd" in row:
        asked = asked if asked.startswith("/") else f"{moved(row['cwd'], laid_out)}/{asked}"
    if "resolved" not in row or row["id"] in NOT_FOLLOWED:
        with pytest.raises(PathError):
            workspace.locate(asked, operation)
        assert row["expected"] == "deny"
        return
    place = workspace.locate(asked, operation)
    place.close()
    found = place.resolution
    real = row["resolved"].replace("/proc/self", f"/proc/{os.getpid()}")
    assert found.real == moved(real, laid_out)
    if row["id"] not in OF_THE_GATE:
        assert verdict(found, operation) == row["expected"], found


@needs_paths
def test_the_gate_can_see_what_the_rows_left_to_it_need(
    laid_out: Path, workspace: LocalWorkspace
) -> None:
    with_two_names = workspace.locate("hard_rc", Operation.WRITE)
    newline = workspace.locate("new\nline.txt", Operation.WRITE)
    assert with_two_names.resolution.links == 2
    assert newline.resolution.shown == "new\nline.txt"


@needs_paths
@pytest.mark.parametrize("path", ["pipe", "sock", "/dev/zero", "/dev/null"])
async def test_what_could_hang_is_refused_at_once(workspace: LocalWorkspace, path: str) -> None:
    place = workspace.locate(path, Operation.READ)
    with pytest.raises(PathError, match="not a file"):
        await workspace.read_bytes(place)
    place.close()


@pytest.mark.parametrize(
    "path",
    [".GIT/hooks/pre-commit", ".Hame/settings.json", ".g\u200cit/hooks/x", ".ENVRC"],
)
def test_names_that_some_disks_take_for_protected_ones_are_protected(path: str) -> None:
    assert is_protected(tuple(path.split("/")))


def test_names_that_some_disks_take_for_secret_ones_are_secret() -> None:
    assert is_secret(("Users", "dev", ".SSH", "id_rsa"))
