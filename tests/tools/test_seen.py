"""What the model has seen is kept within bounds."""

from hame.tools import seen
from hame.tools.seen import SeenTexts


def test_the_oldest_texts_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(seen, "_BUDGET", 10)
    texts = SeenTexts()
    texts.remember("a", "aaaa")
    texts.remember("b", "bbbb")
    texts.remember("b", "bbbb")
    texts.remember("c", "cccc")
    assert (texts.recall("a"), texts.recall("b"), texts.recall("c")) == (None, "bbbb", "cccc")
    texts.remember("d", "d" * 11)
    texts.remember(None, "x")
    assert texts.recall("d") is None
    assert texts.recall("c") == "cccc"


async def test_without_the_old_text_a_change_is_told_but_not_shown(desk, monkeypatch):
    monkeypatch.setattr(seen, "_BUDGET", 1)
    desk.write("a.txt", "one\n")
    await desk.done("read_file", path="a.txt")
    desk.write("a.txt", "two\n")
    text = await desk.failed("edit_file", path="a.txt", old_string="two", new_string="3")
    assert text == "a.txt changed on disk since it was read; read it again first."


async def test_a_large_change_is_shown_in_part(desk):
    desk.write("a.txt", "one\n" * 1_000)
    await desk.done("read_file", path="a.txt")
    desk.write("a.txt", "".join(f"{n}\n" for n in range(3_000)))
    text = await desk.failed("edit_file", path="a.txt", old_string="2999", new_string="3")
    assert text.endswith("[the rest of the difference is left out]")
    assert len(text) < 4_300
