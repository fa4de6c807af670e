"""Listing a directory."""

import os

from hame.base.outcome import PathsView


async def test_directories_come_first_one_name_a_line(desk):
    desk.write("src/a.py", "")
    desk.write("README.md", "")
    desk.write(".gitignore", "")
    assert await desk.done("list_dir") == "src/\n.gitignore\nREADME.md"
    assert await desk.done("list_dir", path="src") == "a.py"


async def test_links_and_special_files_are_said(desk):
    desk.write("real/x", "")
    (desk.root / "link").symlink_to("real")
    (desk.root / "dead").symlink_to("gone")
    os.mkfifo(desk.root / "queue")
    lines = (await desk.done("list_dir", path=".")).split("\n")
    assert set(lines) == {"real/", "link -> real/", "dead -> gone (leads nowhere)", "queue (fifo)"}


async def test_an_empty_directory_is_not_a_missing_one(desk):
    (desk.root / "empty").mkdir()
    assert await desk.done("list_dir", path="empty") == "empty is an empty directory"
    assert "no such directory: emtpy. Nearest: empty" in await desk.failed("list_dir", path="emtpy")


async def test_a_file_is_for_read_file(desk):
    desk.write("a.txt", "")
    assert (
        await desk.failed("list_dir", path="a.txt")
        == "a.txt is a file, not a directory; use read_file"
    )


async def test_a_huge_directory_is_cut_and_says_so(desk):
    for number in range(510):
        desk.write(f"f{number:03}", "")
    outcome = await desk.call("list_dir")
    text = outcome.content[0].text
    assert text.endswith("f499\n[500 of 510 names; use find_files for the others]")
    assert isinstance(outcome.view, PathsView)
    assert outcome.view.total == 510


async def test_b022_names_are_exact_and_stay_on_one_line(desk):
    """B022."""
    for name in ("普通.md", "fänny", " leading", "new\nline"):
        desk.write(name, "")
    lines = (await desk.done("list_dir")).split("\n")
    assert set(lines) == {"普通.md", "fänny", " leading", "'new\\nline'"}


def test_its_summary_is_the_directory(desk):
    assert desk.tools["list_dir"].summarize({}) == "."
