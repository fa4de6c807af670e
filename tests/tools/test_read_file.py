"""Reading a file: numbered lines, ranges, limits that are said, pictures, what is refused."""

import os
import socket

import pytest

from hame.base.errors import ArgumentError
from hame.base.message import Image
from hame.base.outcome import Done, TextView
from hame.base.tool import Effect


async def test_lines_come_numbered_and_nothing_else(desk):
    desk.write("src/app.py", "import os\n\nprint(os)\n")
    outcome = await desk.call("read_file", path="src/app.py")
    assert outcome.content[0].text == "1\timport os\n2\t\n3\tprint(os)"
    assert outcome.view == TextView("import os\n\nprint(os)", title="src/app.py")
    assert not outcome.changed


async def test_the_same_file_gives_the_same_bytes(desk):
    desk.write("a.txt", "x\n" * 5_000)
    assert await desk.done("read_file", path="a.txt") == await desk.done("read_file", path="a.txt")


async def test_a_range_says_where_it_lies(desk):
    desk.write("a.txt", "".join(f"line {n}\n" for n in range(1, 101)))
    text = await desk.done("read_file", path="a.txt", start_line=10, end_line=12)
    assert text == "10\tline 10\n11\tline 11\n12\tline 12\n[lines 10-12 of 100]"


async def test_a_range_past_the_end_stops_there(desk):
    desk.write("a.txt", "1\n2\n3\n")
    text = await desk.done("read_file", path="a.txt", start_line=3, end_line=90)
    assert text == "3\t3\n[lines 3-3 of 3]"


async def test_a_long_file_is_cut_after_2000_lines_and_says_how_to_read_on(desk):
    desk.write("a.txt", "x\n" * 2_500)
    text = await desk.done("read_file", path="a.txt")
    assert text.endswith("2000\tx\n[lines 1-2000 of 2500; read on with start_line=2001]")
    rest = await desk.done("read_file", path="a.txt", start_line=2_001)
    assert rest.endswith("2500\tx\n[lines 2001-2500 of 2500]")


async def test_a_wide_file_is_cut_after_50_kb(desk):
    desk.write("a.txt", ("é" * 500 + "\n") * 200)
    text = await desk.done("read_file", path="a.txt")
    assert len(text.encode()) < 51_000
    assert "[lines 1-49 of 200; read on with start_line=50]" in text


async def test_long_lines_are_cut_with_a_count(desk):
    desk.write("a.min.js", "x" * 5_000 + "\nshort\n")
    text = await desk.done("read_file", path="a.min.js")
    assert "x… [3,000 more characters]\n2\tshort" in text
    assert text.endswith("[lines longer than 2,000 characters were cut]")


async def test_an_empty_file_is_said_to_be_empty(desk):
    desk.write("a.txt", "")
    assert await desk.done("read_file", path="a.txt") == "a.txt is empty"


async def test_a_start_beyond_the_end_says_how_long_the_file_is(desk):
    desk.write("a.txt", "1\n2\n")
    assert "has only 2 lines" in await desk.failed("read_file", path="a.txt", start_line=9)


@pytest.mark.parametrize(
    "bounds", [{"start_line": 0}, {"start_line": 5, "end_line": 4}, {"end_line": 0}]
)
async def test_a_range_that_is_none_is_refused(desk, bounds):
    desk.write("a.txt", "1\n")
    with pytest.raises(ArgumentError):
        await desk.prepare("read_file", path="a.txt", **bounds)


