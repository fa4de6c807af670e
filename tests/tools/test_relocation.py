"""Renaming, moving and deleting."""

import pytest

from hame.base.confinement import Confinement
from hame.base.errors import PathError
from hame.base.outcome import PathsView
from hame.base.zone import Operation


async def test_a_file_gets_another_name_in_its_folder(desk):
    desk.write("src/old.py", "x")
    outcome = await desk.call("rename_path", path="src/old.py", new_name="new.py")
    assert outcome.content[0].text == "renamed src/old.py to src/new.py"
    assert outcome.changed == ("src/old.py", "src/new.py")
    assert desk.read("src/new.py") == b"x"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b"])
async def test_a_new_name_is_no_path(desk, name):
    desk.write("a", "")
    assert "bare name" in await desk.failed("rename_path", path="a", new_name=name)


async def test_renaming_never_overwrites(desk):
    desk.write("a", "1")
    desk.write("b", "2")
    assert "nothing is overwritten" in await desk.failed("rename_path", path="a", new_name="b")
    assert "there already" in await desk.failed("rename_path", path="a", new_name="a")
    assert desk.read("b") == b"2"


async def test_renaming_a_link_renames_the_link(desk):
    desk.write("real", "x")
    (desk.root / "link").symlink_to("real")
    await desk.done("rename_path", path="link", new_name="other")
    assert (desk.root / "other").is_symlink()
    assert desk.read("real") == b"x"


async def test_dots_and_the_root_cannot_be_renamed(desk):
    for path in (".", "..", "src/.."):
        assert "must end in the name" in await desk.failed("rename_path", path=path, new_name="x")


async def test_moving_goes_to_a_path_or_into_a_directory(desk):
    desk.write("a.txt", "1")
    (desk.root / "dir").mkdir()
    assert (
        await desk.done("move_path", path="a.txt", destination="dir") == "moved a.txt to dir/a.txt"
    )
    assert (
        await desk.done("move_path", path="dir/a.txt", destination="new/b.txt")
        == "moved dir/a.txt to new/b.txt"
    )
    assert (
        await desk.done("move_path", path="new/b.txt", destination="later/")
        == "moved new/b.txt to later/b.txt"
    )
    assert desk.read("later/b.txt") == b"1"


async def test_moving_never_overwrites(desk):
    desk.write("a", "1")
    desk.write("dir/a", "2")
    assert "dir/a exists" in await desk.failed("move_path", path="a", destination="dir")
    assert desk.read("dir/a") == b"2"


async def test_what_appears_after_the_question_is_not_overwritten(desk):
    desk.write("a", "1")
    action = await desk.prepare("move_path", path="a", destination="b")
    assert [target.operation for target in action.targets] == [Operation.DELETE, Operation.CREATE]
    desk.write("b", "2")
    with pytest.raises(PathError, match="changed since"):
        await action.run(Confinement())
    assert desk.read("b") == b"2"


async def test_impossible_moves_are_refused(desk):
    desk.write("src/x/a.py", "")
    assert "into itself" in await desk.failed("move_path", path="src", destination="src/x/y")
    assert "own folder" in await desk.failed("move_path", path=str(desk.root), destination="src/z")
    assert "no such file or directory" in await desk.failed(
        "move_path", path="nope", destination="b"
    )


async def test_a_file_is_deleted(desk):
    desk.write("a.txt", "1")
    outcome = await desk.call("delete_path", path="a.txt")
    assert outcome.content[0].text == "deleted a.txt"
    assert not (desk.root / "a.txt").exists()


async def test_deleting_a_directory_counts_what_is_in_it_ignored_files_too(desk):
    desk.write(".gitignore", "*.log\n")
    desk.write("d/a.txt", "")
    desk.write("d/b.log", "")
    desk.write("d/.hidden/c", "")
    (desk.root / "d/link").symlink_to("..")
    action = await desk.prepare("delete_path", path="d/")
    assert isinstance(action.view, PathsView)
    assert action.view.title == "Delete d/ (4 files)"
    assert set(action.view.paths) == {"d/a.txt", "d/b.log", "d/.hidden/c", "d/link"}
    outcome = await action.run(Confinement())
    assert outcome.content[0].text == "deleted d/ and the 4 files in it"
    assert desk.read(".gitignore")


async def test_a_directory_that_grew_after_the_question_is_kept(desk):
    desk.write("d/a", "")
    action = await desk.prepare("delete_path", path="d")
    desk.write("d/b", "")
    with pytest.raises(PathError, match="changed since"):
        await action.run(Confinement())
    assert (desk.root / "d/a").exists()


async def test_another_file_of_that_name_is_not_deleted(desk):
    desk.write("a", "1")
    action = await desk.prepare("delete_path", path="a")
    (desk.root / "a").rename(desk.root / "kept")
    desk.write("a", "other")
    with pytest.raises(PathError, match="changed since"):
        await action.run(Confinement())
    assert desk.read("a") == b"other"


async def test_a_link_is_deleted_not_what_it_leads_to(desk):
    desk.write("real/x", "1")
    (desk.root / "link").symlink_to("real")
    assert await desk.done("delete_path", path="link") == "deleted link"
    assert desk.read("real/x") == b"1"


async def test_the_project_itself_is_not_deleted(desk):
    desk.write("a", "")
    for path in (".", str(desk.root), "a/.."):
        await desk.failed("delete_path", path=path)
    assert (desk.root / "a").exists()
    assert "no such file or directory" in await desk.failed("delete_path", path="gone")


async def test_many_files_are_counted_up_to_a_limit(desk):
    folder = desk.root / "many"
    folder.mkdir()
    for number in range(2_010):
        (folder / str(number)).touch()
    text = await desk.done("delete_path", path="many")
    assert text == "deleted many/ and the more than 2,000 files in it"


def test_their_summaries_say_from_where_to_where(desk):
    tools = desk.tools
    assert tools["rename_path"].summarize({"path": "a", "new_name": "b"}) == "a to b"
    assert tools["move_path"].summarize({"path": "a", "destination": "d/"}) == "a to d/"
    assert tools["delete_path"].summarize({"path": "a"}) == "a"
