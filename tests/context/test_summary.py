"""What is made of a model's summary, however it is written."""

import pytest

from hame.base.entry import HistoryCompacted
from hame.base.memory import Constraint, KeptWords
from hame.base.message import Note
from hame.context.remembered import Remembered, Said, newest_within
from hame.context.summary import (
    ask_for_summary,
    read_summary,
    summary_message,
    summary_without_model,
)

BODY = "## Goal\nCount the teas in the store.\n## Next\nRead teas.py."


@pytest.mark.parametrize(
    "answer",
    [
        BODY,
        f"Here is the summary:\n\n{BODY}",
        BODY.replace("## ", "### "),
        BODY.replace("## Goal", "# **Goal**"),
        "I have read the files a.py and b.py and will go on with the next one, c.py.",
    ],
)
def test_a_summary_is_read_however_its_headings_are_written(answer: str) -> None:
    written = read_summary(answer, 500)
    assert written is not None
    assert "Here is the summary" not in written.text
    assert written.demands == ()


@pytest.mark.parametrize(
    "answer", ["", "  \n", "OK.", "## Goal\n## Next\n", "## Demands\n- a b c d"]
)
def test_what_says_nothing_is_no_summary(answer: str) -> None:
    assert read_summary(answer, 500) is None


def test_the_demands_are_taken_out_and_listed() -> None:
    demands = '## Demands\n- Never touch vendor/.\n* "Use tabs"\n1. Answer in German\n- none\n'
    written = read_summary(f"{BODY}\n{demands}## State\nHalf done.", 500)
    assert written is not None
    assert written.demands == ("Never touch vendor/.", "Use tabs", "Answer in German")
    assert "vendor" not in written.text
    assert written.text.endswith("Half done.")


def test_a_summary_that_is_too_long_is_cut_and_says_so() -> None:
    written = read_summary(f"{BODY}\n" + "- a fact that is needed\n" * 2_000, 500)
    assert written is not None
    assert len(written.text) < 2_200
    assert "were too many" in written.text


def test_without_a_model_it_says_what_the_journal_knows() -> None:
    remembered = Remembered()
    assert summary_without_model(remembered, 500)
    remembered.files = {"a.py": None, "b.py": None}
    remembered.commands = ["make (exit code 2)"]
    remembered.answer = "I am half done."
    remembered.summary = "## Goal\nEarlier."
    text = summary_without_model(remembered, 500)
    for part in ("Earlier.", "- a.py", "- make (exit code 2)", "I am half done."):
        assert part in text


def test_a_focus_and_an_earlier_summary_are_asked_for() -> None:
    remembered = Remembered()
    assert "earlier summary" not in ask_for_summary(remembered, 500, "")
    remembered.summary = "x"
    asked = ask_for_summary(remembered, 500, "the parser")
    assert "earlier summary" in asked
    assert "the parser" in asked


def test_the_model_is_shown_notes_demands_words_and_summary_in_this_order() -> None:
    entry = HistoryCompacted(
        summary=BODY,
        kept=0,
        notes=(Note("Folder /p", "environment"),),
        words=(KeptWords("Count the teas."),),
        words_left_out=2,
        constraints=(Constraint(id="c1", text="Use tabs."),),
    )
    texts = [block.text for block in summary_message(entry).content if isinstance(block, Note)]
    assert [text.split("\n")[0][:20] for text in texts] == [
        "Folder /p",
        "Standing demands of ",
        "What the user said s",
        "The earlier part of ",
    ]
    assert "2 older ones are left out" in texts[2]


def said(*texts: str) -> list[Said]:
    return [Said(place, KeptWords(text)) for place, text in enumerate(texts)]


def test_the_newest_words_are_kept_in_their_order() -> None:
    kept, left_out = newest_within(said("a" * 500, "b" * 500, "c" * 500), 1_100)
    assert [words.text[0] for words in kept] == ["b", "c"]
    assert left_out == 1


def test_the_last_words_are_kept_even_where_they_alone_are_too_long() -> None:
    kept, left_out = newest_within(said("a", "b" * 5_000), 1_000)
    assert len(kept) == 1
    assert len(kept[0].text) < 1_100
    assert kept[0].cut > 3_900
    assert left_out == 1


def test_nothing_said_is_nothing_kept() -> None:
    assert newest_within([], 100) == ([], 0)
