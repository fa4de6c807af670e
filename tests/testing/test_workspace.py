"""The workspace in memory, against what every workspace does."""

import pytest

from contracts.workspace import WorkspaceContract
from hame.base.errors import PathError
from hame.base.ports import Workspace
from hame.base.zone import Operation
from hame.testing import MemoryWorkspace


class MemoryProject:
    """A workspace that is its own disk."""

    def __init__(self) -> None:
        self._memory = MemoryWorkspace()

    @property
    def workspace(self) -> Workspace:
        return self._memory

    def put(self, path: str, data: bytes) -> None:
        self._memory.put(path, data)

    def get(self, path: str) -> bytes | None:
        return self._memory.get(path)


class TestMemoryWorkspaceIsAWorkspace(WorkspaceContract):
    @pytest.fixture
    def project(self) -> MemoryProject:
        return MemoryProject()


async def test_it_begins_with_the_files_it_is_given() -> None:
    workspace = MemoryWorkspace({"a.py": "x = 1\n", "b/c.bin": b"\0"}, root="/elsewhere/p")
    place = workspace.locate("a.py", Operation.READ)
    assert place.resolution.real == "/elsewhere/p/a.py"
    assert (await workspace.read_text(place)).text == "x = 1\n"
    assert workspace.get("b/c.bin") == b"\0"


async def test_a_place_that_was_let_go_of_cannot_be_used() -> None:
    workspace = MemoryWorkspace({"a.py": ""})
    place = workspace.locate("a.py", Operation.READ)
    place.close()
    with pytest.raises(PathError, match="locate it again"):
        await workspace.read_text(place)


async def test_a_place_of_another_workspace_is_an_error_of_the_test() -> None:
    class Stranger:
        resolution = MemoryWorkspace().locate("a", Operation.READ).resolution

        def close(self) -> None:
            return

    with pytest.raises(TypeError, match="another workspace"):
        await MemoryWorkspace().read_bytes(Stranger())


async def test_a_file_that_came_into_the_way_is_refused() -> None:
    workspace = MemoryWorkspace({"src.py": "x"})
    target = workspace.locate("a/b.py", Operation.CREATE)
    folder = workspace.locate("a/b", Operation.CREATE)
    workspace.put("a", "a file")
    source = workspace.locate("src.py", Operation.DELETE)
    for attempt in (
        workspace.write_text(target, "x", None, replace=False),
        workspace.make_directory(folder),
        workspace.move(source, target),
    ):
        with pytest.raises(PathError, match="in the way"):
            await attempt
    assert workspace.get("src.py") == b"x"


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ("/a.log", ["b/a.log", "b/c.txt"]),
        ("b/*.log", ["a.log", "b/c.txt"]),
        ("# a.log\n\n", ["a.log", "b/a.log", "b/c.txt"]),
        ("b/\n!b/c.txt", ["a.log"]),
        ("*\n!c.txt\n!b/", ["b/c.txt"]),
    ],
)
async def test_ignore_rules_are_git_s(rules: str, kept: list[str]) -> None:
    files = {"a.log": "", "b/a.log": "", "b/c.txt": "", ".gitignore": rules}
    workspace = MemoryWorkspace(files)
    place = workspace.locate(".", Operation.LIST)
    assert await workspace.find_files("**/*", place, 10) == (kept, len(kept))


async def test_bytes_that_only_begin_like_utf_16_are_binary() -> None:
    workspace = MemoryWorkspace({"a": b"\xff\xfe\x00"})
    with pytest.raises(PathError, match="binary"):
        await workspace.read_text(workspace.locate("a", Operation.READ))
