"""What the model is told of an outcome."""

import pytest

from hame.base.message import Image, Text
from hame.base.outcome import (
    Cancelled,
    Corrected,
    Denied,
    Done,
    Failed,
    Outcome,
    TextView,
    result_content,
)


def test_what_was_done_is_told_as_the_tool_says_it_pictures_included() -> None:
    content = (Text("a"), Image("image/png", b"x"))
    assert result_content(Done(content, TextView("for eyes"), ("a.py",))) == (content, False)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Failed("No such file.", TextView("for eyes")), "No such file."),
        (Denied("outside the project"), "This call was not allowed: outside the project"),
        (Denied(""), "This call was not allowed."),
        (Denied("not now", by_user=True), "The user refused this call: not now"),
        (Denied("", by_user=True), "The user refused this call."),
        (Denied("nobody to ask", unanswered=True), "This call was not allowed: nobody to ask"),
        (Corrected("use tabs"), "The user refused this call and said: use tabs"),
        (Cancelled(), "Not finished: stopped by the user."),
        (
            Cancelled("the run ended", "line 1\n"),
            "Not finished: the run ended.\nOutput until then:\nline 1\n",
        ),
    ],
)
def test_everything_else_is_an_error_in_words(outcome: Outcome, words: str) -> None:
    assert result_content(outcome) == ((Text(words),), True)
