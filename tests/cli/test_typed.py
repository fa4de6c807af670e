from hypothesis import given
from hypothesis import strategies as st

from hame.cli.typed import Closed, LineEditor, Sent


def feed(data, editor=None):
    editor = editor or LineEditor()
    return editor, editor.feed(data if isinstance(data, bytes) else data.encode())


def test_a_line_is_sent_with_enter():
    editor, events = feed("hello\r")
    assert events == [Sent("hello")]
    assert editor.text == ""


def test_keys_erase_a_character_a_word_or_the_line():
    assert feed("abc\x7f")[0].text == "ab"
    assert feed("one two \x17")[0].text == "one "
    assert feed("one two\x15")[0].text == ""


def test_alt_enter_and_a_backslash_before_enter_begin_a_new_line():
    _, events = feed("a\x1b\rb\\\rc\r")
    assert events == [Sent("a\nb\nc")]
    assert feed("a\\\\\r")[1] == [Sent("a\\\\")], "two of them are meant as they are"


def test_pasted_lines_stay_together_until_enter():
    editor, events = feed("see: \x1b[200~a\r\nb\rc\n\x1b[201~")
    assert events == []
    assert editor.text == "see: a\nb\nc\n"
    assert editor.feed(b"\r") == [Sent("see: a\nb\nc\n")]


def test_arrow_and_function_keys_leave_no_rubbish():
    assert feed("a\x1b[A\x1b[1;5D\x1bOP\x1bxb")[0].text == "ab"


def test_ctrl_d_closes_only_an_empty_line():
    assert feed("\x04")[1] == [Closed()]
    assert feed("a\x04")[1] == []


def test_other_control_characters_do_nothing():
    editor, events = feed("a\x00\x01\x07b\t")
    assert (editor.text, events) == ("ab ", [])


def test_korean_and_emoji_come_through_byte_by_byte():
    editor = LineEditor()
    for byte in "테스트 🙂".encode():
        editor.feed(bytes([byte]))
    assert editor.text == "테스트 🙂"


TEXT = st.text(alphabet=st.characters(categories=["L", "N", "P"]), max_size=20)


@given(TEXT, TEXT, st.integers(1, 5))
def test_however_the_bytes_arrive_the_lines_are_the_same(typed, pasted, step):
    data = f"{typed}\x1b[200~{pasted}\n{pasted}\x1b[201~\x1b[D\r".encode()
    editor = LineEditor()
    events = []
    for start in range(0, len(data), step):
        events += editor.feed(data[start : start + step])
    assert events == [Sent(f"{typed}{pasted}\n{pasted}")]
