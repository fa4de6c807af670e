"""What a terminal would show in the end (B027)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.terminal import Terminal


def resolve(*chunks: str) -> str:
    out: list[str] = []
    terminal = Terminal(out.append)
    for chunk in chunks:
        terminal.feed(chunk)
    terminal.close()
    return "".join(out)


@pytest.mark.parametrize(
    ("raw", "final"),
    [
        ("plain\ntext\n", "plain\ntext\n"),
        ("\r 10%\r 20%\r100%\n", "100%\n"),
        ("loading...\r\x1b[Kdone\n", "done\n"),
        ("\x1b[31mred\x1b[0m plain", "red plain"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("typo\b\b\b\bword", "word"),
        ("N\bNA\bA", "NA"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("abc\x1b[2Dx", "axc"),
        ("abc\x1b[1Gx", "xbc"),
        ("a\x1b[3Cb", "a   b"),
        ("one\ntwo\x1b[1A\r\x1b[2KONE\n", "ONE\ntwo"),
        ("one\ntwo\nthree\x1b[2A\r\x1b[Jnew", "new"),
        ("1234\x1b[2D\x1b[1K", "  34"),
        ("old\x1b[H\x1b[2Jnew", "old\nnew"),
        ("ring\x07 and\x0e out", "ring and out"),
        ("a\0b", "a\\0b"),
        ("(\x1b(B)", "()"),
        ("csi\x9b31m", "csi31m"),
        ("tab\there", "tab\there"),
        ("page\x0cnext", "page\nnext"),
        ("up\x1b[5A\x1b[9Bstill", "upstill"),
        ("x\x1b[Ey", "y"),
        ("a\x1b[999999999999Cb", "a" + " " * 999 + "b"),
        ("\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        ("\x1b[1;31mmany\x1b[;m", "many"),
    ],
)
def test_only_the_final_state_of_each_line_is_kept(raw: str, final: str):
    assert resolve(raw) == final


def test_a_bar_of_several_lines_is_drawn_over():
    draw = "".join(f"\x1b[2A\x1b[2K\ra {n}\n\x1b[2K\rb {n}\n" for n in range(50))
    assert resolve("a\nb\n" + draw) == "a 49\nb 49\n"


def test_lines_that_left_the_screen_are_final():
    lines = "".join(f"{n}\n" for n in range(500))
    assert resolve(lines, "\x1b[999A\rtop") == lines.replace("\n453\n", "\ntop\n")


def test_a_line_without_an_end_is_passed_on_in_pieces():
    out: list[str] = []
    terminal = Terminal(out.append)
    for _ in range(100):
        terminal.feed("x" * 10_000)
    assert sum(map(len, out)) > 900_000
    terminal.close()
    assert "".join(out) == "x" * 1_000_000


def test_a_sequence_that_never_ends_does_not_grow_or_hide_what_follows():
    out: list[str] = []
    terminal = Terminal(out.append)
    terminal.feed("before\x1b]0;" + "t" * 5_000)
    terminal.feed("t" * 100 + "\nafter\n")
    terminal.close()
    text = "".join(out)
    assert text.startswith("before")
    assert text.endswith("after\n")


def test_an_unfinished_sequence_at_the_end_is_not_shown():
    assert resolve("text\x1b[3") == "text"


def test_what_is_shown_meanwhile_has_no_escapes():
    terminal = Terminal(lambda _: None)
    assert terminal.feed("\x1b[1mbold\x1b[0m\r50%\rdone\x1b[") == "bold\n50%\ndone"
    assert terminal.feed("0m\n") == "\n"


PIECES = st.sampled_from([
    "a", "word ", "\n", "\r", "\b", "\x1b[K", "\x1b[2K", "\x1b[A", "\x1b[2C", "\x1b[31m",
    "\x1b]0;t\x07", "\x1b]8;;u\x1b\\", "\r\n", "é", "\x1b[J", "\x1b[H", "\t", "\x1bM",
])  # fmt: skip


@settings(deadline=None)
@given(st.lists(PIECES, max_size=40), st.data())
def test_how_output_is_cut_into_chunks_makes_no_difference(pieces: list[str], data: st.DataObject):
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert resolve(*chunks) == resolve(text)


@settings(deadline=None)
@given(st.text())
def test_no_text_breaks_it_or_leaves_an_escape(text: str):
    assert "\x1b" not in resolve(text)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n\t")))
def test_plain_text_is_left_as_it_is(text: str):
    assert resolve(text) == text