async def test_crlf_and_a_mark_are_not_shown(desk):
    desk.write("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert await desk.done("read_file", path="a.txt") == "1\tone\n2\ttwo"


async def test_a_missing_file_names_the_nearest(desk):
    desk.write("src/parser.py", "")
    desk.write("src/deep/config.toml", "")
    assert "Nearest: src/parser.py" in await desk.failed("read_file", path="src/parsr.py")
    assert "Nearest: src/deep/config.toml" in await desk.failed("read_file", path="config.toml")
    lost = await desk.failed("read_file", path="nowhere/at/all.zig")
    assert lost == "no such file: nowhere/at/all.zig. Look around with list_dir or find_files."


async def test_a_directory_is_for_list_dir(desk):
    (desk.root / "src").mkdir()
    assert await desk.failed("read_file", path="src") == "src is a directory; use list_dir"


async def test_b016_pipes_sockets_and_devices_are_refused_at_once(desk):
    """B016."""
    os.mkfifo(desk.root / "notes.md")
    assert "fifo" in await desk.failed("read_file", path="notes.md")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(desk.root, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{here}/s")
        finally:
            os.close(here)
        assert "socket" in await desk.failed("read_file", path="s")
    assert "device" in await desk.failed("read_file", path="/dev/zero")


async def test_binary_is_said_to_be_binary(desk):
    desk.write("a.bin", b"\x7fELF\0\0\0\1")
    assert "binary" in await desk.failed("read_file", path="a.bin")


async def test_b018_a_letter_across_the_sample_is_text(desk):
    """B018."""
    desk.write("a.txt", "a" * 999 + "ç" + "a" * 7_192 + "ç")
    assert (await desk.done("read_file", path="a.txt")).startswith("1\taaa")


async def test_a_huge_file_is_read_by_its_lines_without_being_loaded(desk):
    import tracemalloc

    with (desk.root / "big.log").open("wb") as file:
        for start in range(0, 2_000_000, 20_000):
            file.write(b"".join(b"line %d\r\n" % n for n in range(start + 1, start + 20_001)))
    assert (desk.root / "big.log").stat().st_size > 25_000_000
    tracemalloc.start()
    text = await desk.done("read_file", path="big.log", start_line=1_500_000, end_line=1_500_001)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text == "1500000\tline 1500000\n1500001\tline 1500001\n[lines 1500000-1500001]"
    assert peak < 8_000_000
    start = await desk.done("read_file", path="big.log")
    assert start.endswith("2000\tline 2000\n[lines 1-2000; read on with start_line=2001]")
    end = await desk.done("read_file", path="big.log", start_line=1_999_999)
    assert end.endswith("2000000\tline 2000000\n[lines 1999999-2000000]")
    beyond = await desk.failed("read_file", path="big.log", start_line=2_000_001)
    assert "fewer lines" in beyond


async def test_a_huge_file_of_one_line_or_of_no_text_is_bounded_too(desk):
    with (desk.root / "one.json").open("wb") as file:
        for _ in range(20):
            file.write(b"x" * 1_000_000)
    text = await desk.done("read_file", path="one.json")
    assert text.startswith("1\t" + "x" * 2_000 + "… [19,998,000 more characters]")
    with (desk.root / "big.bin").open("wb") as file:
        file.truncate(40_000_000)
    assert "binary" in await desk.failed("read_file", path="big.bin")


async def test_a_picture_is_shown_as_one(desk, png):
    desk.write("logo.png", png(64, 48))
    outcome = await desk.call("read_file", path="logo.png")
    assert isinstance(outcome, Done)
    (image,) = outcome.content
    assert image == Image(media_type="image/png", data=png(64, 48), name="logo.png")
    assert isinstance(outcome.view, TextView)
    assert "64 x 48" in outcome.view.text


async def test_a_picture_is_known_by_its_bytes_not_its_name(desk, png):
    desk.write("logo", png(8, 8) + bytes(100))
    assert (await desk.call("read_file", path="logo")).content[0].media_type == "image/png"
    desk.write("words.png", "not a picture\n")
    assert await desk.done("read_file", path="words.png") == "1\tnot a picture"


async def test_b017_pictures_that_no_provider_takes_are_refused(desk, png):
    """B017."""
    desk.write("wide.png", png(9_000, 10))
    text = await desk.failed("read_file", path="wide.png")
    assert "9000 x 10 pixels" in text
    assert "8,000 pixels a side" in text
    desk.write("heavy.png", png(10, 10) + bytes(5_000_000))
    text = await desk.failed("read_file", path="heavy.png")
    assert "5.0 MB) is too large" in text
    assert "the limit is 3.9 MB" in text


async def test_how_to_make_a_picture_smaller_is_said_by_a_program_that_is_here(
    desk, png, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    desk.write("a shot.png", png(16_000, 500))
    text = await desk.failed("read_file", path="a shot.png")
    assert "No program that scales pictures is here" in text
    gm = tmp_path / "bin/gm"
    gm.parent.mkdir()
    gm.write_text("#!/bin/sh\n")
    gm.chmod(0o755)
    text = await desk.failed("read_file", path="a shot.png")
    assert text.endswith("gm convert 'a shot.png' -resize 8000x250 'a shot-small.png'")
    # Half the bytes take three quarters of each side, and a tenth less than that for safety.
    desk.write("-heavy.png", png(4_000, 1_000) + bytes(7_800_000))
    text = await desk.failed("read_file", path="-heavy.png")
    assert text.endswith("gm convert ./-heavy.png -resize 2545x636 ./-heavy-small.png")


async def test_nothing_outside_is_told_before_the_gate_has_spoken(desk, tmp_path):
    """A wrong name outside names no neighbours, and nothing is read while preparing."""
    (tmp_path / "secrets.txt").write_text("key")
    text = await desk.failed("read_file", path="../secret.txt")
    assert "secrets" not in text


def test_what_it_declares(desk):
    tool = desk.tools["read_file"]
    assert tool.spec.effect is Effect.READ
    assert tool.summarize({"path": "src/app.py", "end_line": 80}) == "src/app.py (lines 1-80)"
    assert tool.summarize({"path": "a", "start_line": 3}) == "a (lines 3-)"
    assert tool.summarize({"path": 7}) == "?"
