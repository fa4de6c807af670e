"""Results that were kept whole, read and searched by their name."""

import pytest

from hame.base.errors import PathError
from hame.workspace.local import open_workspace
from hame.workspace.results import ResultStore


@pytest.fixture
def kept(desk, tmp_path) -> str:
    """The name of a result of 3,000 lines."""
    folder = tmp_path / "results"
    blobs = ResultStore(str(folder))
    blob = blobs.put("".join(f"line {n}\n" for n in range(1, 3_001)))
    assert blob
    workspace = open_workspace(str(desk.root), home="", results=str(folder))
    desk.change(blobs=blobs, workspace=workspace)
    return f"result:{blob}"


async def test_a_result_is_read_by_its_name(desk, kept):
    text = await desk.done("read_file", path=kept, start_line=2_999)
    assert text == "2999\tline 2999\n3000\tline 3000\n[lines 2999-3000 of 3000]"
    outcome = await desk.call("read_file", path=kept)
    assert outcome.view.title == f"{kept} (lines 1-2000)"


async def test_a_result_is_searched_by_its_name(desk, kept):
    text = await desk.done("search_text", pattern="line 2500", path=kept)
    assert text == f"{kept}:2500: line 2500"
    none = await desk.done("search_text", pattern="zebra", path=kept)
    assert f"in {kept}" in none


async def test_a_result_that_is_not_there_is_said_not_to_be(desk, kept):
    for tool in ({"path": "result:nothing"}, {"path": "result:../../etc/passwd"}):
        assert "there is no result:" in await desk.failed("read_file", **tool)
    desk.change(blobs=None)
    with pytest.raises(PathError, match="there is no result:"):
        await desk.prepare("search_text", pattern="x", path=kept)
