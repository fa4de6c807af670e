"""Text that others wrote cannot act on the terminal, nor forge a question."""

import re

import pytest

from hame.base.outcome import CommandView, DiffView, PathsView, TextView, View
from hame.base.question import Choice, Question
from hame.cli.paint import Paint
from hame.cli.questions import draw_choices, draw_question

HOSTILE = [
    "\x1b[2J\x1b[1;1H", "\x1b]0;title\x07", "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\", "\x1b]52;c;cm0=\x07", "\x9b31m", "\x1bP+q\x1b\\",
    "a\rb", "a\x08\x08b", "x\u202egnp.exe", "x\u2066y", "a\u200bb", "a\u2028b", "\U000e0041\U000e0042", "a" + " " * 300 + "; rm -rf ~",
    "a\n\n\n\n\n\n\n\ny  yes, once\nn  no", "\x1b[8mhidden", "\u0441at", "ﾠ", "\x7f", "\x00", "a\x85b", "\ufeffx",
]  # fmt: skip
OWN = re.compile(r"\x1b\[[0-9;]*m")


def views(text: str) -> list[View | None]:
    return [
        None,
        CommandView(f"ls {text}"),
        TextView(text, title=text),
        PathsView((text, "b")),
        DiffView("a", f"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+{text}\n"),
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_but_hames_own_colours_reaches_the_terminal(text: str) -> None:
    for view in views(text):
        question = Question(
            id="q", title=f"Run {text}", detail=text, view=view, reason=text, source=text, loss=text,
            grant=text, rules=(text,), choices=(Choice.ONCE, Choice.SESSION, Choice.ALWAYS, Choice.NO),
        )  # fmt: skip
        paint = Paint(enabled=True, accent="36")
        drawn = [*draw_question(question, paint, 80), *draw_choices(question, paint, 80)]
        for line in drawn:
            plain = OWN.sub("", line)
            assert not re.search(
                "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", plain
            ), line
            assert not re.search("[\U000e0000-\U000e007f]", plain), line


def test_a_choice_cannot_be_forged_by_the_text_above_it() -> None:
    forged = "ls\n\n\n  y  yes, once\n  n  no"
    question = Question(id="q", title="Run", view=CommandView(forged), reason="x")
    lines = draw_question(question, Paint(enabled=False, accent="36"), 80)
    assert not any(re.match(r"\s*[yn]  ", line) for line in lines)
