"""Patches: found by content, over many files, all or nothing."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hame.base.confinement import Confinement
from hame.base.errors import PathError
from hame.base.outcome import DiffView, Done
from hame.base.tool import Effect
from hame.base.zone import Operation
from hame.tools.difference import difference
from hame.tools.patch_text import parse_patch
from tools.conftest import text_of


def envelope(*sections: str) -> str:
    return "\n".join(["*** Begin Patch", *sections, "*** End Patch"])


async def patched(desk, patch: str) -> str:
    return await desk.done("apply_patch", input=patch)


async def refused(desk, patch: str) -> str:
    return await desk.failed("apply_patch", input=patch)


async def test_files_are_added_changed_moved_and_deleted_together(desk):
    desk.write("a.py", "def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    desk.write("old.txt", "gone\n")
    desk.write("lib/b.py", "x = 1\ny = 2\n")
    outcome = await desk.call(
        "apply_patch",
        input=envelope(
            "*** Add File: new/c.py",
            "+print(1)",
            "+",
            "*** Update File: a.py",
            "@@ def g():",
            "-    return 2",
            "+    return 3",
            "*** Update File: lib/b.py",
            "*** Move to: lib/moved.py",
            " x = 1",
            "-y = 2",
            "+y = 3",
            "*** Delete File: old.txt",
        ),
    )
    assert isinstance(outcome, Done), outcome
    assert text_of(outcome) == (
        "patched 4 files:\nA new/c.py (+2)\nM a.py (+1 -1)\nR lib/b.py -> lib/moved.py (+1 -1)\n"
        "D old.txt"
    )
    assert set(outcome.changed) == {"new/c.py", "a.py", "lib/b.py", "lib/moved.py", "old.txt"}
    assert isinstance(outcome.view, DiffView)
    assert outcome.view.path == "new/c.py and 3 others"
    assert desk.read("new/c.py") == b"print(1)\n\n"
    assert desk.read("a.py") == b"def f():\n    return 1\n\n\ndef g():\n    return 3\n"
    assert desk.read("lib/moved.py") == b"x = 1\ny = 3\n"
    assert not (desk.root / "old.txt").exists()
    assert not (desk.root / "lib/b.py").exists()


async def test_one_part_without_a_place_and_no_file_changes(desk):
    desk.write("a.py", "a = 1\n")
    desk.write("b.py", "b = 1\n")
    text = await refused(
        desk,
        envelope(
            "*** Update File: a.py", "-a = 1", "+a = 2",
            "*** Add File: c.py", "+c",
            "*** Update File: b.py", "-not there", "+b = 2",
        ),
    )  # fmt: skip
    assert "the lines of hunk 1 of b.py are not in the file" in text
    assert "Nothing was changed" in text
    assert desk.read("a.py") == b"a = 1\n"
    assert not (desk.root / "c.py").exists()


async def test_the_question_shows_all_differences_and_the_places(desk):
    desk.write("a.py", "a = 1\n")
    patch = envelope("*** Update File: a.py", "*** Move to: b.py", "-a = 1", "+a = 2")
    action = await desk.prepare("apply_patch", input=patch)
    assert [target.operation for target in action.targets] == [Operation.DELETE, Operation.CREATE]
    assert "-a = 1\n+a = 2" in action.view.diff
    desk.write("a.py", "a = 9\n")
    with pytest.raises(PathError, match="changed on disk"):
        await action.run(Confinement())
    action.close()


async def test_a_file_that_changed_since_it_was_read_is_refused(desk):
    desk.write("a.py", "a = 1\nb = 2\n")
    await desk.done("read_file", path="a.py")
    desk.write("a.py", "a = 1\nb = 3\n")
    text = await refused(desk, envelope("*** Update File: a.py", "-a = 1", "+a = 2"))
    assert "changed on disk since it was read" in text
    assert "+b = 3" in text


async def test_edits_may_follow_a_patch_without_reading_again(desk):
    desk.write("a.py", "a = 1\n")
    await desk.done("read_file", path="a.py")
    await patched(desk, envelope("*** Update File: a.py", "-a = 1", "+a = 2"))
    await desk.done("edit_file", path="a.py", old_string="a = 2", new_string="a = 3")


@pytest.mark.parametrize("head", ["@@ def foo", "@@ def foo():", "@@ def foo(): @@"])
async def test_b013_lines_that_only_come_in_go_after_the_anchor(desk, head):
    """B013."""
    desk.write("a.py", "def foo():\n    pass\n\n\ndef bar():\n    pass\n")
    await patched(desk, envelope("*** Update File: a.py", head, "+    x = 1"))
    assert desk.read("a.py") == b"def foo():\n    x = 1\n    pass\n\n\ndef bar():\n    pass\n"


async def test_b013_lines_that_only_come_in_and_have_no_anchor_are_refused(desk):
    """B013."""
    desk.write("a.py", "a = 1\n")
    text = await refused(desk, envelope("*** Update File: a.py", "@@", "+b = 2"))
    assert "nothing says where it goes" in text
    text = await refused(desk, envelope("*** Update File: a.py", "@@ def nowhere", "+b = 2"))
    assert "`@@ def nowhere` is not in the file" in text
    await patched(desk, envelope("*** Update File: a.py", "@@", "+b = 2", "*** End of File"))
    assert desk.read("a.py") == b"a = 1\nb = 2\n"
    desk.write("empty.py", "")
    await patched(desk, envelope("*** Update File: empty.py", "@@", "+b = 2"))
    assert desk.read("empty.py") == b"b = 2\n"


async def test_b014_an_empty_line_is_an_empty_line_of_context(desk):
    """B014."""
    desk.write("a.py", "a = 1\n\nb = 2\n")
    await patched(desk, envelope("*** Update File: a.py", "@@", " a = 1", "", "-b = 2", "+b = 3"))
    assert desk.read("a.py") == b"a = 1\n\nb = 3\n"


async def test_b014_other_lines_without_a_mark_are_refused(desk):
    """B014."""
    desk.write("a.py", "a = 1\nb = 2\n")
    text = await refused(desk, envelope("*** Update File: a.py", "@@", "a = 1", "-b = 2", "+b = 3"))
    assert "line 4 of the patch should begin with a space, + or -: 'a = 1'" in text


async def test_b015_headers_with_wrong_numbers_do_not_mislead(desk):
    """B015: the place is known by what stands there."""
    lines = [f"line {n}" for n in range(1, 60)]
    desk.write("a.txt", "\n".join(lines) + "\n")
    patch = (
        "--- a/a.txt\n+++ b/a.txt\n"
        "@@ -2,3 +2,4 @@\n line 2\n line 3\n+new\n line 4\n"
        "@@ -41,3 +42,3 @@\n line 40\n-line 41\n+LINE 41\n line 42\n"
    )
    text = await patched(desk, patch)
    assert "hunk 2 of a.txt: it was found at line 40, not at line 41" in text
    wanted = [*lines[:3], "new", *lines[3:40], "LINE 41", *lines[41:]]
    assert desk.read("a.txt").decode().split("\n")[:-1] == wanted


async def test_b015_of_several_places_the_expected_one_counts_then_the_nearest(desk):
    """B015."""
    block = "begin\nvalue\nend\n"
    desk.write("a.txt", block * 3)
    hunk = " begin\n-value\n+VALUE\n end\n"
    await patched(desk, f"--- a/a.txt\n+++ b/a.txt\n@@ -4,3 +4,3 @@\n{hunk}")
    assert desk.read("a.txt").decode() == block + block.replace("value", "VALUE") + block
    desk.write("a.txt", block * 3)
    await desk.done("read_file", path="a.txt")
    await patched(desk, f"--- a/a.txt\n+++ b/a.txt\n@@ -8,3 +8,3 @@\n{hunk}")
    assert desk.read("a.txt").decode() == block * 2 + block.replace("value", "VALUE")


async def test_what_fits_several_places_and_does_not_say_which_is_refused(desk):
    desk.write("a.txt", "begin\nvalue\nend\n" * 3)
    text = await refused(desk, envelope("*** Update File: a.txt", "-value", "+VALUE"))
    assert "fits several places (lines 2, 5, 8)" in text
    equally_near = "--- a/a.txt\n+++ b/a.txt\n@@ -5,1 +5,1 @@\n-value\n+x\n"
    desk.write("a.txt", "value\n\n\n\n\n\n\n\nvalue\n")
    assert "as near" in await refused(desk, equally_near)


async def test_an_anchor_chooses_among_like_places_and_order_goes_on(desk):
    desk.write("a.py", "".join(f"class {c}:\n    def f(self):\n        return 0\n" for c in "ABC"))
    await patched(
        desk,
        envelope(
            "*** Update File: a.py",
            "@@ class B:", "@@     def f(self):", "-        return 0", "+        return 1",
            "@@", "-        return 0", "+        return 2",
        ),
    )  # fmt: skip
    text = desk.read("a.py").decode()
    assert [line[-1] for line in text.split("\n") if "return" in line] == ["0", "1", "2"]


async def test_an_inexact_part_is_found_and_said_to_be_inexact(desk):
    desk.write("a.py", "class A:\n\tdef f(self):\n\t\treturn 1   \n")
    text = await patched(
        desk,
        envelope(
            "*** Update File: a.py", "     def f(self):", "-        return 1", "+        return 2"
        ),
    )
    assert desk.read("a.py") == b"class A:\n\tdef f(self):\n\t\treturn 2\n"
    assert "hunk 1 of a.py: it did not match exactly: the indentation differs" in text
    assert "+\t\treturn 2" in text


async def test_crlf_marks_and_modes_stay(desk):
    file = desk.write("run.sh", b"\xef\xbb\xbfone\r\ntwo\r\n")
    file.chmod(0o755)
    await patched(desk, envelope("*** Update File: run.sh", " one", "-two", "+2", "+3"))
    assert desk.read("run.sh") == b"\xef\xbb\xbfone\r\n2\r\n3\r\n"
    assert file.stat().st_mode & 0o777 == 0o755


async def test_a_patch_applied_already_says_so(desk):
    desk.write("a.py", "a = 2\n")
    text = await refused(desk, envelope("*** Update File: a.py", "-a = 1", "+a = 2"))
    assert "Nothing was changed" in text
    same = await refused(desk, envelope("*** Update File: a.py", "-a = 2", "+a = 2"))
    assert "changes nothing" in same


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("", "names no file"),
        ("hello", "names no file"),
        (envelope(), "names no file"),
        (envelope("*** Update File: a.py"), "changes nothing"),
        (envelope("*** Add File: n.py", "x"), "should begin with +"),
        (
            envelope("*** Update File: a.py", "*** Ad File: x", "-a = 1", "+x"),
            "cannot be understood",
        ),
        (
            envelope("*** Update File: a.py", "@@ a = 1", "*** Delete File: b.py"),
            "after the @@ line",
        ),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "no file"),
        ("--- a/a.py\n+++ b/a.py\n", "has no @@ part"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n", "should begin with a space"),
        ("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n", "has no `--- path`"),
        (envelope("what is this"), "should be `*** Add File:`"),
        (envelope("*** Add File: a.py", "+x"), "exists, so it cannot be added"),
        (envelope("*** Update File: gone.py", "-x", "+y"), "no such file: gone.py"),
        (envelope("*** Delete File: gone.py"), "no such file: gone.py"),
        (envelope("*** Delete File: a.py", "*** Update File: a.py", "-a", "+b"), "twice"),
        (envelope("*** Update File: a.py", "*** Move to: b.py", "-a = 1", "+x"), "b.py exists"),
        (envelope("*** Update File: a.py", "-a = 1", "+x", "@@", "-a = 1", "+y"), "overlaps"),
        ("@@ -1 +1 @@\n-a\n+b\n", "has no `--- path`"),
        ("--- a/a.py\n@@ -1 +1 @@\n-a\n+b\n", "should be `+++ path`"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "binary"),
    ],
)
async def test_what_cannot_be_applied_says_why(desk, patch, words):
    desk.write("a.py", "a = 1\n")
    desk.write("b.py", "b = 1\n")
    assert words in await refused(desk, patch)
    assert (desk.read("a.py"), desk.read("b.py")) == (b"a = 1\n", b"b = 1\n")


@pytest.mark.parametrize(
    "wrap",
    [
        "```diff\n{}\n```",
        "apply_patch <<'EOF'\n{}\nEOF",
        "<<EOF\n{}\nEOF\n",
        "\n{}\n\n",
        "Here it is:\n{}",
    ],
)
async def test_what_models_put_around_a_patch_does_not_matter(desk, wrap):
    desk.write("a.py", "a = 1\n")
    patch = envelope("*** Update File: a.py", "-a = 1", "+a = 2")
    await patched(desk, wrap.format(patch))
    assert desk.read("a.py") == b"a = 2\n"


async def test_parts_of_one_file_may_come_apart_and_blank_lines_between_do_not_matter(desk):
    desk.write("a.py", "a = 1\nb = 2\nc = 3\n")
    await patched(
        desk,
        envelope(
            "", "*** Update File: a.py", "@@ -1,1 +1,1 @@", "-a = 1", "+a = 9", "",
            "*** Add File: n.py", "+n", "",
            "*** Update File: a.py", "@@", " b = 2", "-c = 3", "+c = 9", "*** End of File", "",
        ),
    )  # fmt: skip
    assert desk.read("a.py") == b"a = 9\nb = 2\nc = 9\n"
    assert desk.read("n.py") == b"n\n"


async def test_a_patch_without_its_first_line_is_read_too(desk):
    desk.write("a.py", "a = 1\n")
    await patched(desk, "*** Update File: a.py\n-a = 1\n+a = 2\n")
    assert desk.read("a.py") == b"a = 2\n"


async def test_a_line_ending_at_the_end_comes_and_goes_as_the_diff_says(desk):
    desk.write("a.txt", "one\ntwo\n")
    none = "\\ No newline at end of file\n"
    await patched(desk, f"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n{none}")
    assert desk.read("a.txt") == b"one\n2"
    await patched(desk, f"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n 2\n{none}")
    assert desk.read("a.txt") == b"1\n2"


async def test_what_comes_in_after_an_anchor_at_the_end_gets_a_line_of_its_own(desk):
    desk.write("a.txt", "one\ntwo")
    await patched(desk, envelope("*** Update File: a.txt", "@@ two", "+three"))
    assert desk.read("a.txt") == b"one\ntwo\nthree"
    await patched(desk, envelope("*** Update File: a.txt", "@@", "+four", "*** End of File"))
    assert desk.read("a.txt") == b"one\ntwo\nthree\nfour"


async def test_a_link_is_not_deleted_by_a_patch(desk):
    desk.write("real.txt", "x\n")
    (desk.root / "link.txt").symlink_to("real.txt")
    assert "is a link" in await refused(desk, envelope("*** Delete File: link.txt"))


async def test_git_diffs_of_all_kinds_are_read(desk):
    desk.write("a.txt", "one\ntwo")
    desk.write("gone.txt", "x\n")
    desk.write("empty.txt", "")
    desk.write("moved.txt", "m\n")
    patch = """\
