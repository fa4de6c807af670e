"""The rows of tool calls in a terminal: those that run, and what each came to."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import assert_never

import msgspec

from hame.base.event import CallProgress, CallSettled, CallStarted
from hame.base.outcome import (
    Cancelled,
    CommandView,
    Corrected,
    Denied,
    DiffView,
    Done,
    Failed,
    Outcome,
    TodoView,
)
from hame.cli.cells import cut, width, wrap
from hame.cli.diff import draw_diff
from hame.cli.paint import Paint
from hame.cli.reveal import clean, one_line
from hame.cli.screen import Screen
from hame.cli.words import came_to, counted, duration, earlier_lines, todo_lines

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_OUTPUT_TAIL = 8
"""Lines of a finished command's output that are shown."""
_LIVE_TAIL = 4
"""Lines of a running command's output that are shown."""
_DIFF_LINES = 80


class _Call(msgspec.Struct):
    title: str
    since: float
    tail: deque[str] = msgspec.field(default_factory=lambda: deque(maxlen=_LIVE_TAIL))


def spinner(now: float) -> str:
    """The spinner as it looks at that moment, in seconds."""
    return _SPINNER[int(now * 12) % len(_SPINNER)]


class CallRows:
    """Follows the calls of a run."""

    def __init__(self, screen: Screen, paint: Paint, clock: Callable[[], float]) -> None:
        """Start with no call."""
        self._screen, self._paint, self._clock = screen, paint, clock
        self._calls: dict[str, _Call] = {}
        self._seen: set[str] = set()

    @property
    def running(self) -> bool:
        """Whether a call runs."""
        return bool(self._calls)

    def start(self, event: CallStarted) -> None:
        """A call begins."""
        name, what = one_line(event.title or event.tool, 40), one_line(event.summary, 1000)
        self._calls[event.call] = _Call(f"{name}  {what}" if what else name, self._clock())

    def progress(self, event: CallProgress) -> None:
        """A call has printed more."""
        if event.call in self._calls:
            self._calls[event.call].tail.extend(clean(event.text).rstrip("\n").split("\n"))

    def seen(self, call: str) -> None:
        """The user has just seen a call's change in a question: it is not shown again."""
        self._seen.add(call)

    def settle(self, event: CallSettled) -> list[str]:
        """A call is over: the lines that stay."""
        running = self._calls.pop(event.call, None)
        title = running.title if running else one_line(event.tool, 40)
        lines = self._row(title, event.outcome, event.seconds)
        lines += self._what_it_did(event.call, event.outcome)
        self._seen.discard(event.call)
        return lines

    def clear(self) -> None:
        """Nothing runs any more."""
        self._calls.clear()

    def live(self) -> list[str]:
        """The calls that run, with the end of what they printed."""
        lines: list[str] = []
        now, cells, bar = self._clock(), self._screen.columns, self._paint.dim("  │ ")
        for call in self._calls.values():
            took = duration(now - call.since)
            title = cut(call.title, max(cells - len(took) - 5, 10))
            lines.append(f"{self._paint.accent(spinner(now))} {title}  {self._paint.dim(took)}")
            lines += [
                bar + self._paint.dim(cut(line.expandtabs(4), cells - 4)) for line in call.tail
            ]
        return lines

    def _row(self, title: str, outcome: Outcome, seconds: float) -> list[str]:
        mark, colour = self._mark(outcome)
        came, took = came_to(outcome), duration(seconds) if seconds >= 0.05 else ""
        room = self._screen.columns - 2
        end = "  ".join(part for part in (came, took) if part)
        if not came or width(title) + width(end) + 2 <= room:
            short = cut(title, room - width(end) - 2)
            return [f"{mark} {short}  {colour(end)}".rstrip()]
        return [f"{mark} {cut(title, room)}", *(colour(f"  {part}") for part in wrap(end, room))]

    def _mark(self, outcome: Outcome) -> tuple[str, Callable[[str], str]]:
        paint = self._paint
        match outcome:
            case Done(view=CommandView(exit_code=code)) if code:
                return paint.bad("✗"), paint.bad
            case Done():
                return paint.good("✓"), paint.dim
            case Failed():
                return paint.bad("✗"), paint.bad
            case Denied() | Corrected():
                return paint.warn("⊘"), paint.warn
            case Cancelled():
                return paint.warn("■"), paint.warn
            case _:
                assert_never(outcome)

    def _what_it_did(self, call: str, outcome: Outcome) -> list[str]:
        cells = self._screen.columns - 4
        match outcome:
            case Done(view=DiffView() as view) | Failed(view=DiffView() as view):
                if call in self._seen:
                    return []
                lines = draw_diff(view, self._paint, cells, clean)
                hidden = len(lines) - _DIFF_LINES
                more = [f"… {counted(hidden, 'more line')}"] if hidden > 0 else []
                return self._indent([*lines[:_DIFF_LINES], *map(self._paint.dim, more)])
            case Done(view=CommandView() as view) | Failed(view=CommandView() as view):
                put_right = [self._paint.warn(cut(clean(line), cells)) for line in view.aftermath]
                return self._indent([*self._output(view.output, cells), *put_right])
            case Done(view=TodoView() as view):
                return self._indent(cut(line, cells) for line in todo_lines(view))
            case _:
                return []

    def _output(self, output: str, cells: int) -> list[str]:
        if not output.strip():
            return []
        lines = clean(output).strip("\n").split("\n")
        hidden = len(lines) - _OUTPUT_TAIL
        if hidden > 0:
            lines = [f"… {earlier_lines(lines[:-_OUTPUT_TAIL])}", *lines[-_OUTPUT_TAIL:]]
        return [self._paint.dim(cut(line.expandtabs(4), cells)) for line in lines]

    def _indent(self, lines: Iterable[str]) -> list[str]:
        bar = self._paint.dim("  │ ")
        return [bar + line for line in lines]
