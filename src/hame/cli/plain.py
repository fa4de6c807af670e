"""A run as plain lines: for pipes, dumb terminals and screen readers. No escapes, nothing redrawn."""

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
from hame.cli.paint import Paint
from hame.cli.questions import Pending, describe_answer, draw_choices, draw_question
from hame.cli.reveal import clean, one_line
from hame.cli.words import (
    came_to,
    counted,
    duration,
    ending,
    failure_line,
    first_lines,
    spent_line,
    todo_lines,
    tokens,
)

_PLAIN = Paint(enabled=False)
_WIDE = 100_000
"""Lines are broken by whoever shows them."""
_OUTPUT_TAIL = 8


class PlainView:
    """Implements View by writing lines."""

    def __init__(
        self, out: TextIO, *, answers: bool = True, thinking: bool = False, safe: bool = True
    ) -> None:
        """With `answers` False the model's words are left out: they go elsewhere.

        `safe` makes what others wrote harmless to a terminal.
        """
        self._out, self._answers, self._thinking = out, answers, thinking
        self._safe = clean if safe else str
        self._titles: dict[str, str] = {}
        self._open = ""
        """What the unfinished line holds: `answer`, `thinking` or nothing."""
        self._pending = Pending()

    @property
    def question(self) -> Question | None:
        """What the user is being asked."""
        return self._pending.current

    def show(self, event: ev.RunEvent) -> None:
        """Write what an event has to say."""
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
                self._line(f"{level}: {text}" if level != "info" else text)
            case ev.AnswerCompleted():
                self._end_line()
            case _:
                _nothing_to_say(event)

    def tick(self) -> None:
        """Nothing here moves."""

    def close(self) -> None:
        """End the unfinished line."""
        self._end_line()

    def resumed(self) -> None:
        """Nothing was drawn that could have been overwritten."""

    def queue(self, text: str) -> None:
        """A message was sent to the run and waits to be delivered."""
        self._line(f"queued: {one_line(text)}")

    def tell(self, text: str) -> None:
        """Say something of hame's own to the user."""
        self._line(text)

    def ask_again(self, *, whole: bool = False) -> None:
        """The pending question was not answered; with `whole` everything of it is shown."""
        if self.question is not None and whole:
            self._ask(self.question, whole=True)
        elif self.question is not None:
            self._lines(["That is none of the answers.", *draw_choices(self.question, _PLAIN)])

    # ------------------------------------------------------------ kinds of events

    def _show_call(self, event: ev.CallStarted | ev.CallSettled) -> None:
        match event:
            case ev.CallStarted(call=call, title=title, tool=tool, summary=summary):
                self._titles[call] = f"{title or tool} {one_line(summary)}".strip()
            case ev.CallSettled(call=call, tool=tool, outcome=outcome, seconds=seconds):
                title = self._titles.pop(call, tool)
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
            case Done(view=CommandView(output=output)) | Failed(view=CommandView(output=output)):
                lines = output.strip("\n").split("\n") if output.strip() else []
                hidden = len(lines) - _OUTPUT_TAIL
                more = [f"    ... {counted(hidden, 'earlier line')}"] if hidden > 0 else []
                return more + [f"    {line}" for line in lines[-_OUTPUT_TAIL:]]
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
                self._ask(self._pending.settle(asked))
            case ev.QuestionWithdrawn(question=asked, reason=reason):
                self._line(f"withdrawn: {one_line(reason)}")
                self._ask(self._pending.settle(asked))
            case _:
                assert_never(event)

    def _ask(self, question: Question | None, *, whole: bool = False) -> None:
        if question is not None:
            self._lines(draw_question(question, _PLAIN, _WIDE, whole=whole))
            self._lines(draw_choices(question, _PLAIN))

    def _show_progress(
        self, event: ev.RunStarted | ev.RunEnded | ev.WaitStarted | ev.AnswerAbandoned
    ) -> None:
        match event:
            case ev.RunStarted(model=model, mode=mode, sandbox=sandbox):
                self._line(f"model {model}, mode {mode}, sandbox {sandbox}; Ctrl-C stops")
            case ev.WaitStarted(seconds=seconds, failure=failure, attempt=attempt):
                why = failure_line(failure)
                self._line(f"waiting {duration(seconds)} (attempt {attempt} failed): {why}")
            case ev.AnswerAbandoned(failure=failure, again=again):
                then = "; asking again" if again else ""
                self._line(f"the answer broke off: {failure_line(failure)}{then}")
            case ev.RunEnded(result=result):
                self._pending.clear()
                said, hint = ending(result)
                kind = "error: " if isinstance(result, RunFailed) else ""
                self._lines([f"{kind}{said}"] * bool(said) + [hint] * bool(hint))
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
        self._out.write(self._safe(text))
        self._out.flush()

    def _end_line(self) -> None:
        if self._open:
            self._open = ""
            self._out.write("\n")
            self._out.flush()

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
