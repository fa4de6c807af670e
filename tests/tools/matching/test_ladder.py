"""The steps by which an inexact text is found, one by one, and how fast."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.matching.canonical import TextLines
from hame.tools.matching.ladder import Doubtful, Placed, Several, find_inexact


def placed(text: str, old: str, new: str) -> Placed:
    found = find_inexact(TextLines(text), old, new)
    assert isinstance(found, Placed), found
    return found


def result(text: str, old: str, new: str) -> str:
    found = placed(text, old, new)
    return text[: found.span.start] + found.new + text[found.span.end :]


def refused(text: str, old: str, new: str = "something else") -> Doubtful | Several | None:
    found = find_inexact(TextLines(text), old, new)
    assert not isinstance(found, Placed), found
    return found


def test_spaces_at_the_ends_of_lines_stay_where_nothing_changes():
    assert result("a  \nb\t\nc\n", "a\nb\nc", "a\nb\nd") == "a  \nb\t\nd\n"
    assert result("a\nb\nc\n", "a  \nb", "a  \nx") == "a\nx\nc\n"


@pytest.mark.parametrize(
    ("text", "old"), [("max\ncd\n", "x  \nc"), ("a\nab\ncd\n", "b  \ncd"), ("foobar\n", "o\\nb")]
)
def test_an_inexact_text_does_not_begin_or_end_inside_a_word(text: str, old: str):
    assert refused(text, old) is None


def test_a_shallower_block_is_indented_as_the_file_is():
    text = "class A:\n    def f(self):\n        return 1\n"
    after = result(
        text,
        "def f(self):\n    return 2\n".replace("2", "1"),
        "def f(self):\n    x = 1\n    return x\n",
    )
    assert after == "class A:\n    def f(self):\n        x = 1\n        return x\n"


@pytest.mark.parametrize("width", [2, 4, 8])
def test_spaces_become_tabs_also_in_depths_that_were_not_seen(width: int):
    space = " " * width
    text = "if a:\n\tb()\n\tif c:\n\t\td()\n"
    old = f"{space}b()\n{space}if c:\n{space * 2}d()\n"
    new = f"{old}{space * 2}if e:\n{space * 3}f()\n"
    assert result(text, old, new) == f"{text}\t\tif e:\n\t\t\tf()\n"


def test_tabs_become_spaces():
    text = "if a:\n    b()\n    if c:\n        d()\n"
    assert result(text, "\tb()\n\tif c:\n\t\td()", "\tb()\n\tif c:\n\t\t\te()") == (
        "if a:\n    b()\n    if c:\n            e()\n"
    )


def test_only_the_first_line_may_have_lost_its_indentation():
    text = "    if a:\n        b()\n    c()\n"
    assert result(text, "if a:\n\t\tb()\n\tc()", "if a:\n\t\tx()\n\tc()") == (
        "    if a:\n        x()\n    c()\n"
    )


def test_indentation_that_differs_unevenly_is_another_block():
    assert refused("if a:\n    b()\nc()\n", "  if a:\n  b()\n  c()") is not None


def test_one_block_at_two_depths_is_not_unique():
    text = "    a()\n    b()\nif x:\n        a()\n        b()\n"
    found = refused(text, "  a()\n  b()\n")
    assert found == Several((1, 4), "the indentation differs")


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("say \u201cyes\u201d and \u201cno\u201d\n", 'say "yes" and', 'say "maybe" and', "say \u201cmaybe\u201d and \u201cno\u201d\n"),
        ("it\u2019s a\u00a0test\n", "it's a test", "it's a big test", "it\u2019s a\u00a0big test\n"),
        ("wait\u2026 now\n", "wait... now", "wait... then", "wait\u2026 then\n"),
        ("a\u200bb c\n", "ab c", "ab d", "a\u200bb d\n"),
        ("cafe\u0301 au lait\n", "caf\u00e9 au lait", "caf\u00e9 noir", "cafe\u0301 noir\n"),
        ("\uff08x\uff09 = 1\n", "(x) = 1", "(x) = 2", "\uff08x\uff09 = 2\n"),
        ("x \u2013 y\n\tz \u2014 w\n", "    z - w", "    z - v", "x \u2013 y\n\tz \u2014 v\n"),
    ],
)  # fmt: skip
def test_look_alikes_match_and_stay(text: str, old: str, new: str, after: str):
    assert result(text, old, new) == after


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ('f("a")\n', 'f(\\"a\\")', 'f(\\"b\\")', 'f("b")\n'),
        ("a\n\tb\n", "a\\n\\tb", "a\\n\\tc", "a\n\tc\n"),
        ("if a < b && c:\n", "if a &lt; b &amp;&amp; c:", "if a &gt; b:", "if a > b:\n"),
        ("a\nb\nc\n", "   2\tb\n   3\tc", "   2\tx\n   3\tc", "a\nx\nc\n"),
        ("a\nb\nc\n", "2\tb\n3\tc", "x\nc", "a\nx\nc\n"),
        ("a\nblock()\nc\n", "\n\nblock()\n\n", "\n\nother()\n\n", "a\nother()\nc\n"),
        ("\tf(\u201ca\u201d)\n\tg()\n", 'f(\\"a\\")\ng()', 'f(\\"a\\")\nh()', "\tf(\u201ca\u201d)\n\th()\n"),
    ],
)  # fmt: skip
def test_other_spellings_are_read_as_they_are_meant(text: str, old: str, new: str, after: str):
    assert result(text, old, new) == after


def test_numbers_that_do_not_go_up_are_no_line_numbers():
    assert refused("a\nb\n", "2\ta\n1\tb") is None


BLOCK = """\
def take(queue, limit):
    # Take what is there, but no more than is wanted.
    taken = []
    while queue and len(taken) < limit:
        taken.append(queue.pop(0))

    return taken
