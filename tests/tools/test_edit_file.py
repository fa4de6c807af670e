"""Editing: exact, unique, all or nothing; every other byte stays."""

import os
import stat

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.confinement import Confinement
from hame.base.errors import PathError, ToolError
from hame.base.message import Text
from hame.base.outcome import DiffView, Done
from hame.base.tool import ArgumentKind, Effect
from hame.base.zone import Operation


def edit(old, new, **more):
    return {"old_string": old, "new_string": new, **more}


async def test_the_text_is_replaced_and_the_place_is_said(desk):
    desk.write("src/app.py", "a = 1\nb = 2\n")
    outcome = await desk.call("edit_file", path="src/app.py", **edit("b = 2", "b = 3\nc = 4"))
    assert isinstance(outcome, Done)
    assert outcome.content == (Text("edited src/app.py (line 2, +2 -1)"),)
    assert outcome.changed == ("src/app.py",)
    assert desk.read("src/app.py") == b"a = 1\nb = 3\nc = 4\n"


async def test_the_question_shows_the_difference_before_anything_is_written(desk):
    desk.write("a.py", "a = 1\n")
    action = await desk.prepare("edit_file", path="a.py", **edit("1", "2"))
    assert isinstance(action.view, DiffView)
    assert "-a = 1\n+a = 2\n" in action.view.diff
    (target,) = action.targets
    assert (target.operation, target.resolution.shown) == (Operation.WRITE, "a.py")
    assert desk.read("a.py") == b"a = 1\n"
    action.close()
    action.close()


async def test_a_file_that_changed_after_the_question_is_not_written(desk):
    desk.write("a.py", "a = 1\n")
    action = await desk.prepare("edit_file", path="a.py", **edit("1", "2"))
    desk.write("a.py", "a = 1 # mine\n")
    with pytest.raises(PathError, match="changed on disk"):
        await action.run(Confinement())
    assert desk.read("a.py") == b"a = 1 # mine\n"


async def test_the_approval_is_bound_to_the_bytes_before_and_after(desk):
    desk.write("a.py", "a = 1\n")
    first = await desk.prepare("edit_file", path="a.py", **edit("1", "2"))
    same = await desk.prepare("edit_file", path="a.py", **edit("1", "2"))
    other = await desk.prepare("edit_file", path="a.py", **edit("1", "3"))
    desk.write("a.py", "a = 1\n\n")
    changed = await desk.prepare("edit_file", path="a.py", **edit("1", "2"))
    assert first.digest == same.digest
    assert len({first.digest, other.digest, changed.digest}) == 3


async def test_a_text_that_is_not_unique_names_its_lines(desk):
    desk.write("a.py", "x\ny\nx\nx\n")
    text = await desk.failed("edit_file", path="a.py", **edit("x", "z"))
    assert "occurs 3 times in a.py (lines 1, 3, 4)" in text
    assert "replace_all" in text
    many = desk.write("b.py", "x\n" * 50)
    assert "..." in await desk.failed("edit_file", path="b.py", **edit("x", "z"))
    assert many.read_text() == "x\n" * 50


async def test_overlapping_places_are_not_unique(desk):
    desk.write("a.txt", "aaa\n")
    assert "2 times" in await desk.failed("edit_file", path="a.txt", **edit("aa", "b"))


async def test_replace_all_replaces_every_one(desk):
    desk.write("a.py", "x\ny\nx\n")
    text = await desk.done("edit_file", path="a.py", **edit("x", "z", replace_all=True))
    assert text == "edited a.py (2 replacements, +2 -2)"
    assert desk.read("a.py") == b"z\ny\nz\n"


async def test_an_empty_new_text_deletes(desk):
    desk.write("a.py", "keep\ndrop\n")
    await desk.done("edit_file", path="a.py", **edit("drop\n", ""))
    assert desk.read("a.py") == b"keep\n"


async def test_several_edits_match_the_file_as_it_was(desk):
    desk.write("a.py", "a\nb\nc\n")
    edits = [edit("c", "a"), edit("a", "b"), edit("b", "c")]
    text = await desk.done("edit_file", path="a.py", edits=edits)
    assert text == "edited a.py (3 replacements, +1 -1)"
    assert desk.read("a.py") == b"b\nc\na\n"


