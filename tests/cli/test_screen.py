import io

import pyte
import pyte.modes
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from hame.cli.cells import width
from hame.cli.screen import Screen


class Glass(io.StringIO):
    """A terminal to write to and to look at."""

    def __init__(self, columns=20, rows=6):
        super().__init__()
        self.size = (columns, rows)
        self.screen = pyte.HistoryScreen(columns, rows, history=1000)
        self.screen.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self.screen)

    @override
    def write(self, text):
        self.stream.feed(text)
        return super().write(text)

    @property
    def lines(self):
        top = [
            "".join(line[x].data for x in range(self.size[0])) for line in self.screen.history.top
        ]
        lines = [line.rstrip() for line in [*top, *self.screen.display]]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def test_live_lines_are_drawn_over_and_lines_that_stay_go_above_them():
    glass = Glass()
    screen = Screen(glass, lambda: glass.size)
    screen.draw([], ["live 1", "live 2"])
    assert glass.lines == ["live 1", "live 2"]
    screen.draw(["one"], ["live 3"])
    assert glass.lines == ["one", "live 3"]
    screen.draw(["two"], [])
    assert glass.lines == ["one", "two"]


def test_nothing_is_written_when_nothing_changed():
    glass = Glass()
    screen = Screen(glass, lambda: glass.size)
    screen.draw([], ["live"])
    before = glass.getvalue()
    screen.draw([], ["live"])
    assert glass.getvalue() == before


def test_of_more_live_lines_than_fit_the_last_are_shown():
    glass = Glass(rows=4)
    Screen(glass, lambda: glass.size).draw([], [str(n) for n in range(9)])
    assert glass.lines == ["6", "7", "8"]


def test_after_something_else_wrote_nothing_of_it_is_erased():
    glass = Glass()
    screen = Screen(glass, lambda: glass.size)
    screen.draw([], ["live"])
    glass.write("\nother\n")
    screen.forget()
    screen.draw([], ["again"])
    assert glass.lines == ["live", "other", "again"]


LINES = st.lists(
    st.text(alphabet="abc漢 ", max_size=9).filter(lambda t: width(t) <= 18), max_size=5
)


@given(st.lists(st.tuples(LINES, LINES), max_size=8))
def test_the_transcript_is_what_stayed_whatever_was_live_between(draws):
    glass = Glass()
    screen = Screen(glass, lambda: glass.size)
    stayed = []
    for stay, live in draws:
        screen.draw(stay, live)
        stayed += stay
    screen.draw([], [])
    # A wide character fills its second cell with nothing.
    seen = [line.rstrip() for line in glass.lines]
    expected = [line.rstrip() for line in stayed]
    while expected and not expected[-1]:
        expected.pop()
    assert [line.replace(" ", "") for line in seen] == [line.replace(" ", "") for line in expected]
