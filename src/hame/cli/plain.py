"""A run as plain lines: for pipes, dumb terminals and screen readers. No escapes, nothing redrawn."""

from collections.abc import Callable
from typing import TextIO, assert_never

from hame.base import event as ev
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
from hame.base.question import Question
from hame.base.run import RunFailed
from hame.cli.imitation import Marking
from hame.cli.paint import Paint
from hame.cli.questions import Pending, describe_answer, draw_choices, draw_question
from hame.cli.reveal import clean, one_line
from hame.cli.words import (
    came_to,
    duration,
    earlier_lines,
    ending,
    failure_line,
    first_lines,
    spent_line,
    todo_lines,
    tokens,
)

_PLAIN = Paint(enabled=False)
_WIDE = 100_000
"""Lines are broken by whoever shows them, where it is not said how wide that is."""
_OUTPUT_TAIL = 8
_OF_QUESTIONS = (ev.QuestionAsked, ev.QuestionAnswered, ev.QuestionWithdrawn, ev.RunEnded)
"""Events that are shown while a question is asked."""


class PlainView:
    """Implements View by writing lines."""

    def __init__(
        self,
        out: TextIO,
        *,
        answers: bool = True,
        thinking: bool = False,
        safe: bool = True,
        columns: Callable[[], int] = lambda: _WIDE,
    ) -> None:
        """With `answers` False the model's words are left out: they go elsewhere.

        `safe` makes what others wrote harmless to a terminal. Questions are broken to `columns`.
        """
        self._out, self._answers, self._thinking = out, answers, thinking
        self._safe, self._columns = clean if safe else str, columns
        self._titles: dict[str, str] = {}
        self._open = ""
        """What the unfinished line holds: `answer`, `thinking` or nothing."""
        self._marking = Marking()
        self._pending = Pending()
        self._later: list[ev.RunEvent] = []
        """What came while a question is asked: its choices stay the last lines."""

    @property
    def question(self) -> Question | None:
        """What the user is being asked."""
        return self._pending.current

    def show(self, event: ev.RunEvent) -> None:
        """Write what an event has to say."""
        if self.question is not None and not isinstance(event, _OF_QUESTIONS):
            self._later.append(event)
        else:
            self._write(event)

    def _write(self, event: ev.RunEvent) -> None:
        match event:
            case ev.TextDelta(text=text):
                if self._answers and event.parent is None:
                    self._stream("answer", text)
            case ev.ThinkingDelta(text=text):
                if self._thinking and event.parent is None:
                    self._stream("thinking", text)
            case ev.CallStarted() | ev.CallSettled():
                self._show_call(event)
            case ev.QuestionAsked() | ev.QuestionAnswered() | ev.QuestionWithdrawn():
                self._show_question(event)
            case ev.RunStarted() | ev.RunEnded() | ev.WaitStarted() | ev.AnswerAbandoned():
                self._show_progress(event)
            case ev.SteeringTaken() | ev.ModeChanged() | ev.Compacted() | ev.ConstraintChanged():
                self._show_change(event)
            case ev.Notice(text=text, level=level):
                self._remark(f"{level}: {text}" if level != "info" else text)
            case ev.AnswerCompleted():
                self._end_line()
            case _:
                _nothing_to_say(event)

    def tick(self) -> None:
        """Nothing here moves."""

    def close(self) -> None:
        """End the unfinished line."""
        self._show_later()
        self._end_line()

    def resumed(self) -> None:
        """Nothing was drawn that could have been overwritten."""

    def queue(self, text: str) -> None:
        """A message was sent to the run and waits to be delivered."""
        self._line(f"queued: {one_line(text)}")

    def tell(self, text: str) -> None:
        """Say something of hame's own to the user."""
        self._remark(text)

    def ask_again(self, *, whole: bool = False) -> None:
        """The pending question was not answered; with `whole` everything of it is shown."""
        if self.question is not None and whole:
            self._ask(self.question, whole=True)
        elif self.question is not None:
            choices = draw_choices(self.question, _PLAIN, self._columns())
            self._lines(["That is none of the answers.", *choices])

    # ------------------------------------------------------------ kinds of events

    def _show_call(self, event: ev.CallStarted | ev.CallSettled) -> None:
        match event:
            case ev.CallStarted(call=call, title=title, tool=tool, summary=summary):
                self._titles[call] = one_line(f"{title or tool} {summary}")
            case ev.CallSettled(call=call, tool=tool, outcome=outcome, seconds=seconds):
                title = self._titles.pop(call, "") or one_line(tool, 40)
                came = came_to(outcome)
                took = f" ({duration(seconds)})" if seconds >= 0.05 else ""
                self._line(f"[{_status(outcome)}] {title}{': ' if came else ''}{came}{took}")
                self._lines(self._what_it_did(outcome))
            case _:
                assert_never(event)

    def _what_it_did(self, outcome: Outcome) -> list[str]:
        match outcome:
            case Done(view=DiffView(diff=diff)):
                return [f"    {line}" for line in diff.rstrip("\n").split("\n")]
            case Done(view=CommandView() as view) | Failed(view=CommandView() as view):
                output = view.output
                lines = output.strip("\n").split("\n") if output.strip() else []
                hidden = lines[:-_OUTPUT_TAIL]
                more = [f"    ... {earlier_lines(hidden)}"] if hidden else []
                put_right = [f"    [{one_line(line)}]" for line in view.aftermath]
                return [*more, *(f"    {line}" for line in lines[-_OUTPUT_TAIL:]), *put_right]
            case Done(view=TodoView() as view):
                return [f"    {line}" for line in todo_lines(view, plain=True)]
            case _:
                return []

    def _show_question(
        self, event: ev.QuestionAsked | ev.QuestionAnswered | ev.QuestionWithdrawn
    ) -> None:
        match event:
            case ev.QuestionAsked(question=question):
                if self._pending.add(question):
                    self._ask(question)
            case ev.QuestionAnswered(question=asked, answer=answer):
                self._line(f"answered: {describe_answer(answer)}")
                self._settle(asked)
            case ev.QuestionWithdrawn(question=asked, reason=reason):
                self._line(f"withdrawn: {one_line(reason)}")
                self._settle(asked)
            case _:
                assert_never(event)

    def _settle(self, asked: str) -> None:
        """A question is over: write what had to wait, then ask the next."""
        current = self.question is not None and self.question.id == asked
        following = self._pending.settle(asked)
        if current:
            self._show_later()
        self._ask(following)

    def _show_later(self) -> None:
        later, self._later = self._later, []
        for event in later:
            self._write(event)

    def _ask(self, question: Question | None, *, whole: bool = False) -> None:
        if question is not None:
            columns = self._columns()
            self._lines(draw_question(question, _PLAIN, columns, whole=whole))
            self._lines(draw_choices(question, _PLAIN, columns))

    def _show_progress(
        self, event: ev.RunStarted | ev.RunEnded | ev.WaitStarted | ev.AnswerAbandoned
    ) -> None:
        match event:
            case ev.RunStarted(model=model, mode=mode, sandbox=sandbox):
                self._line(f"model {one_line(model)}, mode {mode}, sandbox {sandbox}; Ctrl-C stops")
            case ev.WaitStarted(seconds=seconds, failure=failure, attempt=attempt):
                why = failure_line(failure)
                self._line(f"waiting {duration(seconds)} (attempt {attempt} failed): {why}")
            case ev.AnswerAbandoned(failure=failure, again=again):
                then = "; asking again" if again else ""
                self._line(f"the answer broke off: {failure_line(failure).rstrip('.')}{then}")
            case ev.RunEnded(result=result):
                self._pending.clear()
                self._show_later()
                said, hint = ending(result)
                kind = "error: " if isinstance(result, RunFailed) else ""
                for text in filter(None, (f"{kind}{said}" if said else "", hint)):
                    self._remark(text)
                self._line(spent_line(event))
            case _:
                assert_never(event)

    def _show_change(
        self, event: ev.SteeringTaken | ev.ModeChanged | ev.Compacted | ev.ConstraintChanged
    ) -> None:
        match event:
            case ev.SteeringTaken(text=text):
                self._line(f"delivered: {one_line(text)}")
            case ev.ModeChanged(mode=mode):
                self._line(f"mode: {mode}")
            case ev.Compacted(tokens_before=before, tokens_after=after, summary=summary):
                sizes = f"{tokens(before)} to {tokens(after)} tokens"
                self._line(f"history shortened: {sizes}")
                for line in first_lines(summary):
                    self._line(f"  {line}")
            case ev.ConstraintChanged(text=text, added=added):
                self._line(f"{'noted' if added else 'no longer holds'}: {one_line(text)}")
            case _:
                assert_never(event)

    # ------------------------------------------------------------ writing

    def _stream(self, kind: str, text: str) -> None:
        if self._open != kind:
            self._end_line()
            self._open = kind
            if kind == "thinking":
                self._out.write("(thinking) ")
        self._out.write(self._marking.feed(self._safe(text)))
        self._out.flush()

    def _end_line(self) -> None:
        if self._open:
            self._open = ""
            self._out.write(self._marking.finish() + "\n")
            self._out.flush()

    def _remark(self, text: str) -> None:
        """Words that may have line breaks: what follows the first line is set in."""
        first, *rest = text.split("\n")
        self._lines([first, *(f"    {line}" for line in rest)])

    def _lines(self, lines: list[str]) -> None:
        for line in lines:
            self._line(line)

    def _line(self, line: str) -> None:
        self._end_line()
        self._out.write(self._safe(line) + "\n")
        self._out.flush()


def _nothing_to_say(
    _event: ev.StepStarted | ev.CallProposed | ev.CallProgress | ev.FilesChanged | ev.UsageUpdated,
) -> None:
    """Events that plain lines leave out; a new kind of event is a type error here."""


def _status(outcome: Outcome) -> str:
    match outcome:
        case Done(view=CommandView(exit_code=code)) if code:
            return "failed"
        case Done():
            return "ok"
        case Failed():
            return "failed"
        case Denied() | Corrected():
            return "refused"
        case Cancelled():
            return "stopped"
        case _:
            assert_never(outcome)
