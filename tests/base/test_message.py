"""What messages say of themselves."""

from hame.base.message import Assistant, Image, Note, Text, Thinking, ToolCall, User


def test_the_words_of_a_user_are_what_the_user_said_without_hame_s_notes() -> None:
    message = User((Note("It is Monday."), Text("Do it."), Image("image/png", b""), Text("Now.")))
    assert message.words == "Do it.\nNow."


def test_an_answer_tells_its_text_its_thinking_and_its_calls_apart() -> None:
    call, other = ToolCall("1", "a", {}), ToolCall("2", "b", None, "{")
    answer = Assistant((Thinking("h"), Text("x"), call, Thinking("m"), Text("y"), other))
    assert (answer.text, answer.thinking, answer.calls) == ("xy", "hm", (call, other))
