"""Writing and creating whole files."""

import pytest

from hame.base.confinement import Confinement
from hame.base.errors import PathError
from hame.base.outcome import DiffView


async def test_a_new_file_is_written_with_its_folders(desk):
    outcome = await desk.call("write_file", path="src/new/a.py", content="a\nb\n")
    assert outcome.content[0].text == "wrote src/new/a.py (2 lines)"
    assert isinstance(outcome.view, DiffView)
    assert outcome.view.created
    assert desk.read("src/new/a.py") == b"a\nb\n"


async def test_a_file_that_was_not_read_is_not_replaced(desk):
    desk.write("a.txt", "precious\n")
    text = await desk.failed("write_file", path="a.txt", content="new\n")
    assert "was not read" in text
    assert "edit_file" in text
    assert "was not read" in await desk.failed("write_file", path="a.txt", content="new\n")
    assert desk.read("a.txt") == b"precious\n"


async def test_an_empty_file_has_nothing_to_lose(desk):
    desk.write("a.txt", "")
    assert await desk.done("write_file", path="a.txt", content="x\n") == "wrote a.txt (1 line)"


async def test_the_same_content_is_fine_without_reading(desk):
    desk.write("a.txt", "same\n")
    assert (
        await desk.done("write_file", path="a.txt", content="same\n")
        == "unchanged: a.txt has that content already"
    )
    await desk.done("read_file", path="a.txt")
    assert "unchanged" in await desk.done("write_file", path="a.txt", content="same\n")


async def test_a_file_that_was_read_is_replaced_and_the_difference_shown(desk):
    desk.write("a.txt", "one\ntwo\n")
    await desk.done("read_file", path="a.txt")
    action = await desk.prepare("write_file", path="a.txt", content="one\n2\n")
    assert "-two\n+2\n" in action.view.diff
    assert desk.read("a.txt") == b"one\ntwo\n"
    await action.run(Confinement())
    action.close()
    assert desk.read("a.txt") == b"one\n2\n"


async def test_what_was_written_may_be_written_again(desk):
    await desk.done("create_file", path="a.txt", content="1\n")
    await desk.done("write_file", path="a.txt", content="2\n")
    await desk.done("edit_file", path="a.txt", old_string="2", new_string="3")
    await desk.done("write_file", path="a.txt", content="4\n")
    assert desk.read("a.txt") == b"4\n"


async def test_b011_a_file_that_changed_since_it_was_read_is_not_replaced(desk):
    """B011."""
    desk.write("a.txt", "one\n")
    await desk.done("read_file", path="a.txt")
    desk.write("a.txt", "mine\n")
    text = await desk.failed("write_file", path="a.txt", content="two\n")
    assert "changed on disk" in text
    assert "-one\n+mine\n" in text
    assert "changed on disk" in await desk.failed("write_file", path="a.txt", content="two\n")
    assert desk.read("a.txt") == b"mine\n"


async def test_a_change_after_the_question_is_not_overwritten(desk):
    desk.write("a.txt", "one\n")
    await desk.done("read_file", path="a.txt")
    action = await desk.prepare("write_file", path="a.txt", content="two\n")
    desk.write("a.txt", "mine\n")
    with pytest.raises(PathError):
        await action.run(Confinement())
    assert desk.read("a.txt") == b"mine\n"


async def test_a_file_that_appeared_after_the_question_is_not_overwritten(desk):
    action = await desk.prepare("write_file", path="a.txt", content="two\n")
    desk.write("a.txt", "mine\n")
    with pytest.raises(PathError):
        await action.run(Confinement())
    assert desk.read("a.txt") == b"mine\n"


async def test_crlf_mark_and_encoding_of_the_old_file_stay(desk):
    desk.write("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    await desk.done("read_file", path="a.txt")
    await desk.done("write_file", path="a.txt", content="1\n2\n")
    assert desk.read("a.txt") == b"\xef\xbb\xbf1\r\n2\r\n"


async def test_directories_are_not_files(desk):
    (desk.root / "src").mkdir()
    assert "is a directory" in await desk.failed("write_file", path="src", content="x")
    assert "is a directory" in await desk.failed("create_file", path="src", content="x")


async def test_content_must_be_there(desk):
    assert "missing argument content" in await desk.failed("write_file", path="a.txt")
    assert "path is empty" in await desk.failed("write_file", path=" ", content="x")


async def test_create_file_says_what_it_wrote(desk):
    assert (
        await desk.done("create_file", path="notes.txt", content="milk")
        == "wrote notes.txt (1 line)"
    )
    assert desk.read("notes.txt") == b"milk"
    assert await desk.done("create_file", path="none", content="") == "wrote none (0 lines)"


async def test_create_file_never_replaces(desk):
    desk.write("a.txt", "one\n")
    text = await desk.failed("create_file", path="a.txt", content="two\n")
    assert text == "a.txt exists. Change it with edit_file, or replace it with write_file."
    assert desk.read("a.txt") == b"one\n"


async def test_create_file_is_bound_to_its_content(desk):
    one = await desk.prepare("create_file", path="a", content="1")
    two = await desk.prepare("create_file", path="a", content="2")
    assert one.digest != two.digest


async def test_create_dir_makes_parents_and_does_not_mind_one_that_is_there(desk):
    assert await desk.done("create_dir", path="a/b/c") == "created a/b/c/"
    assert (desk.root / "a/b/c").is_dir()
    assert await desk.done("create_dir", path="a/b") == "a/b/ exists already"
    desk.write("f", "")
    assert "exists and is a file" in await desk.failed("create_dir", path="f")


def test_their_summaries_are_the_path(desk):
    for name in ("write_file", "create_file", "create_dir"):
        assert desk.tools[name].summarize({"path": "src/a.py"}) == "src/a.py"
