"""The line conversation in a real terminal."""

import re
import signal
import time

import pytest

READY = r"^\u276f\s*$"
CTRL_C, CTRL_D, CTRL_Z = "\x03", "\x04", "\x1a"


def test_it_greets_answers_and_leaves(terminal):
    hame = terminal()
    text = hame.wait_for(READY)
    assert re.match(r"hame \d+\.\d+\.\d+ · ", text)
    assert "ask · /help lists commands · Ctrl-D leaves" in text
    hame.send("echo hello\r")
    hame.wait_for(r"^You said: echo hello$")
    text = hame.wait_for(r"^2 steps · .* · 12\.4k in \(11\.0k cached\), 300 out · \$0\.0123$")
    hame.wait_for(READY)
    hame.send(CTRL_D)
    assert hame.ended() == 0


def test_a_prompt_on_the_command_line_begins_the_conversation(terminal):
    hame = terminal("echo", "at", "once")
    hame.wait_for(r"^You said: echo at once$")
    hame.wait_for(READY)
    hame.send("/quit\r")
    assert hame.ended() == 0


def test_an_answer_is_drawn_as_markdown_and_calls_as_rows(terminal):
    hame = terminal("tour", rows=24)
    text = hame.wait_for(r"^2 steps")
    assert "Let me look at the file first." in text
    assert "✓ Read  src/dates.py  120 lines" in text
    assert "✗ Run  pytest -q  exit code 1  3.2 s" in text
    assert "  │  11 +     # always UTC" in text
    assert " 1. src/dates.py builds a naive datetime" in text
    assert "```" not in text
    assert "**dates**" not in text
    assert "Ctrl-C stops" not in text, "the live part is gone"


def test_a_question_is_answered_by_a_line(terminal):
    hame = terminal("question")
    text = hame.wait_for("y  yes, once")
    assert r"⟨300 spaces⟩; rm -rf ~\u{202e}\u{200b}" in text
    assert "s  yes, for this session: run_command: rm -rf in this project" in text
    hame.send("q\r")
    hame.wait_for("that is none of the answers")
    hame.send("use make clean\r")
    hame.wait_for("refused, you said: use make clean")
    hame.wait_for(r"^\? Edit src/dates.py")
    hame.send("y\r")
    text = hame.wait_for(r"^✓ Edit  src/dates.py  \+3 -2$")
    hame.wait_for(READY)
    assert "y  yes, once" not in hame.text, "the choices are gone once one was taken"
    assert hame.text.count("11 +     # always UTC") == 1


def test_a_command_typed_at_a_question_waits_for_the_end_of_the_run_and_is_no_answer(terminal):
    hame = terminal("question")
    hame.wait_for("y  yes, once")
    hame.send("/cost\r")
    hame.wait_for("that is none of the answers")
    hame.send("/frob\r")
    hame.send("n\r")
    hame.wait_for(r"^\? Edit src/dates.py")
    hame.send("y\r")
    text = hame.wait_for("nothing was used in this session yet")
    assert "refused by you" in text
    assert "you said" not in text
    assert "there is no command /frob" in text


def test_closing_a_question_says_no(terminal):
    hame = terminal("question")
    hame.wait_for("y  yes, once")
    hame.send(CTRL_D)
    hame.wait_for("refused by you")


def test_ctrl_c_at_a_question_stops_the_run_and_comes_back_to_the_prompt(terminal):
    hame = terminal("question")
    hame.wait_for("y  yes, once")
    hame.send(CTRL_C)
    hame.wait_for("stopped by the user")
    hame.wait_for(READY)
    hame.send("echo still here\r")
    hame.wait_for(r"^You said: echo still here$")


def test_what_was_being_typed_when_a_question_came_is_no_answer(terminal):
    hame = terminal("slowquestion")
    hame.wait_for("waiting for the model")
    hame.send("y")
    hame.wait_for(r"^\u276f y$")
    hame.wait_for("y  yes, once")
    hame.send("n\r")
    hame.wait_for(r"^\? Edit")
    hame.send("n\r")
    hame.wait_for(r"^\u276f y$")


