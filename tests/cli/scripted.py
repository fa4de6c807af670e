"""A session that plays a script instead of asking a model, and hame's command line on top of it.

Run as a program it is hame with that session; the scenario is the prompt's first word.
"""

import sys
import time

import anyio

from hame.app.undo import History, Rewind, Turn
from hame.base import event as ev
from hame.base.errors import ConfigError, ErrorKind, Failure, HameError
from hame.base.message import Assistant, Text
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
    text_content,
)
from hame.base.question import Question
from hame.base.run import RunDone, RunFailed, Stopped
from hame.base.settings import Mode
from hame.base.snapshot import (
    REGULAR,
    FileState,
    Move,
    PathChange,
    Planned,
    Step,
    UndoPlan,
)

MARKDOWN = """\
# What I found

The function **`parse_date`** returns local time, but callers expect UTC. See \
[the issue](https://example.com/1) for the background, which is long enough to be wrapped.

1. `src/dates.py` builds a naive datetime
2. `tests/test_dates.py` compares it
   - once with a zone
   - once without

| file | lines |
|------|------:|
| src/dates.py | 120 |
| tests/test_dates.py | 48 |

```python
def parse_date(text: str) -> datetime:
    # always UTC
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
```

> Be careful with daylight saving time.

Done.
"""

DIFF = """\
--- a/src/dates.py
+++ b/src/dates.py
@@ -8,5 +8,6 @@
 import re

 def parse_date(text):
-    return datetime.fromisoformat(text)
+    # always UTC
+    return datetime.fromisoformat(text).replace(tzinfo=UTC)

@@ -40,2 +41,2 @@
-x = 1
+x = 2
"""


class ScriptedRewinder:
    """One prompt that changed one file."""

    step = Step(
        number=1, tool="edit_file", title="Edit src/dates.py", record="3", began=0.0, ended=0.0,
        changes=(PathChange("/p/src/dates.py", FileState(mode=REGULAR, blob="a"),
                            FileState(mode=REGULAR, blob="b")),),
    )  # fmt: skip

    async def history(self):
        turn = Turn(number=1, words="fix the dates", before="2", steps=(self.step,))
        return History(turns=(turn,))

    async def plan(self, *, step, turn, label, files, conversation, over):
        if step == 9:
            raise HameError("there is no step 9 that changed a file", hint="/rewind lists them.")
        (turns,) = (await self.history()).turns
        state = FileState(mode=REGULAR, blob="a")
        move = Planned(path="/p/src/dates.py", move=Move.RESTORE, now=state, then=state, over=over)
        return Rewind(
            title="undo",
            files=UndoPlan(steps=(1,), moves=(move,)) if files else None,
            back_to="2" if conversation else "",
            turns=(turns,) if conversation else (),
        )


