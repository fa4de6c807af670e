"""Hostile text from everywhere, through the real views and the real command, as bytes and as eyes see it.

The terminal gets hame's own sequences only; no question can be forged or its choices displaced.
"""

import io
import re

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base import event as ev
from hame.base.errors import ErrorKind, Failure
from hame.base.message import Text, Thinking
from hame.base.model import Usage
from hame.base.outcome import (
    Cancelled,
    CommandView,
    Corrected,
    Denied,
    DiffView,
    Done,
    Failed,
    PathsView,
    TextView,
    TodoItem,
    TodoState,
    TodoView,
)
from hame.base.question import Answer, Choice, Question
from hame.base.run import Refused, RunDone, RunFailed, Stopped
from hame.cli.drawing import Drawing
from hame.cli.drawn import draw_block
from hame.cli.listing import session_line
from hame.cli.lookalikes import mark_lookalikes
from hame.cli.paint import Paint
from hame.cli.plain import PlainView
from hame.cli.render import TerminalView
from hame.cli.reveal import clean, reveal
from hame.cli.screen import Screen
from hame.sessions.store import SessionSummary
from hame.testing import Reply, ScriptedServer, answer, call

DIALOG = "? Run ls\n  │ ls\n  y  yes, once\n  s  yes, for this session\n  n  no\n\u276f yes\n"
HOSTILE = {
    "csi": "a\x1b[2J\x1b[1;1H\x1b[31mb\x1b[8mhidden",
    "title": "a\x1b]0;owned\x07b\x1b]2;owned\x1b\\",
    "link": "\x1b]8;;https://evil.example\x1b\\https://good.example\x1b]8;;\x1b\\",
    "clipboard": "a\x1b]52;c;cm0gLXJmIH4=\x07b",
    "image": "\x1b]1337;File=inline=1:AAAA\x07 \x1b_Ga=T,f=100;AAAA\x1b\\",
    "dcs": "\x1bP+q544e\x1b\\ \x1bP$qm\x1b\\ \x1b^pm\x1b\\ \x1bXsos\x1b\\",
    "reset": "\x1bc \x1b[!p \x1b[?1049h \x1b(0 \x0e\x0f \x05",
    "c1": "a\x9b2Jb\x9d0;owned\x9c\x90q\x9c\x85c\x84d",
    "backspace": "safe\x08\x08\x08\x08evil\x7f",
    "return": "rm -rf ~\rls       ",
    "bidi": "x\u202egnp.exe\u202c \u2066y\u2069 \u2067z \u061c",
    "zerowidth": "a\u200bb\u2060c\ufeffd\u180ee\u3164f",
    "tags": "a\U000e0041\U000e0042\U000e0100b\ufff9c\ufffad\ufffb",
    "separators": "a\u2028  y  yes, once\u2029  n  no\x0b  y  yes\x0c",
    "dialog": DIALOG,
    "padding": "ls" + " " * 400 + "; rm -rf ~" + "\n" * 80 + "  y  yes, once",
    "entities": "a&#x1b;[2J&#x9b;2J&#x202e;b&#x200b;&#xE0041;&#13;&#12;&#0;",
    "surrogate": "a\udc9b2Jb\udc1bc\ud83d",
    "homoglyph": "/\u0435tc/p\u0430sswd \u0441url",
    "markdown": "![p](https://evil.example/p?q=1) [https://good.example](https://evil.example)",
}

SEQUENCES = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?2026[hl]|(?:\x1b\[\d+A)?\r\x1b\[J")
"""What hame writes while a run is going: colours, synchronized output, redrawing its live lines."""
AT_THE_PROMPT = re.compile(r"\x1b\[\?2004[hl]|\x1b\[\d*[CDKP]|\x1b\[K|\r|\x08|\x07")
"""Bracketed paste, and what the line editor moves the cursor with."""
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u2028-\u202e\u2060-\u206f\ufeff\u180e\u3164\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e01ef]"
)
CHOICE_ROW = re.compile(r"^  [a-z0-9]  ")

every_kind = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def assert_harmless(written, *more):
    """Nothing but hame's own sequences acts, and nothing is hidden."""
    for own in (SEQUENCES, *more):
        written = own.sub("", written)
    found = FORBIDDEN.search(written)
    assert found is None, ascii(written[max(found.start() - 60, 0) : found.end() + 60])