def leave(hame):
    """Press Ctrl-C until it is heard: the line on the screen may still be the run's."""
    for _ in range(20):
        hame.send(CTRL_C)
        try:
            hame.wait_for("Ctrl-C again leaves", seconds=1)
        except AssertionError:
            continue
        return
    raise AssertionError(f"Ctrl-C is not heard:\n{hame.text}")


def test_ctrl_c_stops_the_run_and_keeps_what_was_typed(terminal):
    hame = terminal("slow")
    hame.wait_for("Run  sleep 60")
    hame.send("half typed")
    hame.wait_for(r"^\u276f half typed$")
    hame.send(CTRL_C)
    text = hame.wait_for(r"■ Run  sleep 60  stopped by the user")
    assert "This paragraph is not fini" in text
    hame.wait_for(r"(?s)\$0\.0123.*^\u276f half typed$")
    leave(hame)
    hame.send(CTRL_C)
    assert hame.ended() == 0


def test_ctrl_c_is_heard_also_where_hame_was_started_with_it_ignored(terminal):
    import signal

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        hame = terminal("slow")
    finally:
        signal.signal(signal.SIGINT, before)
    hame.wait_for("Run  sleep 60")
    hame.send(CTRL_C)
    hame.wait_for(r"■ Run  sleep 60  stopped by the user")
    leave(hame)
    hame.send(CTRL_C)
    assert hame.ended() == 0


def test_a_second_ctrl_c_leaves_at_once_with_the_terminal_as_it_was(terminal):
    import termios

    hame = terminal("deaf")
    hame.wait_for("waiting for the model")
    before = time.monotonic()
    hame.send(CTRL_C)
    hame.wait_for("it is slow to stop")
    hame.send(CTRL_C)
    hame.child.expect(r"\x1b\[\?2004l")
    assert termios.tcgetattr(hame.child.child_fd)[3] & termios.ECHO
    assert hame.ended() == 130
    assert time.monotonic() - before < 6


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_told_to_end_it_stops_the_run_and_leaves(terminal, number, code):
    import os

    hame = terminal("slow")
    hame.wait_for("Run  sleep 60")
    os.kill(hame.child.pid, number)
    hame.wait_for("■ Run  sleep 60")
    assert hame.ended() == code


def test_a_second_ctrl_c_on_a_run_that_ends_in_time_says_nothing_more(terminal):
    hame = terminal("sluggish")
    hame.wait_for("waiting for the model")
    hame.send(CTRL_C)
    hame.wait_for("it is slow to stop")
    hame.send(CTRL_C)
    assert hame.ended() == 130
    assert "failed" not in hame.text


def test_ctrl_c_stops_a_command_and_the_conversation_goes_on(terminal):
    hame = terminal()
    hame.wait_for(READY)
    hame.send("/model silent/m\r")
    hame.wait_for("opening it")
    hame.send(CTRL_C)
    hame.wait_for("^stopped$")
    hame.send("echo still here\r")
    hame.wait_for(r"^You said: echo still here$")


def test_a_message_sent_during_a_run_is_queued_and_delivered(terminal):
    hame = terminal("slow")
    hame.wait_for("Run  sleep 60")
    hame.send("also the docs\r")
    hame.wait_for(r"^\u276f also the docs$")
    hame.send("/mode auto\r")
    hame.wait_for("mode: auto")
    hame.send("/frob\r")
    hame.wait_for("there is no command /frob")
    hame.send("/model other/m\r")
    hame.wait_for("after this run: /model other/m")
    hame.send(CTRL_C)
    hame.wait_for("model: other/m")


