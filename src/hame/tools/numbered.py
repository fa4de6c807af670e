"""Lines of a text as the model sees them: numbered, within limits, and every limit said."""

import msgspec

from hame.base.errors import PathError
from hame.base.outcome import Done, TextView, text_content
from hame.base.path import TextWindow
from hame.tools.phrase import counted

LINES = 2_000
"""Lines shown in one call."""
SIZE = 50_000
"""Bytes shown in one call."""
_LINE_LENGTH = 2_000


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a text that is shown."""

    first: int
    lines: list[str]
    total: int | None
    """Lines of the whole text; None when nobody counted them."""
    more: bool
    """Whether the text goes on after them."""
    cut: bool
    """Whether a line was too long to be shown whole."""

    @property
    def last(self) -> int:
        """Number of the last line shown."""
        return self.first + len(self.lines) - 1

    @property
    def whole(self) -> bool:
        """Whether this is all of the text."""
        return self.first == 1 and not self.more


def page_of(text: str, first: int, last: int | None) -> Page:
    """The lines of a text from `first` to `last`, as many as may be shown."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    bare = [line.removesuffix("\r") for line in lines[first - 1 : _end(first, last)]]
    shown, cut = _within(bare, [0] * len(bare))
    more = first - 1 + len(shown) < len(lines)
    return Page(first=first, lines=shown, total=len(lines), more=more, cut=cut)


def page_of_window(window: TextWindow) -> Page:
    """The lines of a window, as many as may be shown."""
    shown, cut = _within(list(window.lines), list(window.cut) or [0] * len(window.lines))
    more = window.more or len(shown) < len(window.lines)
    return Page(first=window.first, lines=shown, total=None, more=more, cut=cut)


def wanted_lines(first: int, last: int | None) -> int:
    """How many lines a call may show."""
    return _end(first, last) - first + 1


def show(shown: str, page: Page, last: int | None, *, aside: str = "") -> Done:
    """The lines, numbered. `aside` is a note about the whole file, put after them.

    Raises:
        PathError: when the file ends before them.
    """
    if not page.lines:
        if page.first == 1:
            return Done(text_content(f"{shown} is empty"), TextView("", title=shown))
        known = "fewer lines" if page.total is None else f"only {counted(page.total, 'line')}"
        raise PathError(f"{shown} has {known}; start_line {page.first} lies beyond its end")
    numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(page.lines, page.first))
    title = shown if page.whole else f"{shown} (lines {page.first}-{page.last})"
    view = TextView("\n".join(page.lines), title=title)
    return Done(text_content(numbered + _note(page, last) + aside), view)


def _end(first: int, last: int | None) -> int:
    most = first + LINES - 1
    return most if last is None else min(last, most)


def _within(lines: list[str], missing: list[int]) -> tuple[list[str], bool]:
    """As many lines as fit, each cut to its limit; `missing` was left out of them before."""
    shown: list[str] = []
    size, cut = 0, False
    for line, left_out in zip(lines, missing, strict=True):
        more = max(len(line) - _LINE_LENGTH, 0) + left_out
        text = f"{line[:_LINE_LENGTH]}… [{more:,} more characters]" if more else line
        size += len(text.encode("utf-8", "surrogatepass")) + 1
        if shown and size > SIZE:
            break
        cut = cut or more > 0
        shown.append(text)
    return shown, cut


def _note(page: Page, asked_last: int | None) -> str:
    """What was left out, and how to get it."""
    notes: list[str] = []
    if not page.whole:
        of = "" if page.total is None else f" of {page.total}"
        all_asked = asked_last is not None and page.last >= asked_last
        more = page.more and not all_asked
        on = f"; read on with start_line={page.last + 1}" if more else ""
        notes.append(f"lines {page.first}-{page.last}{of}{on}")
    if page.cut:
        notes.append(f"lines longer than {_LINE_LENGTH:,} characters were cut")
    return "".join(f"\n[{note}]" for note in notes)
