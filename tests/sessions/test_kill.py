"""Kill -9 at any moment: what was acknowledged is there, and the session goes on."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

import hame
from hame.base.entry import CallSettled, ModelAnswered, OutcomesLost
from hame.sessions.history import unsettled_calls
from hame.sessions.journal import FileJournal

WRITERS = """
import os
import random
import sys
from pathlib import Path
import anyio
from hame.base.entry import CallSettled, ModelAnswered, SessionStarted, UserSaid
from hame.base.message import Assistant, Text, ToolCall, User
from hame.base.outcome import Done, text_content
from hame.sessions.journal import FileJournal


async def write(path):
    print("pid", os.getpid(), flush=True)
    if path.exists():
        journal = FileJournal.reopen(path)
    else:
        journal = FileJournal.begin(path, SessionStarted(session=path.stem, cwd="/p", hame="1"))

    async def tell(entry, durable=False):
        record = await journal.append(entry, durable=durable)
        print(record.id, flush=True)

    await tell(UserSaid(message=User((Text("go"),))), durable=True)
    turn = 0
    while True:
        turn += 1
        calls = tuple(ToolCall(f"c{turn}-{n}", "run", {"command": "x" * 300}) for n in range(3))
        await tell(ModelAnswered(message=Assistant((Text("word " * 50), *calls))))
        for call in calls:
            outcome = Done(text_content("line\\n" * random.randrange(500)))
            await tell(
                CallSettled(call_id=call.id, name="run", outcome=outcome), durable=turn % 7 == 0
            )


# Each path that comes in is written to by a process of its own, which will be killed.
for line in sys.stdin:
    if os.fork() == 0:
        random.seed()
        anyio.run(write, Path(line.strip()))
    os.wait()
    print("dead", flush=True)
"""


class Writers:
    """One process that starts writers quickly, having imported everything once."""

    def __init__(self) -> None:
        source = str(Path(hame.__file__).parents[1])
        self._process = subprocess.Popen(
            [sys.executable, "-c", WRITERS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": source, "PATH": os.defpath},
        )

    def write_and_kill(self, path: Path, after: int) -> list[str]:
        """Ids acknowledged by a writer that is killed when it has acknowledged `after` entries."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline
        pid = int(said().removeprefix("pid "))
        acknowledged = [said() for _ in range(after)]
        os.kill(pid, signal.SIGKILL)
        while (line := said()) != "dead\n":
            acknowledged.append(line)
        return [line.strip() for line in acknowledged]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.__exit__(None, None, None)


def test_kill_9_at_random_moments_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """Fifty rounds over ten sessions, each session going on after every kill."""
    chance = random.Random(20261130)
    with Writers() as writers:
        for session in range(10):
            path = tmp_path / f"session-{session}.jsonl"
            told: set[str] = set()
            for _ in range(5):
                told.update(writers.write_and_kill(path, chance.randrange(1, 60)))
                with FileJournal.reopen(path) as journal:
                    assert unsettled_calls(list(journal.entries)) == ()
                    asked = [
                        call.id
                        for entry in journal.entries
                        if isinstance(entry, ModelAnswered)
                        for call in entry.message.calls
                    ]
                    answered = [e.call_id for e in journal.entries if isinstance(e, CallSettled)]
                    lost = [
                        call.id
                        for entry in journal.entries
                        if isinstance(entry, OutcomesLost)
                        for call in entry.calls
                    ]
                assert sorted(asked) == sorted(answered + lost)
                present = {json.loads(line)["id"] for line in path.read_bytes().splitlines()}
                assert told <= present
            assert len(told) > 5