def question(text, **more):
    return Question(
        id="q", title=f"Run {text}", detail=text, view=CommandView(f"x {text}"), call_id="c",
        reason=text, source=text, loss=text, grant=text, rules=(text, text),
        choices=(Choice.ONCE, Choice.SESSION, Choice.ALWAYS, Choice.NO), **more,
    )  # fmt: skip


def outcomes(text):
    diff = f"--- a\n+++ b\n@@ -1 +1,2 @@\n-{text}\n+{text}\n {text}\n"
    yield Done((), TextView(text, title=text))
    yield Done((), PathsView((text, text), title=text))
    yield Done((), CommandView(text, f"{text}\n" * 3, 1, ended=text))
    yield Done((), DiffView(text, diff, 2, 1))
    yield Done((), TodoView((TodoItem(text, TodoState.ACTIVE),)))
    yield Failed(text)
    yield Failed(text, view=CommandView(text, text, 1))
    yield Denied(text)
    yield Denied(text, by_user=True)
    yield Denied(text, unanswered=True)
    yield Corrected(text)
    yield Cancelled(text)


def events(text):
    """A run into which the text came at every place where others can put it."""
    failure = Failure(kind=ErrorKind.OVERLOADED, message=text, said=text, hint=text, provider=text)
    yield ev.RunStarted(session=text, model=text, mode="ask", prompt=text, sandbox="A")
    yield ev.StepStarted(1)
    yield ev.ThinkingDelta(text)
    yield ev.ThinkingDelta(f"{text}\n{text}")
    yield ev.TextDelta(text)
    yield ev.TextDelta(
        f"{text}\n\n- {text}\n\n```{text}\n{text}\n```\n\n| {text} |\n|--|\n| {text} |\n\n"
    )
    yield ev.TextDelta(
        f"# {text}\n\n> {text}\n\n`{text}` **{text}** [{text}]({text} '{text}') ![{text}](u)"
    )
    yield ev.CallProposed(call="p", tool=text)
    for number, outcome in enumerate(outcomes(text)):
        name = f"c{number}"
        yield ev.CallStarted(call=name, tool=text, title=text, summary=text)
        yield ev.CallProgress(call=name, text=text)
        yield ev.CallSettled(call=name, tool=text, outcome=outcome, seconds=1.0)
        yield ev.CallSettled(call="never begun", tool=text, outcome=outcome)
    yield ev.QuestionAsked(question(text))
    yield ev.Notice(text)
    yield ev.QuestionAnswered(question="q", answer=Answer(words=text))
    yield ev.QuestionAsked(Question(id="r", title=text, detail=text, choices=(text, "b")))
    yield ev.QuestionAnswered(question="r", answer=Answer(choice=text))
    yield ev.QuestionWithdrawn(question="q", reason=text)
    for level in ("info", "warning", "error"):
        yield ev.Notice(text, level)
    yield ev.WaitStarted(seconds=9.0, failure=failure, attempt=1)
    yield ev.AnswerAbandoned(failure=failure, again=True)
    yield ev.SteeringTaken(text)
    yield ev.Compacted(tokens_before=9, tokens_after=1, summary=text)
    yield ev.ConstraintChanged(text)
    for result in (
        RunFailed(failure),
        Stopped(text),
        Refused(reason=text, text=text),
        RunDone(text),
    ):
        yield ev.RunEnded(result=result, usage=Usage(), steps=1, seconds=1.0)


def terminal_view(columns=80, rows=24):
    out, drawing = io.StringIO(), Drawing("36")
    drawing.load()
    drawing.draw("a", 20, wait=True)
    view = TerminalView(
        Screen(out, lambda: (columns, rows)), Paint(enabled=True), drawing=drawing, typed=lambda: ""
    )
    return view, out


def played(view, text):
    for event in events(text):
        view.show(event)
        view.tick()
    view.queue(text)
    view.tell(text)
    view.tick()
    view.close()


@every_kind
@pytest.mark.parametrize("columns", [20, 80])
def test_the_terminal_gets_only_hames_own_sequences(text, columns):
    view, out = terminal_view(columns)
    played(view, text)
    assert_harmless(out.getvalue())