def test_pasted_lines_are_one_prompt(terminal):
    hame = terminal()
    hame.wait_for(READY)
    hame.send("\x1b[200~echo 테스트\nsecond\nthird\x1b[201~")
    hame.wait_for("third")
    hame.send("\r")
    text = hame.wait_for(r"^2 steps")
    assert "You said: echo 테스트" in text
    assert "third" in text
    assert text.count("You said") == 1


def test_slash_commands_talk_to_the_session(terminal):
    hame = terminal()
    hame.wait_for(READY)
    for line, said in (
        ("/help", r"^/model \[NAME"),
        ("/model", "model: chosen at the first prompt"),
        ("/model mock/small", "model: mock/small"),
        ("/model nothing", "no model's name holds nothing"),
        ("/mode", "mode: ask"),
        ("/mode plan", "mode: plan"),
        ("/mode yolo", "there is no mode yolo"),
        ("/clear", "new session s2"),
        ("/sessions", "there are no sessions of this folder yet"),
        ("/resume abc", "session abc"),
        ("/resume", "there is no other session"),
        ("/nothing", "there is no command /nothing"),
    ):
        hame.send(f"{line}\r")
        hame.wait_for(said)


def test_a_model_that_cannot_be_asked_is_said_and_the_prompt_comes_back(terminal):
    hame = terminal("nomodel")
    hame.wait_for("✗ no model is configured")
    hame.wait_for("Set a key")
    hame.wait_for(READY)
    hame.send("wrongkey\r")
    hame.wait_for("Set MOCK_API_KEY to a key from")


def test_a_wait_is_counted_down(terminal):
    hame = terminal("wait", pace=0.05)
    hame.wait_for(r"waiting 3 s · Ctrl-C stops · attempt 1 failed: Mock: too many")
    hame.wait_for(r"waiting [12] s")
    hame.wait_for(r"^After the wait\.$")


def test_lines_typed_before_are_remembered_privately(terminal, home):
    hame = terminal()
    hame.wait_for(READY)
    hame.send("echo one\r")
    hame.wait_for("You said: echo one")
    hame.wait_for(READY)
    hame.send(CTRL_D)
    hame.ended()
    history = home / ".local" / "state" / "hame" / "history"
    assert history.read_text() == '"echo one"\n'
    assert history.stat().st_mode & 0o077 == 0
    again = terminal()
    again.wait_for(READY)
    again.send("\x1b[A")
    again.wait_for(r"^\u276f echo one$")


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colours_there_is_no_escape_and_nothing_is_redrawn(terminal, more):
    hame = terminal("question", **more)
    hame.wait_for("y  yes, once")
    hame.send("no\n")
    hame.wait_for(r"\[refused\] Run cd build")
    hame.send("y\n")
    hame.wait_for(r"\[ok\] Edit src/dates.py: \+3 -2")
    hame.wait_for(r"^2 steps")
    shown = hame.raw.replace(b"\x1b[?2004h", b"").replace(b"\x1b[?2004l", b"")
    assert b"\x1b" not in shown, "only readline's own paste mode"


def test_stopped_with_ctrl_z_it_gives_the_terminal_back_and_goes_on_after(shell):
    hame = shell("slow")
    hame.wait_for("Run  sleep 60")
    hame.send(CTRL_Z)
    hame.wait_for("Stopped")
    hame.send("stty -a\r")
    hame.wait_for(r" icanon .* echo ")
    hame.send("fg\r")
    hame.wait_for("fg\n(.*\n)*.*Ctrl-C stops")
    hame.send("docs\r")
    hame.wait_for(r"^\u276f docs$")
    hame.send(CTRL_C)
    hame.wait_for("stopped by the user")


def test_a_line_that_is_being_typed_is_there_again_after_ctrl_z(shell):
    hame = shell()
    hame.wait_for(READY)
    hame.send("echo this")
    hame.wait_for("echo this$")
    hame.send(CTRL_Z)
    hame.wait_for("Stopped")
    hame.send("fg\r")
    hame.wait_for(r"fg\n(.*\n)*\u276f echo this$")
    hame.send(" too\r")
    text = hame.wait_for("You said: echo this too")
    assert text.count("this too") == 2, "typed once, said once"