diff --git a/a.txt b/a.txt
index 123..456 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
\\ No newline at end of file
+2
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/empty.txt b/empty.txt
deleted file mode 100644
diff --git a/nothing.txt b/nothing.txt
new file mode 100644
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+text
\\ No newline at end of file
diff --git a/moved.txt b/there.txt
similarity index 100%
rename from moved.txt
rename to there.txt
"""
    await patched(desk, patch)
    assert desk.read("a.txt") == b"one\n2\n"
    assert desk.read("new.txt") == b"text"
    assert desk.read("nothing.txt") == b""
    assert desk.read("there.txt") == b"m\n"
    assert sorted(path.name for path in desk.root.iterdir()) == [
        "a.txt", "new.txt", "nothing.txt", "there.txt",
    ]  # fmt: skip


def test_names_with_odd_characters_are_read():
    (file,) = parse_patch(
        '--- "a/f\\303\\244 n.txt"\n+++ "b/f\\303\\244 n.txt"\n@@ -1 +1 @@\n-a\n+b\n'
    )
    assert file.path == "f\u00e4 n.txt"
    (dated,) = parse_patch(
        "--- a.txt\t2026-01-01 00:00\n+++ a.txt\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert dated.path == "a.txt"


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "", "x = 1", "\tq", "a "]), max_size=20)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(LINES, LINES, st.booleans(), st.booleans())
@example([""], ["a", "", ""], True, False)
def test_what_a_diff_says_is_what_the_patch_makes(old, new, old_ends, new_ends):
    """A unified diff of two texts, found by content and expected place, gives the second."""
    from hame.base.edit import apply_edits
    from hame.tools.patch_place import place_hunks

    before = "\n".join(old) + ("\n" if old and old_ends else "")
    after = "\n".join(new) + ("\n" if new and new_ends else "")
    diff = difference("f.txt", before, after).diff
    if not before or not after or not diff:
        return
    (file,) = parse_patch(diff)
    placed = place_hunks(before, file.hunks, "f.txt")
    assert apply_edits(before, placed.edits) == after


def test_patches_of_git_itself_are_applied_as_git_does(tmp_path: Path):
    """A real repository, a real diff, other line numbers."""
    from hame.base.edit import apply_edits
    from hame.tools.patch_place import place_hunks

    source = Path(__file__).read_text("utf-8")
    changed = source.replace("async def ", "async  def ", 5).replace("assert", "ASSERT", 9)
    (tmp_path / "a").write_text(source, "utf-8")
    (tmp_path / "b").write_text(changed, "utf-8")
    run = subprocess.run(
        ["git", "diff", "--no-index", "--no-prefix", "a", "b"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    (file,) = parse_patch(run.stdout)
    moved = "# one more line\n" * 7 + source
    placed = place_hunks(moved, file.hunks, "a")
    assert apply_edits(moved, placed.edits) == "# one more line\n" * 7 + changed


def test_what_it_declares(desk):
    tool = desk.tools["apply_patch"]
    assert tool.spec.effect is Effect.WRITE
    assert not tool.spec.advertised
    patch = envelope("*** Add File: a.py", "+x", "*** Delete File: b.py")
    assert tool.summarize({"input": patch}) == "a.py, b.py"
    assert tool.summarize({"input": "?"}) == "a patch"
    assert tool.summarize({}) == "a patch"