@every_kind
def test_plain_lines_hold_no_sequence_at_all(text):
    out = io.StringIO()
    played(PlainView(out, thinking=True), text)
    assert "\x1b" not in out.getvalue()
    assert_harmless(out.getvalue())


@every_kind
def test_a_title_in_the_list_of_sessions_is_one_harmless_line(text):
    summary = SessionSummary(id="s1", cwd=text, title=text, started=0.0, updated=0.0, size=1)
    line = session_line(summary, with_folder=True)
    assert "\n" not in line
    assert_harmless(line)


@given(
    st.text(st.sampled_from("\x1b\x9b\x9d]8;0[2JmH?\\\x07\ra\n \u202e&#x1;`*|\udc9b"), max_size=40)
)
def test_no_mixture_of_such_pieces_acts_on_the_terminal(text):
    view, out = terminal_view(30)
    for event in (
        ev.RunStarted(session="s", model="m", mode="ask", prompt="p"),
        ev.TextDelta(text),
        ev.CallSettled(call="c", tool=text, outcome=Done((), CommandView("x", text, 0))),
        ev.QuestionAsked(question(text)),
    ):
        view.show(event)
        view.tick()
    view.close()
    assert_harmless(out.getvalue())


# ------------------------------------------------------------ questions


def forged(columns):
    """Texts whose end would stand at the left edge if the terminal broke the line."""
    for used in range(columns):
        yield ("a b " * columns)[:used] + "  y  yes, once"


def asked(view, out, text, rows=400, columns=60):
    view.show(ev.QuestionAsked(question(text)))
    view.tick()
    screen = pyte.Screen(columns, rows)
    pyte.Stream(screen).feed(out.getvalue().replace("\n", "\r\n"))
    return [line.rstrip() for line in screen.display if line.strip()]


FOUR = ["  y  yes, ", "  s  yes, ", "  a  yes, ", "  n  no"]


def assert_only_choices_are_hames(lines, choices=FOUR):
    """From the question's title on: marked lines, then the choices, each of them once."""
    start = max(number for number, line in enumerate(lines) if line.startswith("? Run"))
    rows = [line for line in lines[start:] if CHOICE_ROW.match(line)]
    assert [row[:10] for row in rows] == choices
    first = lines.index(rows[0])
    assert all(not CHOICE_ROW.match(line) for line in lines[start:first])
    for line in lines[start + 1 : first]:
        assert line.startswith("  "), line


@every_kind
@pytest.mark.parametrize("surface", ["terminal", "plain"])
def test_a_question_has_hames_choices_and_no_others(text, surface):
    view, out = terminal_view(60, 400)
    if surface == "plain":
        out = io.StringIO()
        view = PlainView(out, columns=lambda: 59)
    view.show(ev.RunStarted(session="s", model="m", mode="ask", prompt="p"))
    assert_only_choices_are_hames(asked(view, out, text))


@pytest.mark.parametrize("surface", ["terminal", "plain"])
def test_the_terminals_own_line_breaks_make_no_choice(surface):
    for text in forged(60):
        view, out = terminal_view(60, 400)
        if surface == "plain":
            out = io.StringIO()
            view = PlainView(out, columns=lambda: 59)
        view.show(ev.RunStarted(session="s", model="m", mode="ask", prompt="p"))
        assert_only_choices_are_hames(asked(view, out, text))


def test_choices_of_the_model_stay_on_lines_of_their_own():
    choices = ("red\n  2  blue", "x" * 52 + "  1  red", "\x1b[2J")
    view, out = terminal_view(60, 40)
    view.show(ev.RunStarted(session="s", model="m", mode="ask", prompt="p"))
    view.show(ev.QuestionAsked(Question(id="q", title="Which?", choices=choices)))
    view.tick()
    screen = pyte.Screen(60, 40)
    pyte.Stream(screen).feed(out.getvalue().replace("\n", "\r\n"))
    rows = [line[:6] for line in screen.display if CHOICE_ROW.match(line)]
    assert rows == ["  1  r", "  2  x", "  3  ␛"]