async def test_a_single_edit_and_a_list_go_together(desk):
    desk.write("a.py", "a\nb\n")
    await desk.done("edit_file", path="a.py", **edit("a", "x"), edits=[edit("b", "y")])
    assert desk.read("a.py") == b"x\ny\n"
    await desk.done("edit_file", path="a.py", **edit("", ""), edits=[edit("y", "z")])
    assert desk.read("a.py") == b"x\nz\n"


async def test_one_bad_edit_and_none_is_made(desk):
    desk.write("a.py", "a\nb\n")
    text = await desk.failed("edit_file", path="a.py", edits=[edit("a", "x"), edit("zz", "y")])
    assert text.startswith("edits[1]: old_string was not found")
    assert desk.read("a.py") == b"a\nb\n"


async def test_overlapping_edits_are_refused(desk):
    desk.write("a.py", "one two three\n")
    text = await desk.failed(
        "edit_file", path="a.py", edits=[edit("one two", "1"), edit("two three", "2")]
    )
    assert "overlap at line 1" in text
    twice = await desk.failed("edit_file", path="a.py", edits=[edit("one", "1"), edit("one", "1")])
    assert "overlap" in twice
    assert desk.read("a.py") == b"one two three\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (edit("", "x"), "old_string is empty"),
        (edit("x", "x"), "are the same"),
        (edit("x\r\n", "x\n"), "line endings are kept"),
        ({"old_string": "x"}, "new_string is missing"),
        ({"new_string": "x"}, "old_string is missing"),
        ({}, "old_string is missing"),
        ({"edits": [{"old_string": "x"}]}, "new_string"),
    ],
)
async def test_edits_that_cannot_change_anything_are_refused(desk, arguments, words):
    desk.write("a.txt", "x\n")
    assert words in await desk.failed("edit_file", path="a.txt", **arguments)
    assert desk.read("a.txt") == b"x\n"


async def test_a_text_that_is_not_there_says_what_is_nearest(desk):
    desk.write("a.py", "def total(items):\n\treturn sum(items)\n")
    text = await desk.failed("edit_file", path="a.py", **edit("def totals(items):", "x"))
    assert "Nearest is line 1" in text
    assert "line 1 has `total` where old_string has `totals`" in text
    assert "1\tdef total(items):" in text
    assert "Read the file again" in text


async def test_an_edit_that_was_made_already_is_known(desk):
    desk.write("a.py", "value = compute_all()\n")
    text = await desk.failed(
        "edit_file", path="a.py", **edit("value = compute()", "value = compute_all()")
    )
    assert text.startswith("already done: a.py")
    short = await desk.failed("edit_file", path="a.py", **edit("nothing", "value"))
    assert "not found" in short
    assert "new_string is there already, at line 1" in short


async def test_missing_files_and_directories_are_refused(desk):
    desk.write("src/app.py", "x\n")
    assert "Nearest: src/app.py" in await desk.failed("edit_file", path="app.py", **edit("x", "y"))
    assert "is a directory" in await desk.failed("edit_file", path="src", **edit("x", "y"))


async def test_a_file_need_not_have_been_read(desk):
    desk.write("a.txt", "x\n")
    await desk.done("edit_file", path="a.txt", **edit("x", "y"))


async def test_b001_untouched_lines_keep_their_endings(desk):
    """B001: mixed endings and lone CRs."""
    desk.write("a.txt", b"a\r\nb\rc\nword\n")
    outcome = await desk.call("edit_file", path="a.txt", **edit("word", "words"))
    assert desk.read("a.txt") == b"a\r\nb\rc\nwords\n"
    assert "+words\n" in outcome.view.diff


