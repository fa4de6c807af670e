"""What is too large for the history is kept whole beside it, when it comes."""

from hypothesis import given
from hypothesis import strategies as st

from hame.base.message import Image, Note, Text, User
from hame.base.outcome import CommandView, Denied, DiffView, Done, Failed, TextView, text_content
from hame.context.cut import cut_middle
from hame.context.spill import VIEW_BYTES, spill_message, spill_outcome, spill_text
from hame.context.tokens import message_tokens, text_size, text_tokens


class Shelf:
    """Implements what is needed of Blobs."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def begin(self) -> None:
        return None

    def put(self, text: str) -> str | None:
        self.texts.append(text)
        return f"r{len(self.texts)}"

    def path(self, blob: str) -> str | None:
        return None


LINES = "".join(f"line {number}\n" for number in range(20_000))


def text_of(outcome: object) -> str:
    assert isinstance(outcome, Done)
    block = outcome.content[0]
    assert isinstance(block, Text)
    return block.text


def test_a_result_that_fits_stays_the_same_object() -> None:
    outcome = Done(text_content("ok"), view=TextView("ok"))
    assert spill_outcome(outcome, 32_000, 1, None) is outcome


def test_a_large_result_keeps_its_ends_and_names_the_whole() -> None:
    shelf = Shelf()
    text = text_of(spill_outcome(Done(text_content(LINES)), 32_000, 1, shelf))
    assert shelf.texts == [LINES]
    assert len(text) < 12_000
    assert text.startswith("line 0\n")
    assert text.endswith("line 19999\n")
    assert "result:r1, which read_file and search_text take" in text
    assert all(line.startswith(("line ", "[")) for line in text.splitlines())


def test_many_results_of_one_answer_share_a_part_of_the_window() -> None:
    alone = text_of(spill_outcome(Done(text_content(LINES)), 32_000, 1, None))
    among_ten = text_of(spill_outcome(Done(text_content(LINES)), 32_000, 10, None))
    assert len(among_ten) * 10 < 32_000 * 3.6 * 0.3
    assert len(among_ten) < len(alone)


def test_a_text_in_another_script_is_bounded_by_the_room_it_takes() -> None:
    lines = "".join(f"第{number}行的内容在这里\n" for number in range(20_000))
    window, most = 32_000, 32_000 * 0.1 + 100
    assert text_tokens(text_of(spill_outcome(Done(text_content(lines)), window, 1, None))) < most
    emoji = "👩‍👩‍👧" * 20_000
    assert text_tokens(text_of(spill_outcome(Done(text_content(emoji)), window, 1, None))) < most
    said = spill_message(User((Text(lines), Note(emoji, "attached"))), window, None)
    assert message_tokens(said) < window * 0.45


def test_the_texts_of_one_result_share_its_part_of_the_window() -> None:
    outcome = Done((Text("a\n" * 50), *(Text(LINES) for _ in range(40))))
    spilled = spill_outcome(outcome, 32_000, 1, None)
    assert isinstance(spilled, Done)
    texts = [block.text for block in spilled.content if isinstance(block, Text)]
    assert texts[0] == "a\n" * 50
    assert sum(map(text_tokens, texts)) < 32_000 * 0.3


def test_a_failure_is_bounded_too_and_refusals_stay() -> None:
    failed = spill_outcome(Failed(LINES), 32_000, 1, Shelf())
    assert isinstance(failed, Failed)
    assert len(failed.message) < 12_000
    denied = Denied("no")
    assert spill_outcome(denied, 32_000, 1, None) is denied


def test_what_eyes_are_shown_is_bounded() -> None:
    for view in (TextView(LINES), DiffView("a", LINES), CommandView("c", LINES)):
        outcome = spill_outcome(Done(text_content("ok"), view=view), 32_000, 1, None)
        assert isinstance(outcome, Done)
        shown = outcome.view
        words = getattr(shown, "text", None) or getattr(shown, "diff", None)
        words = words or getattr(shown, "output", "")
        assert VIEW_BYTES * 0.5 < len(words) <= VIEW_BYTES + 100


def test_pictures_pass() -> None:
    picture = Image("image/png", b"x" * 100_000)
    outcome = spill_outcome(Done((Text(LINES), picture)), 32_000, 1, None)
    assert isinstance(outcome, Done)
    assert outcome.content[1] is picture


def test_where_nothing_can_be_kept_that_is_said() -> None:
    assert "could not be kept" in spill_text(LINES, 1_000, None)


def test_a_message_that_fits_stays_the_same_object() -> None:
    message = User((Text("go"), Note("n")))
    assert spill_message(message, 32_000, None) is message


def test_of_a_message_the_largest_texts_are_cut_and_short_words_stay() -> None:
    shelf = Shelf()
    message = User((Text("Look at these."), Note(LINES, "a.log"), Note(LINES, "b.log")))
    fitted = spill_message(message, 32_000, shelf)
    assert fitted.words == "Look at these."
    sizes = [len(b.text) for b in fitted.content if isinstance(b, Note)]
    assert sum(sizes) < 32_000 * 0.4 * 3.7
    assert shelf.texts == [LINES, LINES]


@given(st.text(max_size=3_000), st.integers(10, 2_000))
def test_a_cut_text_is_its_beginning_a_mark_and_its_end(text: str, size: int) -> None:
    cut = cut_middle(text, size, lambda left: f"<{left}>")
    if text_size(text) <= size:
        assert cut == text
        return
    head, rest = cut.split("\n<", 1) if "\n<" in cut else ("", cut)
    assert text.startswith(head)
    tail = rest.split(">\n", 1)[1]
    assert text.endswith(tail.split(">\n")[-1])
    assert text_size(cut) <= size + 20