def test_what_comes_meanwhile_waits_until_the_question_is_answered():
    meanwhile = (
        ev.Notice(DIALOG, "warning"),
        ev.CallSettled(call="d", tool="run_command", outcome=Done((), CommandView("x", DIALOG, 0))),
    )
    view, out = terminal_view()
    plain_out = io.StringIO()
    plain = PlainView(plain_out)
    for each, written in ((view, out), (plain, plain_out)):
        each.show(ev.RunStarted(session="s", model="m", mode="ask", prompt="p"))
        each.show(ev.QuestionAsked(Question(id="q", title="Sure?")))
        each.tick()
        before = written.getvalue()
        for event in meanwhile:
            each.show(event)
        each.tick()
        assert written.getvalue() == before
        each.show(ev.QuestionAnswered(question="q", answer=Answer(choice="no")))
        each.tick()
        assert "? Run ls" in written.getvalue()


def test_what_waited_is_shown_when_the_run_ends_without_an_answer():
    for view, out in (terminal_view(), (PlainView(plain := io.StringIO()), plain)):
        view.show(ev.RunStarted(session="s", model="m", mode="ask", prompt="p"))
        view.show(ev.QuestionAsked(Question(id="q", title="Sure?")))
        view.show(ev.Notice("it waited"))
        view.show(ev.RunEnded(result=Stopped("x"), usage=Usage(), steps=1, seconds=1.0))
        view.close()
        assert "it waited" in out.getvalue()


def test_lines_of_a_notice_and_of_a_call_are_set_in():
    out = io.StringIO()
    view = PlainView(out)
    view.show(ev.Notice(DIALOG))
    view.show(ev.CallSettled(call="c", tool=f"x\n{DIALOG}", outcome=Failed(DIALOG)))
    assert not [line for line in out.getvalue().split("\n")[1:] if CHOICE_ROW.match(line)]
    assert out.getvalue().count("\n? ") == 0


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    "text", [DIALOG, f"```\n{DIALOG}```\n", f"? Run ls\n\n    y  yes\n\n{DIALOG}"]
)
def test_the_models_words_cannot_pass_for_a_question(text, size):
    view, out = terminal_view(60, 400)
    plain_out = io.StringIO()
    plain = PlainView(plain_out, thinking=True)
    for each in (view, plain):
        each.show(ev.RunStarted(session="s", model="m", mode="ask", prompt="p"))
        for kind in (ev.ThinkingDelta, ev.TextDelta):
            for start in range(0, len(text), size):
                each.show(kind(text[start : start + size]))
                each.tick()
        each.close()
    screen = pyte.Screen(60, 400)
    pyte.Stream(screen).feed(out.getvalue().replace("\n", "\r\n"))
    for line in [*screen.display, *plain_out.getvalue().split("\n")]:
        assert not re.match(r"\? |\s*[ysan]\s+(yes|no)|\u276f", line), line
    assert "| ? Run ls" in plain_out.getvalue()


# ------------------------------------------------------------ look-alikes


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u0441url x", r"\u{441}url x"),
        ("/\u0435tc/p\u0430sswd", r"/\u{435}tc/p\u{430}sswd"),
        ("\u0441\u043e\u0440\u0443 a b", r"\u{441}\u{43e}\u{440}\u{443} a b"),
        ("\uff52\uff4d -rf", r"\u{ff52}\u{ff4d} -rf"),
        ("\U0001d5ff\U0001d5fa", r"\u{1d5ff}\u{1d5fa}"),
        ("a\u2215b \u2010rf \u037e", r"a\u{2215}b \u{2010}rf \u{37e}"),
        ("g\u03bfogle.com", r"g\u{3bf}ogle.com"),
    ],
)
def test_letters_that_pass_for_others_are_written_out(text, shown):
    assert reveal(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "привет, мир",
        "Καλημέρα και",
        "schön naïve",
        "漢字、\uff08はい\uff09",
        "日本語ファイル.txt",
        "größe_\u00b5",
    ],
)
def test_words_in_a_script_of_their_own_stay_readable(text):
    assert mark_lookalikes(text) == text


# ------------------------------------------------------------ Markdown


