"""The present turn, out of a history."""

from hame.base.message import (
    Assistant,
    Message,
    Note,
    Text,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
)
from hame.local.turn import plain, present_turn


def called(name: str, **arguments: object) -> tuple[Assistant, ToolCall]:
    call = ToolCall(f"id-{name}", name, dict(arguments))
    return Assistant((call,)), call


def result(call: ToolCall, text: str, *, is_error: bool = False) -> ToolResults:
    return ToolResults((ToolResult(call.id, call.name, (Text(text),), is_error),))


def test_the_turn_begins_with_the_last_words_of_the_user() -> None:
    before, old = called("read_file", path="a.txt")
    now, new = called("list_dir", path="src")
    history: tuple[Message, ...] = (
        User((Text("read a.txt"),)),
        before,
        result(old, "1\tx"),
        Assistant((Text("x"),)),
        User((Text(" list src "), Note("Mode ask", "mode"))),
        now,
        result(new, "app.py"),
        User((Note("You have repeated yourself", "nudge"),)),
    )
    turn = present_turn(history)
    assert turn.words == "list src"
    assert [(step.tool, step.arguments, step.result) for step in turn.steps] == [
        ("list_dir", {"path": "src"}, "app.py")
    ]
    assert turn.did("list_dir", {"path": "src"})
    assert not turn.did("read_file", {"path": "a.txt"})


def test_a_steering_message_begins_a_turn_of_its_own() -> None:
    asked, call = called("list_dir", path=".")
    turn = present_turn((
        User((Text("list everything"),)),
        asked,
        result(call, "a.txt"),
        User((Text("no, read a.txt"),)),
    ))
    assert turn.words == "no, read a.txt"
    assert turn.steps == ()


def test_notes_alone_are_no_words_of_the_user() -> None:
    assert present_turn((User((Note("rules", "AGENTS.md"),)),)).words == ""
    assert present_turn(()).words == ""


def test_a_failed_call_is_not_seen_and_a_failing_program_ran() -> None:
    refused, one = called("read_file", path="b.txt")
    ran, two = called("run_command", command="make test")
    turn = present_turn((
        User((Text("test"),)),
        refused,
        result(one, "no such file: b.txt", is_error=True),
        ran,
        result(two, "exit code 1\n1 failed", is_error=True),
    ))
    assert turn.seen == ""
    assert [(step.failed, step.ran) for step in turn.steps] == [(True, False), (True, True)]
    assert turn.steps[1].result == "exit code 1\n1 failed"


def test_a_program_that_went_well_is_told_without_its_exit_code() -> None:
    asked, call = called("run_command", command="make test")
    turn = present_turn((User((Text("test"),)), asked, result(call, "exit code 0\n3 passed")))
    assert turn.last is not None
    assert turn.last.result == "3 passed"


def test_line_numbers_and_notes_are_taken_off() -> None:
    assert plain("1\tfirst\n2\t\n3\t\tthird") == "first\n\n\tthird"
    assert plain("41\ta\n42\tb\n[lines 41-42 of 90]") == "a\nb"
    assert plain("a.py:1: x\n[2 of 9 lines; narrow it]") == "a.py:1: x"


def test_a_text_that_only_looks_numbered_stays_as_it_is() -> None:
    for text in ("1\tone\n1\tone again", "3\tthree\nfour", "[just this]", ""):
        assert plain(text) == text