def test_ctrl_z_does_nothing_where_no_shell_could_bring_it_back(terminal):
    hame = terminal("slow")
    hame.wait_for("Run  sleep 60")
    hame.send(CTRL_Z)
    hame.send("docs\r")
    hame.wait_for(r"^\u276f docs$")


def test_alt_enter_or_a_backslash_begins_a_new_line(terminal):
    hame = terminal()
    hame.wait_for(READY)
    hame.send("echo one\x1b\rtwo\\\r")
    hame.wait_for("two")
    hame.send("three\r")
    hame.wait_for(r"^You said: echo one\n? ?two\n? ?three")


def test_tab_completes_commands_and_paths(terminal, tmp_path):
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "parser.py").touch()
    hame = terminal()
    hame.wait_for(READY)
    hame.send("/hel\t\r")
    hame.wait_for(r"^/model \[NAME")
    hame.send("echo @sou\tpar\tis fine\r")
    hame.wait_for("You said: echo @sources/parser.py is fine")


def test_an_answer_in_one_shot_mode_is_drawn_in_a_terminal_too(terminal):
    hame = terminal("-p", "tour")
    hame.wait_for(r"^2 steps")
    assert " 1. src/dates.py builds a naive datetime" in hame.text
    assert hame.ended() == 0


def test_the_prompt_is_there_soon(terminal):
    """Generous: the machine may be busy. What it takes is measured in bench."""
    began = time.monotonic()
    terminal().wait_for(READY)
    assert time.monotonic() - began < 5


def test_undo_shows_what_it_will_do_and_asks(terminal):
    hame = terminal()
    hame.wait_for(READY)
    hame.send("/rewind\r")
    text = hame.wait_for(r"^\s+step 1 ")
    assert "prompt 1  fix the dates" in text
    hame.wait_for(READY)
    hame.send("/undo\r")
    text = hame.wait_for(r"take that back\? \[y/N\]")
    assert "the conversation goes back to before “fix the dates”" in text
    assert "restore  /p/src/dates.py" in text
    hame.send("\r")
    hame.wait_for("nothing was changed")
    hame.wait_for(READY)
    hame.send("/undo files\r")
    hame.wait_for(r"take that back\? \[y/N\]$")
    hame.send("y\r")
    hame.wait_for("1 file changed; undo 1 takes it back")
    hame.wait_for(READY)
    hame.send("/undo 9\r")
    hame.wait_for("there is no step 9")
    hame.wait_for(READY)
    hame.send("/undo everything\r")
    hame.wait_for("/undo does not know everything")


def test_what_to_do_about_a_mistake_stays_indented_where_it_is_wrapped(terminal):
    hame = terminal(columns=40)
    hame.wait_for(READY)
    hame.send("/nothing\r")
    text = hame.wait_for("as it is")
    told = text[text.index("/help lists them") :].partition("\n\u276f")[0]
    assert all(line.startswith("  ") for line in told.splitlines()[1:])
    assert len(told.splitlines()) > 1


def test_a_prompt_whose_answer_goes_into_a_file_is_answered_once(shell, tmp_path):
    hame = shell("question", more=" > answer 2> complaints; echo ended with $?")
    hame.wait_for(r"^ended with 3$")
    assert (tmp_path / "answer").read_text() == "That was it.\n"
    assert "refused: it deletes files" in (tmp_path / "complaints").read_text()


def test_an_error_is_broken_between_words_and_stays_beside_its_mark(terminal):
    hame = terminal("--continue", columns=40)
    assert hame.ended() == 2
    text = hame.wait_for("hame: there is no session")
    first, *rest = text.splitlines()
    assert first.startswith("hame: ")
    assert len(rest) > 2
    assert all(line.startswith("      ") for line in rest)
    assert "of other folders." in " ".join(text.split())
