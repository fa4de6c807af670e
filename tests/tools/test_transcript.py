"""Head and tail of long output (B032)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.transcript import Transcript


def test_what_fits_is_kept_whole():
    transcript = Transcript(10, 10)
    transcript.add("x" * 12)
    transcript.add("y" * 8)
    assert transcript.text() == "x" * 12 + "y" * 8


def test_the_middle_of_long_output_is_counted_not_kept():
    transcript = Transcript(100, 100)
    for number in range(1_000):
        transcript.add(f"line {number}\n")
    text = transcript.text()
    head, gap, tail = text.partition("[")
    assert head.startswith("line 0\nline 1\n")
    assert tail.endswith("line 998\nline 999\n")
    assert "characters" in tail
    total = sum(len(f"line {number}\n") for number in range(1_000))
    named = int(tail.split(" characters")[0].replace(",", ""))
    kept = len(head.rstrip("\n")) + 1 + len(tail.split("here]\n")[1])
    assert named == total - kept
    lines = int(tail.split("(")[1].split(" lines")[0].replace(",", ""))
    assert lines == 1_000 - text.count("line ")
    assert gap


def test_memory_stays_bounded():
    transcript = Transcript(1_000, 1_000)
    for _ in range(500):
        transcript.add("z" * 5_000)
    assert sum(map(len, transcript._tail)) <= 6_000
    assert "2,498,000 characters (0 lines) left out" in transcript.text()


@settings(deadline=None)
@given(st.lists(st.text(alphabet="ab\n", max_size=30), max_size=30))
def test_nothing_is_lost_without_being_counted(pieces: list[str]):
    transcript = Transcript(20, 20)
    for piece in pieces:
        transcript.add(piece)
    whole, text = "".join(pieces), transcript.text()
    if len(whole) <= 40:
        assert text == whole
    else:
        assert "left out" in text
        assert text.endswith(whole[-10:])
        assert whole.startswith(text.partition("[")[0].rstrip("\n"))