async def test_b002_crlf_stays_crlf(desk):
    """B002."""
    desk.write("a.txt", b"one\r\ntwo\r\nthree\r\n")
    await desk.done("edit_file", path="a.txt", **edit("one\ntwo\n", "one\n1.5\ntwo\n"))
    assert desk.read("a.txt") == b"one\r\n1.5\r\ntwo\r\nthree\r\n"
    await desk.done("edit_file", path="a.txt", **edit("three", "three\n"))
    assert desk.read("a.txt") == b"one\r\n1.5\r\ntwo\r\nthree\r\n\r\n"


async def test_b003_legacy_bytes_elsewhere_stay(desk):
    """B003."""
    desk.write("a.txt", b"first\n" + b"x\n" * 7 + b"brand\x99 caf\xe9\n")
    await desk.done("edit_file", path="a.txt", **edit("first", "1st"))
    assert desk.read("a.txt") == b"1st\n" + b"x\n" * 7 + b"brand\x99 caf\xe9\n"
    text = await desk.failed("edit_file", path="a.txt", **edit("1st", "\u4e2d"))
    assert "U+4E2D" in text
    assert b"1st" in desk.read("a.txt")


async def test_b004_curly_quotes_match_straight_ones_and_stay(desk):
    """B004."""
    desk.write("a.md", "Ask \u201cwhat repo\u201d first, \u201calways\u201d.\n")
    text = await desk.done(
        "edit_file", path="a.md", **edit('Ask "what repo" first', 'Ask "which repo" first')
    )
    assert desk.read("a.md").decode() == "Ask \u201cwhich repo\u201d first, \u201calways\u201d.\n"
    assert "did not match exactly" in text
    assert 'line 1 has LEFT DOUBLE QUOTATION MARK (U+201C) where old_string has `"`' in text
    assert "+Ask \u201cwhich repo\u201d first" in text


async def test_b005_new_text_is_taken_literally(desk):
    """B005: quotes outside the change stay, and an escape is text."""
    desk.write("a.md", "\u201cHello.\u201d she said\n")
    await desk.done("edit_file", path="a.md", **edit("she said", r"\u201cyes\u201d"))
    assert desk.read("a.md").decode() == "\u201cHello.\u201d \\u201cyes\\u201d\n"


async def test_b006_a_no_break_space_matches_a_space_and_is_named(desk):
    """B006."""
    desk.write("a.md", "100\u00a0km\n")
    text = await desk.done("edit_file", path="a.md", **edit("100 km", "200 km"))
    assert desk.read("a.md").decode() == "200\u00a0km\n"
    assert "NO-BREAK SPACE (U+00A0) where old_string has a space" in text


async def test_b005_a_tolerant_match_keeps_the_quotes_that_stay(desk):
    """B005."""
    desk.write("a.md", "She said \u201cHello.\u201d and left.\n")
    await desk.done(
        "edit_file",
        path="a.md",
        **edit('said "Hello." and left', 'said "Hello." and \\u0041 stayed'),
    )
    assert desk.read("a.md").decode() == ("She said \u201cHello.\u201d and \\u0041 stayed.\n")


async def test_an_edit_made_twice_is_known_although_the_old_text_is_part_of_the_new(desk):
    desk.write("a.py", "import os\n")
    added = edit("import os\n", "import os\nimport pathlib\n")
    await desk.done("edit_file", path="a.py", **added)
    assert "already done" in await desk.failed("edit_file", path="a.py", **added)
    assert desk.read("a.py") == b"import os\nimport pathlib\n"


async def test_b007_a_byte_order_mark_stays(desk):
    """B007."""
    desk.write("a.txt", b"\xef\xbb\xbf" + "hello\n中文\n".encode())
    await desk.done("edit_file", path="a.txt", **edit("hello\n", "hello2\n"))
    assert desk.read("a.txt") == b"\xef\xbb\xbf" + "hello2\n中文\n".encode()