def test_an_image_is_named_with_its_address_and_not_fetched():
    with ScriptedServer() as server:
        (line,) = draw_block(f"![a chart]({server.url}/x.png)", 100, "36")
        assert f"image a chart ({server.url}/x.png)" in SEQUENCES.sub("", line)
        assert not server.questions
    (line,) = draw_block("![](https://evil.example/p?q=secret)", 100, "36")
    assert "https://evil.example/p?q=secret" in SEQUENCES.sub("", line)


def test_a_link_shows_its_target_whatever_its_words_say():
    for block in (
        "[https://good.example](https://evil.example)",
        "[![https://good.example](https://i.example)](https://evil.example)",
        "[good][1]\n\n[1]: https://evil.example",
    ):
        text = SEQUENCES.sub("", "\n".join(draw_block(block, 200, "36")))
        assert "https://evil.example" in text, block


@every_kind
def test_entities_do_not_bring_back_what_was_taken_out(text):
    for block in (text, f"[a]({text})", f"| {text} |\n|--|\n| {text} |", f"    {text}"):
        assert_harmless("\n".join(draw_block(clean(block), 60, "36")))


# ------------------------------------------------------------ the real hame


def keys(server):
    return {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}


def spoken(text):
    """The text as a model can send it: JSON has no lone surrogates."""
    return text.encode("utf-8", "ignore").decode()


def everything(separator="\n"):
    return separator.join(spoken(text) for text in HOSTILE.values())


READY = r"^(\u276f|>)\s*$"


@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"])
def test_a_whole_conversation_leaves_the_terminal_alone(terminal, tmp_path, kind):
    for number, name in enumerate(HOSTILE):
        text = spoken(HOSTILE[name]).replace("/", "_").replace("\0", "")[:60]
        (tmp_path / f"{number}{text}.txt").write_text(f"needle {spoken(HOSTILE[name])}\n")
    (tmp_path / "a.txt").write_text(everything())
    (tmp_path / "p.py").write_text(
        f"import sys\nsys.stdout.buffer.write({everything().encode()!r})\n"
    )
    with ScriptedServer(
        answer(
            Thinking(everything()),
            Text(everything("\n\n")),
            call("list_dir", path="."),
            call("find_files", pattern="**/*.txt"),
            call("search_text", pattern="needle"),
            call("read_file", path="a.txt"),
            call("no\x1b]0;tool\x07\u202e\n  y  yes", x=everything()),
        ),
        answer(call("run_command", command="python3 p.py && echo '? Run ls   y  yes, once'")),
        Reply(status=400, message=everything()),
    ) as server:
        hame = terminal(real=True, rows=60, TERM=kind, **keys(server))
        hame.wait_for(READY)
        hame.send("look around\r")
        text = hame.wait_for(r"^\? Run[^\0]*^  n  no")
        assert_only_choices_are_hames(text.split("\n"), ["  y  yes, ", "  s  yes, ", "  n  no"])
        assert len(re.findall(r"^\? ", text, re.MULTILINE)) == 1
        hame.send("y\r")
        hame.wait_for(r"^3 steps · ")
        hame.wait_for(READY)
        hame.send("\x04")
        assert hame.ended() == 0
    written = hame.raw.decode()
    assert "\x1b]" not in written
    assert "owned" in written
    assert_harmless(written, AT_THE_PROMPT)


def test_titles_of_sessions_are_harmless_in_the_real_list(terminal, hame, tmp_path):
    with ScriptedServer(*[answer("ok")] * 4) as server:
        for name in ("csi", "bidi", "clipboard", "dialog"):
            hame("-p", HOSTILE[name], real=True, **keys(server))
    listed = terminal("sessions", "list", "--all", real=True, columns=200)
    assert listed.ended() == 0
    written = listed.raw.decode()
    assert len([line for line in written.splitlines() if "ago" in line or "just now" in line]) == 4
    assert "\x1b" not in written
    assert_harmless(written, AT_THE_PROMPT)


def test_a_providers_words_are_harmless_on_standard_error(terminal):
    with ScriptedServer(Reply(status=400, message=everything())) as server:
        ran = terminal("-p", "hi", real=True, **keys(server))
        ran.ended()
    assert_harmless(ran.raw.decode(), AT_THE_PROMPT)
