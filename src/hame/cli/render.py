"""A run in a terminal: RunEvents become lines that stay and a live part below them.

The live part is what is still going on: the block being written, the calls that run, the status and
the line being typed. It is redrawn by `tick`, so that a burst of events costs one write.
"""

import time
from collections.abc import Callable, Sequence
from typing import assert_never

import msgspec

from hame.base import event as ev
from hame.base.question import Question
from hame.base.run import RunFailed
from hame.cli.calls import CallRows, spinner
from hame.cli.cells import cut, cut_start, wrap, wrap_indented
from hame.cli.drawing import Drawing
from hame.cli.imitation import MARK, imitates, mark_imitation
from hame.cli.markdown import Blocks
from hame.cli.paint import POINTER, Paint
from hame.cli.questions import Pending, describe_answer, draw_choices, draw_question
from hame.cli.reveal import clean, one_line
from hame.cli.screen import Screen, without_escapes
from hame.cli.words import duration, ending, failure_line, first_lines, money, spent_line, tokens

_LARGE_BLOCK = 6_000
"""Characters of an unfinished block from which it is shown raw: drawing it again and again is slow."""


class _Wait(msgspec.Struct, frozen=True):
    """A wait before the model is asked again."""

    until: float
    why: str
    attempt: int


class TerminalView:
    """Implements View on a terminal that knows escape sequences."""

    def __init__(
        self,
        screen: Screen,
        paint: Paint,
        *,
        drawing: Drawing,
        show_thinking: bool = True,
        typed: Callable[[], str | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`typed` gives the line being typed, None where nothing can be typed."""
        self._screen, self._paint, self._drawing = screen, paint, drawing
        self._show_thinking, self._typed, self._clock = show_thinking, typed, clock
        self._stay: list[str] = []
        self._later: list[str] = []
        """Lines that came while a question is asked: nothing gets between it and its choices."""
        self._answer, self._thought, self._thinking = Blocks(), "", False
        self._calls = CallRows(screen, paint, clock)
        self._wait: _Wait | None = None
        self._pending, self._slip = Pending(), False
        self._queued: list[str] = []
        self._doing, self._since = "", clock()
        self._model = self._mode = self._sandbox = ""
        self._tokens, self._cost = 0, None
        self._running = False
        self._gap = True
        """Whether the last line that stays is empty, or there is none."""

    # ------------------------------------------------------------ View

    def show(self, event: ev.RunEvent) -> None:
        """Take an event; drawn at the next tick."""
        if event.parent is not None and isinstance(event, ev.TextDelta | ev.ThinkingDelta):
            return
        match event:
            case ev.TextDelta(text=text):
                self._say(text)
            case ev.ThinkingDelta(text=text):
                self._think(text)
            case ev.CallProposed() | ev.CallStarted() | ev.CallProgress() | ev.CallSettled():
                self._show_call(event)
            case ev.QuestionAsked() | ev.QuestionAnswered() | ev.QuestionWithdrawn():
                self._show_question(event)
            case ev.RunStarted() | ev.StepStarted() | ev.RunEnded() | ev.WaitStarted():
                self._show_progress(event)
            case ev.AnswerCompleted() | ev.AnswerAbandoned():
                self._show_answer(event)
            case ev.UsageUpdated(usage=usage, cost_usd=cost):
                self._tokens, self._cost = usage.input_total + usage.output, cost
            case ev.Notice(text=text, level=level):
                self._remark(text, level)
            case ev.SteeringTaken() | ev.ModeChanged() | ev.Compacted() | ev.ConstraintChanged():
                self._show_change(event)
            case ev.FilesChanged():
                pass
            case _:
                assert_never(event)

    def tick(self) -> None:
        """Draw what has changed and move the spinner."""
        if self.question is None:
            self._take_later()
        stay, self._stay = self._stay, []
        self._screen.draw(stay, self._live() if self._running else [])

    def close(self) -> None:
        """Keep what is half written, take the live part away."""
        self._pending.clear()
        self._take_later()
        self._finish_words()
        self._running = False
        self.tick()

    def resumed(self) -> None:
        """Something else has written to the terminal meanwhile."""
        self._screen.forget()

    # ------------------------------------------------------------ the user's side

    def queue(self, text: str) -> None:
        """A message was sent to the run and waits to be delivered."""
        self._queued.append(text)

    def tell(self, text: str) -> None:
        """Say something of hame's own to the user."""
        lines = wrap_indented(clean(text), self._screen.columns)
        self._keep(*map(self._paint.dim, lines))

    def ask_again(self, *, whole: bool = False) -> None:
        """The pending question was not answered; with `whole` everything of it is shown."""
        if self.question is not None and whole:
            self._ask(self.question, whole=True)
        else:
            self._slip = True

    @property
    def question(self) -> Question | None:
        """What the user is being asked."""
        return self._pending.current

    # ------------------------------------------------------------ words of the model

    def _say(self, text: str) -> None:
        self._finish_thought()
        self._doing = "answering"
        for block in self._answer.feed(clean(text)):
            self._keep_block(block)

    def _think(self, text: str) -> None:
        self._doing = "thinking"
        if not self._show_thinking:
            return
        *lines, self._thought = (self._thought + clean(text)).split("\n")
        for line in lines:
            self._keep_thought(line)

    def _keep_thought(self, line: str) -> None:
        if not self._thinking and not self._gap:
            self._keep("")
        self._thinking = True
        self._keep(*self._draw_thought(line))

    def _finish_thought(self) -> None:
        if self._thought:
            self._keep_thought(self._thought)
            self._thought = ""
        if self._thinking and not self._gap:
            self._keep("")
        self._thinking = False

    def _finish_words(self) -> None:
        self._finish_thought()
        self._doing = ""
        for block in self._answer.finish():
            self._keep_block(block)

    def _keep_block(self, block: str) -> None:
        self._keep_apart(self._draw_block(block, wait=True))

    def _draw_block(self, block: str, *, wait: bool = False) -> list[str]:
        cells = self._screen.columns
        lines = self._drawing.draw(block, cells, wait=wait)
        if not any(imitates(without_escapes(line)) for line in lines):
            return lines
        mark = self._paint.dim(MARK)
        return [mark + line for line in self._drawing.draw(block, cells - len(MARK), wait=wait)]

    def _draw_thought(self, line: str) -> list[str]:
        parts = wrap(line, self._screen.columns - len(MARK))
        return [self._paint.thought(mark_imitation(part)) for part in parts]

    def _show_answer(self, event: ev.AnswerCompleted | ev.AnswerAbandoned) -> None:
        self._finish_words()
        match event:
            case ev.AnswerCompleted():
                pass
            case ev.AnswerAbandoned(failure=failure, again=again):
                then = "; asking again" if again else ""
                why = failure_line(failure).rstrip(".")
                self._remark(f"the answer broke off: {why}{then}", "warning")
            case _:
                assert_never(event)

    # ------------------------------------------------------------ calls

    def _show_call(
        self, event: ev.CallProposed | ev.CallStarted | ev.CallProgress | ev.CallSettled
    ) -> None:
        match event:
            case ev.CallProposed(tool=tool):
                self._finish_words()
                self._doing = f"preparing {one_line(tool, 40)}"
            case ev.CallStarted():
                self._finish_words()
                self._calls.start(event)
            case ev.CallProgress():
                self._calls.progress(event)
            case ev.CallSettled():
                self._keep(*self._calls.settle(event))
            case _:
                assert_never(event)

    # ------------------------------------------------------------ questions

    def _show_question(
        self, event: ev.QuestionAsked | ev.QuestionAnswered | ev.QuestionWithdrawn
    ) -> None:
        match event:
            case ev.QuestionAsked(question=question):
                self._finish_words()
                if self._pending.current is None:
                    self._ask(question)
                self._pending.add(question)
            case ev.QuestionAnswered(question=asked, answer=answer):
                said = f"  {POINTER} {describe_answer(answer)}"
                self._settle(asked, *self._paint_lines(self._paint.accent, said), "")
            case ev.QuestionWithdrawn(question=asked, reason=reason):
                said = f"  withdrawn: {one_line(reason)}"
                self._settle(asked, *self._paint_lines(self._paint.dim, said))
            case _:
                assert_never(event)

    def _settle(self, asked: str, *said: str) -> None:
        """A question is over: say how, then what had to wait, then ask the next."""
        current = self.question is not None and self.question.id == asked
        following = self._pending.settle(asked)
        if not current:
            self._keep(*said)
            return
        self._keep_now(*said)
        self._take_later()
        if following is not None:
            self._ask(following)

    def _paint_lines(self, colour: Callable[[str], str], text: str) -> list[str]:
        return [colour(part) for part in wrap(text, self._screen.columns)]

    def _ask(self, question: Question, *, whole: bool = False) -> None:
        if question.call_id:
            self._calls.seen(question.call_id)
        self._slip = False
        lines = draw_question(question, self._paint, self._screen.columns, whole=whole)
        self._keep_now(*([] if self._gap else [""]), *lines)

    # ------------------------------------------------------------ the run

    def _show_progress(
        self, event: ev.RunStarted | ev.StepStarted | ev.RunEnded | ev.WaitStarted
    ) -> None:
        match event:
            case ev.RunStarted(model=model, mode=mode, sandbox=sandbox):
                self._model, self._mode, self._sandbox = model, mode, sandbox
                self._running, self._since = True, self._clock()
                self._tokens, self._cost = 0, None
            case ev.StepStarted():
                self._wait, self._doing = None, ""
                self._drawing.load()
            case ev.WaitStarted(seconds=seconds, failure=failure, attempt=attempt):
                until = self._clock() + seconds
                self._wait = _Wait(until, failure_line(failure), attempt)
            case ev.RunEnded():
                self._end(event)
            case _:
                assert_never(event)

    def _end(self, ended: ev.RunEnded) -> None:
        self._pending.clear()
        self._take_later()
        self._finish_words()
        self._running, self._wait = False, None
        self._calls.clear()
        said, hint = ending(ended.result)
        if said:
            self._remark(said, "error" if isinstance(ended.result, RunFailed) else "warning")
        if hint:
            self.tell(f"  {hint}")
        for text in self._queued:
            self.tell(f"goes with your next message: {one_line(text)}")
        spent = wrap(spent_line(ended), self._screen.columns)
        self._keep_apart([self._paint.dim(line) for line in spent])

    def _show_change(
        self, event: ev.SteeringTaken | ev.ModeChanged | ev.Compacted | ev.ConstraintChanged
    ) -> None:
        match event:
            case ev.SteeringTaken(text=text):
                if text in self._queued:
                    self._queued.remove(text)
                self._keep(
                    *(self._paint.accent(f"{POINTER} {line}") for line in clean(text).split("\n")),
                    "",
                )
            case ev.ModeChanged(mode=mode):
                self._mode = mode
                self.tell(f"mode: {mode}")
            case ev.Compacted(tokens_before=before, tokens_after=after, summary=summary):
                self.tell(f"history shortened: {tokens(before)} → {tokens(after)} tokens")
                for line in first_lines(summary):
                    self.tell(f"  {line}")
            case ev.ConstraintChanged(text=text, added=added):
                self.tell(f"{'noted' if added else 'no longer holds'}: {one_line(text)}")
            case _:
                assert_never(event)

    def _remark(self, text: str, level: str) -> None:
        colours = {"error": self._paint.bad, "warning": self._paint.warn}
        colour = colours.get(level, self._paint.dim)
        mark = {"error": "✗ ", "warning": "! "}.get(level, "  ")
        first, *rest = wrap(clean(text), self._screen.columns - 2)
        self._keep(colour(mark + first), *(colour(f"  {line}") for line in rest))

    # ------------------------------------------------------------ drawing

    def _keep(self, *lines: str) -> None:
        if self.question is None:
            self._keep_now(*lines)
        else:
            self._later += lines

    def _take_later(self) -> None:
        later, self._later = self._later, []
        self._keep_now(*later)

    def _keep_now(self, *lines: str) -> None:
        if lines:
            self._stay += lines
            self._gap = not lines[-1]

    def _keep_apart(self, lines: Sequence[str]) -> None:
        """Keep lines with an empty one before and after them."""
        self._keep(*([] if self._gap else [""]), *lines, "")

    def _live(self) -> list[str]:
        if self.question is not None:
            lines = draw_choices(self.question, self._paint, self._screen.columns)
            slip = "that is none of the answers" if self._slip else "Ctrl-C stops the run"
            lines.append((self._paint.warn if self._slip else self._paint.dim)(f"     {slip}"))
        else:
            lines = self._live_words() + self._calls.live()
            for text in self._queued:
                lines.append(
                    self._paint.dim(cut(f"  queued: {one_line(text)}", self._screen.columns))
                )
            lines += ["", self._status()] if lines else [self._status()]
        typed = self._typed()
        if typed is not None:
            shown = cut_start(clean(typed.replace("\n", "⏎ ")), self._screen.columns - 2)
            lines.append(self._paint.accent(f"{POINTER} ") + shown)
        return lines

    def _live_words(self) -> list[str]:
        tail = self._answer.tail
        cells = self._screen.columns
        if tail.strip():
            small = len(tail) < _LARGE_BLOCK
            return self._draw_block(tail) if small else wrap(tail, cells)
        return self._draw_thought(self._thought) if self._thought else []

    def _status(self) -> str:
        now = self._clock()
        wait = self._wait
        if wait is not None and now < wait.until:
            why = f"attempt {wait.attempt} failed: {wait.why}"
            return self._status_line([f"waiting {wait.until - now:.0f} s", "Ctrl-C stops", why])
        doing = "running" if self._calls.running else self._doing or "waiting for the model"
        parts = [f"{doing} · {duration(now - self._since)}", "Ctrl-C stops", self._mode]
        parts += [self._model, f"sandbox {self._sandbox}"]
        if self._tokens:
            spent = f" · {money(self._cost)}" if self._cost is not None else ""
            parts.append(f"{tokens(self._tokens)} tokens{spent}")
        return self._status_line(parts)

    def _status_line(self, parts: Sequence[str]) -> str:
        text = one_line(" · ".join(part for part in parts if part))
        return f"{self._paint.accent(spinner(self._clock()))} {self._paint.dim(cut(text, self._screen.columns - 2))}"