async def test_b008_mode_bits_stay(desk):
    """B008."""
    file = desk.write("run.sh", "#!/bin/sh\necho 1\n")
    file.chmod(0o755)
    await desk.done("edit_file", path="run.sh", **edit("echo 1", "echo 2"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


async def test_b009_a_link_stays_a_link(desk):
    """B009."""
    desk.write("real.md", "text\n")
    (desk.root / "link.md").symlink_to("real.md")
    assert (
        await desk.done("edit_file", path="link.md", **edit("text", "new"))
        == "edited real.md (line 1, +1 -1)"
    )
    assert (desk.root / "link.md").is_symlink()
    assert desk.read("real.md") == b"new\n"
    (desk.root / "loop").symlink_to("loop")
    assert "link" in await desk.failed("edit_file", path="loop", **edit("a", "b"))


@pytest.mark.parametrize("new", ['log("$& ok $1 $$");', r"\1 \g<0> \n", "%s {0}"])
async def test_b010_the_replacement_is_literal(desk, new):
    """B010."""
    desk.write("a.js", "old();\n")
    await desk.done("edit_file", path="a.js", **edit("old();", new))
    assert desk.read("a.js").decode() == new + "\n"


async def test_b011_a_file_that_changed_since_it_was_read_is_refused_with_what_changed(desk):
    """B011."""
    desk.write("a.py", "a = 1\nb = 2\n")
    await desk.done("read_file", path="a.py")
    desk.write("a.py", "a = 1\nb = 20\n")
    text = await desk.failed("edit_file", path="a.py", **edit("a = 1", "a = 9"))
    assert text.startswith("a.py changed on disk since it was read")
    assert "-b = 2\n+b = 20\n" in text
    again = await desk.failed("edit_file", path="a.py", **edit("a = 1", "a = 9"))
    assert "changed on disk" in again
    assert desk.read("a.py") == b"a = 1\nb = 20\n"
    await desk.done("read_file", path="a.py")
    await desk.done("edit_file", path="a.py", **edit("a = 1", "a = 9"))


async def test_b012_the_same_bytes_are_no_change(desk):
    """B012."""
    file = desk.write("a.py", "a = 1\n")
    await desk.done("read_file", path="a.py")
    os.utime(file, (2_000_000_000, 2_000_000_000))
    desk.write("a.py", "a = 1\n")
    await desk.done("edit_file", path="a.py", **edit("1", "2"))


async def test_edits_can_follow_each_other_without_reading_again(desk):
    desk.write("a.py", "a\nb\n")
    await desk.done("read_file", path="a.py")
    await desk.done("edit_file", path="a.py", **edit("a", "x"))
    await desk.done("edit_file", path="a.py", **edit("b", "y"))
    assert desk.read("a.py") == b"x\ny\n"


async def test_what_is_outside_is_not_told_before_the_gate_has_spoken(desk, tmp_path):
    """The check fails only once it was allowed to run; then the words may name a line."""
    outside = tmp_path / "outside.txt"
    outside.write_text("password = hunter2\n")
    action = await desk.prepare("edit_file", path=str(outside), **edit("password = x", "y"))
    assert action.targets
    assert action.view is None
    with pytest.raises(ToolError, match="hunter2"):
        await action.run(Confinement())
    action.close()


PARTS = st.sampled_from(["a", "b", "\n", "\r\n", "\r", "é", " ", "\t", "\u2028"])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(PARTS, max_size=12), st.lists(PARTS, max_size=12), st.text("xy\n", max_size=5))
async def test_every_byte_around_the_match_stays(desk, before, after, new):
    head, tail = "".join(before), "".join(after)
    desk.write("p.txt", f"{head}MARK{tail}")
    desk.workspace._seen.clear()
    await desk.done("edit_file", path="p.txt", **edit("MARK", new + "!"))
    written = desk.read("p.txt").decode()
    assert written.startswith(head)
    assert written.endswith("!" + tail)
    assert written[len(head) : len(written) - len(tail)].replace("\r\n", "\n") == new + "!"


def test_what_it_declares(desk):
    tool = desk.tools["edit_file"]
    assert tool.spec.effect is Effect.WRITE
    assert tool.spec.mask.separators == (": ", " -> ")
    assert tool.spec.argument("old_string").kind is ArgumentKind.OLD_TEXT
    assert tool.summarize({"path": "a.py", "edits": [{}, {}]}) == "a.py (2 replacements)"
    assert tool.summarize({}) == "?"
