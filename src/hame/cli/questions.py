"""Questions to the user: what is shown, and what a typed line means as an answer."""

from collections.abc import Callable

from hame.base.outcome import CommandView, DiffView, PathsView, TextView, View
from hame.base.question import Answer, Choice, Question
from hame.cli.cells import wrap
from hame.cli.diff import draw_diff
from hame.cli.paint import Paint
from hame.cli.reveal import one_line, reveal

_LONG = 200
"""Lines of a detail or diff that are shown at once; the rest is announced and one key away."""

_LONG_CHOICE = 320
"""Cells of one choice that are shown at once, likewise."""

_LETTERS: dict[str, str] = {
    Choice.ONCE: "y",
    Choice.SESSION: "s",
    Choice.ALWAYS: "a",
    Choice.OUTSIDE: "o",
    Choice.NO: "n",
}
_LABELS: dict[str, str] = {
    Choice.ONCE: "yes, once",
    Choice.SESSION: "yes, for this session",
    Choice.ALWAYS: "yes, always",
    Choice.OUTSIDE: "yes, this once outside the sandbox: it can do whatever you can",
    Choice.NO: "no",
}
_SYNONYMS: dict[str, str] = {"yes": Choice.ONCE, "ok": Choice.ONCE, "no": Choice.NO}


class Pending:
    """Questions that wait, the one that is shown first; reads that run together may all ask."""

    def __init__(self) -> None:
        """Start with none."""
        self._waiting: list[Question] = []

    @property
    def current(self) -> Question | None:
        """The question that is shown."""
        return self._waiting[0] if self._waiting else None

    def add(self, question: Question) -> bool:
        """A question is asked; True when it is to be shown now."""
        self._waiting.append(question)
        return len(self._waiting) == 1

    def settle(self, question_id: str) -> Question | None:
        """A question is over; the one that is to be shown now."""
        before = self.current
        self._waiting = [question for question in self._waiting if question.id != question_id]
        return self.current if self.current is not before else None

    def clear(self) -> None:
        """No question waits any more."""
        self._waiting.clear()


def draw_question(
    question: Question, paint: Paint, cells: int, *, whole: bool = False
) -> list[str]:
    """All that the user must see to decide; nothing in it is hidden or silently cut."""
    inner = max(cells - 4, 4)
    title = [paint.bold(part) for part in wrap(_flat(_short_title(question)), inner)]
    lines = [paint.warn("? ") + title[0], *(paint.warn("  │ ") + part for part in title[1:])]
    body = [paint.code("1;36", part) for part in _detail(question, inner)]
    body += _draw_view(question.view, question.detail, paint, inner)
    if len(body) > _LONG and not whole:
        left = len(body) - _LONG
        body = [*body[:_LONG], paint.warn(f"{left} more lines are not shown: v shows everything")]
    lines += [paint.warn("  │ ") + line for line in body]
    for covered in (question.grant, *question.rules) if whole else ():
        said = (
            f"a yes that lasts would cover: {_flat(covered)}"  # No shorter than where it was cut.
        )
        parts = wrap(said, max(cells - 9, 4))
        lines += _hang(parts, paint.warn) if _shortened(parts, max(cells - 9, 4)) != parts else []
    if question.source:
        source = f"from {_spoken(question.source, 100)}, not a tool of hame's own"
        lines += _hang(wrap(source, inner), paint.warn)
    if question.loss:
        lines += _hang(wrap(_spoken(question.loss), inner), paint.warn)
    if question.extent:
        lines += _hang(wrap(_spoken(question.extent), inner), paint.dim)
    why = question.extent.partition(": ")[2]
    if question.reason and not (why and question.reason.endswith(f": {why}")):
        lines += _hang(wrap(_spoken(question.reason), inner), paint.dim)
    return lines


