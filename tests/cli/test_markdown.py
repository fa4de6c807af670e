import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.cli.cells import width
from hame.cli.drawing import Drawing
from hame.cli.drawn import draw_block
from hame.cli.markdown import Blocks

PLAIN = re.compile(r"\x1b\[[0-9;]*m")


def blocks_of(text, step=1):
    blocks = Blocks()
    done = []
    for start in range(0, len(text), step):
        done += blocks.feed(text[start : start + step])
    return done + blocks.finish()


def drawn(block, cells=40):
    return [PLAIN.sub("", line) for line in draw_block(block, cells, "36")]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("a\nb\n\nc", ["a\nb", "c"]),
        ("```py\nx\n\ny\n```\nafter", ["```py\nx\n\ny\n```", "after"]),
        ("~~~~\n```\n~~~\n~~~~\nx", ["~~~~\n```\n~~~\n~~~~", "x"]),
        ("- a\n\n- b\n\n  more\n\nend", ["- a\n\n- b\n\n  more", "end"]),
        ("1. do:\n```\nx\n\ny\n```\nz", ["1. do:", "```\nx\n\ny\n```", "z"]),
        ("text\n```\ncode\n```", ["text", "```\ncode\n```"]),
        ("| a |\n|---|\n| 1 |\n\nx", ["| a |\n|---|\n| 1 |", "x"]),
        ("\n\n\n", []),
        ("```\nunfinished", ["```\nunfinished"]),
    ],
)
def test_a_text_is_cut_where_its_blocks_end(text, blocks):
    assert blocks_of(text) == blocks


@given(
    st.lists(st.sampled_from(["a", "- i", "```", "~~~", "", "  x", "1. n", "| t |", "# h"])),
    st.integers(1, 7),
)
def test_no_line_is_lost_however_the_text_arrives(lines, step):
    text = "\n".join(lines)
    found = blocks_of(text, step)
    assert found == blocks_of(text)
    kept = [line for block in found for line in block.split("\n") if line.strip()]
    assert kept == [line for line in lines if line.strip()]


def test_the_unfinished_block_is_known():
    blocks = Blocks()
    assert blocks.feed("one\n\ntwo thr") == ["one"]
    assert blocks.tail == "two thr"
    assert blocks.finish() == ["two thr"]
    assert blocks.tail == ""


def test_code_lists_and_tables_are_drawn():
    assert drawn("```python\nx = 1\n\ny = 2\n```") == ["  x = 1", "", "  y = 2"]
    assert drawn("3. three\n4. four") == [" 3. three", " 4. four"]
    assert drawn("- a\n  - b") == [" • a", "    • b"]
    table = drawn("| a | b |\n|---|--:|\n| 1 | 22 |")
    assert [line.split() for line in table] == [["a", "b"], ["─" * 5], ["1", "22"]]
    assert drawn("# Title") == ["Title"]
    assert drawn("a.py\nb.py") == ["a.py", "b.py"]


def test_a_link_shows_where_it_leads():
    (line,) = drawn("[docs](https://a.example)")
    assert "https://a.example" in line


@given(st.text(alphabet=st.sampled_from("ab *_`#->|\n[]()漢1."), max_size=80), st.integers(12, 40))
def test_drawn_lines_fit_the_terminal_and_end_without_colour(block, cells):
    for line in draw_block(block, cells, "38;2;1;2;3"):
        assert width(PLAIN.sub("", line)) <= cells
        assert "\x1b" not in line or line.endswith("\x1b[0m")


def test_until_it_has_been_loaded_a_block_is_shown_as_it_was_written():
    drawing = Drawing("36")
    assert drawing.draw("**a**", 20, wait=True) == ["**a**"]
    drawing.load()
    assert drawing.draw("**a**", 20, wait=True) == ["\x1b[1ma\x1b[0m"]