class ScriptedSession:
    """Plays the scenario that the prompt names."""

    def __init__(self, launch, pace=0.0):
        self.session = launch.resume or "s1"
        self.model = ""
        self.mode = launch.settings.mode
        self.sandbox = "A"
        self.interactive = launch.interactive
        self.pace = pace
        self.prompts = []
        self.closed = False
        self._sinks = []
        self._seq = 0
        self._inbox = []
        self._scope = None
        self._reason = ""
        self._waiting = {}
        self._usage = Usage()
        self._broken = None

    def subscribe(self, sink):
        self._sinks.append(sink)
        return lambda: self._sinks.remove(sink) if sink in self._sinks else None

    def emit(self, event):
        import msgspec

        self._seq += 1
        stamped = msgspec.structs.replace(event, run="r1", seq=self._seq)
        for sink in tuple(self._sinks):
            try:
                sink(stamped)
            except Exception as error:  # noqa: BLE001 - as the runtime does
                self._sinks.remove(sink)
                self._broken = error
                self.cancel("its surface went away")

    async def prompt(self, text):
        if text.startswith("nomodel"):
            raise ConfigError("no model is configured", hint="Set a key, or run: hame local setup.")
        self.model = self.model or "mock/mock-large"
        self.prompts.append(text)
        self.emit(
            ev.RunStarted(
                session=self.session, model=self.model, mode=self.mode, prompt=text, sandbox="A"
            )
        )
        start = time.monotonic()
        result, refused = Stopped(reason="stopped by the user"), 0
        scenario = getattr(self, f"play_{text.split()[0]}", self.play_echo)
        with anyio.CancelScope() as self._scope:
            result, refused = await scenario(text)
        if self._scope.cancelled_caught:
            result = Stopped(reason=self._reason)
        ended = ev.RunEnded(
            result=result,
            usage=self._usage,
            steps=2,
            seconds=time.monotonic() - start,
            cost_usd=0.0123,
            refused=refused,
        )
        self.emit(ended)
        if self._broken is not None:
            raise self._broken
        return ended

    def steer(self, text):
        self._inbox.append(text)

    def cancel(self, reason="stopped by the user"):
        self._reason = reason
        if self._scope is not None:
            self._scope.cancel()

    def answer(self, question_id, answer):
        if question_id not in self._waiting:
            return False
        done, _ = self._waiting[question_id]
        self._waiting[question_id] = (done, answer)
        done.set()
        return True

    async def set_model(self, name):
        if not name or "/" not in name:
            raise ConfigError(f"there is no model {name}", hint="hame models lists them.")
        if name == "silent/m":
            sys.stdout.write("opening it\n")
            sys.stdout.flush()
            await anyio.sleep(60)
        self.model = name

    async def set_mode(self, mode):
        self.mode = Mode(mode)
        self.emit(ev.ModeChanged(mode))

    async def clear(self):
        self.session = "s2"

    def rewinder(self):
        return ScriptedRewinder()

    async def rewind(self, plan):
        return ScriptedRewinder.step if plan.files else None

    async def resume(self, session):
        self.session = session

    async def close(self):
        self.closed = True

    # ------------------------------------------------------------ what a script is made of

    async def say(self, text, size=6):
        for start in range(0, len(text), size):
            self.emit(ev.TextDelta(text[start : start + size]))
            await anyio.sleep(self.pace / 4)
        self._usage += Usage(input_uncached=1400, cache_read=11000, output=300)
        self.emit(ev.UsageUpdated(usage=self._usage, step_usage=self._usage, cost_usd=0.0123))
        self.emit(ev.AnswerCompleted(Assistant((Text(text),))))

    async def call(self, call, tool, title, summary, outcome, seconds=0.0, progress=()):
        self.emit(ev.CallProposed(call=call, tool=tool))
        await anyio.sleep(self.pace)
        self.emit(ev.CallStarted(call=call, tool=tool, title=title, summary=summary))
        for text in progress:
            self.emit(ev.CallProgress(call=call, text=text))
            await anyio.sleep(self.pace)
        await anyio.sleep(seconds and self.pace)
        self.settle(call, tool, outcome, seconds)

    def settle(self, call, tool, outcome, seconds=0.0):
        self.emit(ev.CallSettled(call=call, tool=tool, outcome=outcome, seconds=seconds))

    async def ask(self, question):
        if not self.interactive:
            return None
        done = anyio.Event()
        self._waiting[question.id] = (done, None)
        self.emit(ev.QuestionAsked(question))
        try:
            await done.wait()
        except anyio.get_cancelled_exc_class():
            self.emit(ev.QuestionWithdrawn(question=question.id, reason="the run was stopped"))
            raise
        _, answer = self._waiting.pop(question.id)
        self.emit(ev.QuestionAnswered(question=question.id, answer=answer))
        return answer

    # ------------------------------------------------------------ scenarios

    async def play_echo(self, text):
        self.emit(ev.StepStarted(1))
        await self.say(f"You said: {text}")
        return RunDone(f"You said: {text}"), 0

    async def play_tour(self, text):
        self.emit(ev.StepStarted(1))
        await anyio.sleep(self.pace * 10)
        for piece in ("Let me look ", "at the file first.\nThen ", "the tests."):
            self.emit(ev.ThinkingDelta(piece))
            await anyio.sleep(self.pace)
        await self.say("I'll look at the **dates** first.\n")
        await self.call(
            "c1",
            "read_file",
            "Read",
            "src/dates.py",
            Done(text_content("..."), TextView("a\n" * 120)),
        )
        await self.call(
            "c2", "find_files", "Find", "**/test_*.py", Done((), PathsView(("a", "b"), total=2))
        )
        output = (
            "\n".join(f"tests/test_{n}.py .." for n in range(14))
            + "\n1 failed, 27 passed in 0.52s\n"
        )
        await self.call(
            "c3",
            "run_command",
            "Run",
            "pytest -q",
            Done((), CommandView("pytest -q", output, 1)),
            3.2,
            [f"tests/test_{n}.py ..\n" for n in range(14)],
        )
        await self.call(
            "c4",
            "edit_file",
            "Edit",
            "src/dates.py",
            Done((), DiffView("src/dates.py", DIFF, 3, 2)),
        )
        await self.call(
            "c5",
            "edit_file",
            "Edit",
            "src/other.py",
            Failed("old_text was not found in src/other.py; read the file again"),
        )
        self.emit(ev.StepStarted(2))
        await self.say(MARKDOWN)
        return RunDone(MARKDOWN), 0

    async def play_question(self, text):
        self.emit(ev.StepStarted(1))
        await self.say("I will delete the build folder.\n")
        command = "cd build && rm -rf ./out" + " " * 300 + "; rm -rf ~\u202e\u200b"
        self.emit(ev.CallStarted(call="c1", tool="run_command", title="Run", summary=command))
        question = Question(
            id="q1",
            title=f"Run {command}",
            detail=command,
            call_id="c1",
            tool="run_command",
            reason="it deletes files",
            grant="run_command: rm -rf in this project",
        )
        answer = await self.ask(question)
        refused = 0
        if answer is None:
            outcome, refused = Denied("it deletes files", unanswered=True), 1
        elif answer.words:
            outcome = Corrected(answer.words)
        elif answer.choice == "no":
            outcome = Denied("", by_user=True)
        else:
            outcome = Done((), CommandView(command, "removed\n", 0))
        self.settle("c1", "run_command", outcome, 0.2)
        diff = Question(
            id="q2",
            title="Edit src/dates.py",
            view=DiffView("src/dates.py", DIFF, 3, 2),
            call_id="c2",
        )
        self.emit(ev.CallStarted(call="c2", tool="edit_file", title="Edit", summary="src/dates.py"))
        second = await self.ask(diff)
        allowed = second is not None and second.choice in {"once", "session"}
        self.settle("c2", "edit_file", Done((), diff.view) if allowed else Denied("", by_user=True))
        self.emit(ev.StepStarted(2))
        await self.say("That was it.")
        return RunDone("That was it."), refused

    async def play_slowquestion(self, text):
        self.emit(ev.StepStarted(1))
        await anyio.sleep(self.pace * 50)
        return await self.play_question(text)

    async def play_slow(self, text):
        self.emit(ev.StepStarted(1))
        await self.say("Working on it.\n\nThis paragraph is not fini")
        self.emit(ev.CallStarted(call="c1", tool="run_command", title="Run", summary="sleep 60"))
        try:
            for _step in range(600):
                for message in self._inbox:
                    self.emit(ev.SteeringTaken(message))
                self._inbox.clear()
                await anyio.sleep(0.1)
        except anyio.get_cancelled_exc_class():
            self.settle("c1", "run_command", Cancelled(self._reason), 1.0)
            raise
        return RunDone("slept"), 0

    async def play_deaf(self, text):
        """Takes long to settle when stopped."""
        self.emit(ev.StepStarted(1))
        try:
            await anyio.sleep(60)
        finally:
            self.emit(ev.Notice("it is slow to stop"))
            with anyio.CancelScope(shield=True):
                await anyio.sleep(30)
        return RunDone(""), 0

    async def play_sluggish(self, text):
        """Takes a moment to settle when stopped."""
        self.emit(ev.StepStarted(1))
        try:
            await anyio.sleep(60)
        finally:
            self.emit(ev.Notice("it is slow to stop"))
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.5)
        return RunDone(""), 0

    async def play_wait(self, text):
        self.emit(ev.StepStarted(1))
        failure = Failure(
            kind=ErrorKind.RATE_LIMIT,
            message="Mock: too many requests",
            retryable=True,
            said="slow down",
        )
        self.emit(ev.WaitStarted(seconds=3.0, failure=failure, attempt=1))
        await anyio.sleep(self.pace * 60)
        self.emit(ev.StepStarted(1))
        await self.say("After the wait.")
        return RunDone("After the wait."), 0

    async def play_wrongkey(self, text):
        self.emit(ev.StepStarted(1))
        failure = Failure(
            kind=ErrorKind.AUTH,
            message="Mock refused the key",
            provider="Mock",
            status=401,
            hint="Set MOCK_API_KEY to a key from https://mock.example/keys.",
            said="invalid x-api-key",
        )
        return RunFailed(failure), 0

    async def play_crash(self, text):
        return 1 / 0, 0

    async def play_lines(self, text):
        self.emit(ev.StepStarted(1))
        await self.say("\n".join(f"line {n}" for n in range(3000)), 400)
        return RunDone("done"), 0


def main():
    import hame.cli.session

    pace = float(sys.argv[1])

    async def build(launch):
        return ScriptedSession(launch, pace)

    hame.cli.session.build_session = build
    from hame.cli.start import run

    sys.exit(run(sys.argv[2:]))


if __name__ == "__main__":
    main()