def draw_choices(question: Question, paint: Paint, cells: int) -> list[str]:
    """The answers that may be given; one a line, and what goes on below it stands further right.

    A line is at most `cells` wide: where the terminal broke it, its rest could pass for a choice.
    """
    lines: list[str] = []
    inner = max(cells - 9, 4)
    for key, choice in _keys(question).items():
        label = _LABELS.get(choice, _spoken(choice, 300))
        covers = f": {_flat(question.grant)}" if _lasts(choice) and question.grant else ""
        first, *rest = _shortened(wrap(label + covers, inner), inner)
        lines += [f"  {paint.accent(key)}  {first}", *(f"       │ {part}" for part in rest)]
        if choice == Choice.ALWAYS:
            for rule in question.rules:
                first, *rest = _shortened(wrap(f"rule: {_flat(rule)}", inner), inner)
                lines += map(paint.dim, [f"       {first}", *(f"       │ {part}" for part in rest)])
    if question.free_text:
        other = (
            "or say what to do instead" if Choice.NO in question.choices else "or answer in words"
        )
        lines.append(paint.dim(f"     {other}"))
    return lines


def _shortened(parts: list[str], cells: int) -> list[str]:
    """So much of a choice that the other choices stay on the screen beside it."""
    most = max(_LONG_CHOICE // cells, 4)
    left = len(parts) - most
    if left <= 1:
        return parts
    return [*parts[:most], *wrap(f"… {left} more lines are not shown: v shows everything", cells)]


def read_answer(question: Question, line: str) -> Answer | None:
    """What a typed line means; None when it means nothing and must be asked again.

    A single letter that is no choice is taken for a slip, not for words to the model.
    """
    typed = line.strip()
    folded = typed.casefold()
    for key, choice in _keys(question).items():
        if folded in {key, choice.casefold()}:
            return Answer(choice=choice)
    synonym = _SYNONYMS.get(folded)
    if synonym in question.choices:
        return Answer(choice=synonym)
    if len(typed) < 2 or not question.free_text:
        return None
    return Answer(words=line.strip())


def decline(question: Question) -> Answer:
    """The answer of a user who closes the question."""
    return Answer(choice=Choice.NO) if Choice.NO in question.choices else Answer()


def describe_answer(answer: Answer) -> str:
    """An answer in words, for the transcript."""
    if answer.words:
        return one_line(answer.words)
    return _LABELS.get(answer.choice, _spoken(answer.choice, 300))


def _keys(question: Question) -> dict[str, str]:
    if all(choice in _LETTERS for choice in question.choices):
        return {_LETTERS[choice]: choice for choice in question.choices}
    return {str(number): choice for number, choice in enumerate(question.choices, 1)}


def _lasts(choice: str) -> bool:
    return choice in {Choice.SESSION, Choice.ALWAYS}


def _short_title(question: Question) -> str:
    """The title without the command, which is shown whole below it."""
    view = question.view
    whole = view.command if isinstance(view, CommandView) else question.detail
    short = question.title.removesuffix(" ".join(whole.split())).rstrip(" :")
    return short or question.title


def _detail(question: Question, cells: int) -> list[str]:
    return _mark_lines(question.detail, cells) if question.detail else []


def _mark_lines(text: str, cells: int) -> list[str]:
    """Lines as they will run: a real line break is told from one that only the screen makes."""
    return wrap(reveal(text).replace("\n", "⏎\n"), cells)


def _hang(parts: list[str], paint: Callable[[str], str]) -> list[str]:
    """Lines of which all but the first are marked: none of them can pass for a choice."""
    return [f"  {paint(f'│ {part}' if index else part)}" for index, part in enumerate(parts)]


def _spoken(text: str, limit: int = 400) -> str:
    """Words that others provide: on one line, capped, look-alikes shown."""
    return reveal(one_line(text, limit))


def _flat(text: str) -> str:
    """Text on one line, every line break shown: it must not look like a line of hame's own."""
    return reveal(text).replace("\n", "⏎")


def _draw_view(view: View | None, detail: str, paint: Paint, cells: int) -> list[str]:
    match view:
        case DiffView():
            return draw_diff(view, paint, cells, reveal)
        case CommandView(command=command) if command != detail:
            return [paint.code("1;36", part) for part in _mark_lines(command, cells)]
        case TextView(text=text) if text != detail:
            return wrap(reveal(text), cells)
        case PathsView(paths=paths):
            return [part for path in paths for part in wrap(reveal(path), cells)]
        case _:
            return []