"""


@pytest.mark.parametrize(
    ("there", "remembered"),
    [
        ("more than is wanted", "more than was wanted"),
        ("taken.append(queue.pop(0))", "taken.append( queue.pop( 0 ) )"),
        ("\n\n    return", "\n    return"),
        ("    taken = []\n", "    taken = []\n\n"),
        ("append(queue.pop(0))", "append(queue.pop(0),)"),
    ],
)
def test_what_does_not_matter_is_forgiven_in_a_block_and_stays(there: str, remembered: str):
    old = BLOCK.replace(there, remembered)
    after = result(
        f"x = 1\n{BLOCK}y = 2\n", old, old.replace("return taken", "return taken, queue")
    )
    assert after == f"x = 1\n{BLOCK}y = 2\n".replace("return taken", "return taken, queue")


@pytest.mark.parametrize(
    ("there", "remembered"),
    [
        ("pop(0)", "pop(1)"),
        ("< limit", "<= limit"),
        ("queue and", "queue or"),
        ("taken = []", "taken = {}"),
        ("def take", "def make"),
        ("    taken = []\n", ""),
        ("return taken", "return queue"),
        ("while queue", "while not queue"),
        ("more than is wanted", "everything else goes back to where it came from"),
    ],
)
def test_what_matters_makes_it_another_block(there: str, remembered: str):
    old = BLOCK.replace(there, remembered)
    assert old != BLOCK
    found = refused(f"x = 1\n{BLOCK}y = 2\n", old, old + "z = 3\n")
    assert isinstance(found, Doubtful)
    assert found.first == 2


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("x = a // b", "x = a // c"),
        ("color: #fff", "color: #000"),
        ("#include <a.h>", "#include <b.h>"),
        ("cmd --all", "cmd --none"),
        ("* first point", "* other point"),
        ("url = 'http://one'", "url = 'http://two'"),
        ('say("# one")', 'say("# two")'),
    ],
)
def test_what_only_looks_like_a_comment_matters(line: str, other: str):
    text = f"first()\nsecond()\n{line}\nthird()\nfourth()\n"
    refused(text, text.replace(line, other), "gone()")


def test_a_comment_after_code_may_be_remembered_otherwise():
    text = "first()\nx = 1  # the first of all\nthird()\nfourth()\n"
    old = text.replace("of all", "of them")
    assert result(text, old, old.replace("third", "3rd")) == text.replace("third", "3rd")


def test_a_line_that_was_never_seen_is_not_taken_away():
    text = "a(1)\nb(2)\n# keep this\nc(3)\nd(4)\ne(5)\n"
    old = "a(1)\nb(2)\nc(3)\nd(4)\ne(5)\n"
    found = refused(text, old, "z()\n")
    assert isinstance(found, Doubtful)
    assert "line 3" in found.reason
    assert result(text, old, old.replace("e(5)", "e(6)")) == text.replace("e(5)", "e(6)")


def test_two_places_that_are_alike_are_not_chosen_between():
    text = "".join(f"# part {n}\nload(a)\nstore(b)\nsend(c)\n\n" for n in ("one", "two"))
    old = "# part six\nload( a )\nstore(b)\nsend(c)\n"
    assert refused(text, old) is not None


def test_ends_alone_do_not_make_a_match():
    text = "begin()\na()\nb()\nc()\nend()\n"
    assert isinstance(refused(text, "begin()\nx()\ny()\nz()\nend()\n"), Doubtful)


def test_a_place_is_found_in_10_000_lines():
    source = Path(__file__).read_text("utf-8").split("\n")
    lines = [f"{line}  # {n}" if n % 3 else line for n in range(30) for line in source]
    lines = [*lines * 2][:9_990]
    block = [f"def only_{n}(value):  # once" for n in range(3)]
    middle = ["    # what is done here", *(f"    step_{n}(value, {n})" for n in range(40))]
    lines[6_000:6_000] = [*block, *middle]
    text = "\n".join(lines)
    old = "\n".join([*block, "    # what was done here", *middle[1:]])
    found = find_inexact(TextLines(text), old, old.replace("step_39", "last"))
    assert isinstance(found, Placed)
    assert text.count("\n", 0, found.span.start) == 6_000


LINE = st.sampled_from(["a = 1", "b(2)", "", "c", "# note", "\u201cq\u201d", "if x:"])
INDENT = st.sampled_from(["", "  ", "    ", "\t", "\t\t"])
ENDS = st.sampled_from(["", " ", "\t"])
LINES = st.lists(st.tuples(INDENT, LINE, ENDS).map("".join), max_size=14)


@settings(deadline=None)
@given(LINES, LINES, LINES, st.data())
def test_what_is_placed_leaves_every_other_character(before, block, after, data):
    """The result differs from the file only between the first and the last line of the match."""
    text = "\n".join([*before, *block, *after])
    old = "\n".join(
        data.draw(st.sampled_from([block, [line.strip() for line in block], block[1:]]))
    )
    found = find_inexact(TextLines(text), old, old + "\nnew_line()")
    if isinstance(found, Placed):
        start, end = found.span
        assert 0 <= start <= end <= len(text)
        assert fold_all(text[start:end]) == fold_all(old)


def fold_all(text: str) -> str:
    return "".join(text.split()).replace("\u201c", '"').replace("\u201d", '"')
