"""Kill -9 at any moment: what was acknowledged is there, and the session goes on."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import hame
from hame.base.entry import CallSettled, ModelAnswered, OutcomesLost
from hame.sessions.history import unsettled_calls
from hame.sessions.journal import FileJournal

WRITER = """
import sys
from pathlib import Path
import anyio
from hame.base.entry import CallSettled, ModelAnswered, SessionStarted, UserSaid
from hame.base.message import Assistant, Text, ToolCall, User
from hame.base.outcome import Done, text_content
from hame.sessions.journal import FileJournal

path = Path(sys.argv[1])


async def main():
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
            outcome = Done(text_content("line\\n" * random_size()))
            await tell(
                CallSettled(call_id=call.id, name="run", outcome=outcome), durable=turn % 7 == 0
            )


def random_size():
    import random

    return random.randrange(2000)


anyio.run(main)
"""


def write_and_kill(path: Path, after: int) -> list[str]:
    """Ids acknowledged by a writer that is killed soon after it acknowledged `after` entries."""
    source = str(Path(hame.__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": source, "PATH": os.defpath},
    ) as writer:
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline() for _ in range(after)]
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged += writer.stdout.readlines()
    # The last line may itself have been cut short by the kill: then nobody was told.
    return [line.decode().strip() for line in acknowledged if line.endswith(b"\n")]


def test_kill_9_at_random_moments_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """Fifty rounds over ten sessions, each session going on after every kill."""
    chance = random.Random(20261130)
    for session in range(10):
        path = tmp_path / f"session-{session}.jsonl"
        told: set[str] = set()
        for _ in range(5):
            told.update(write_and_kill(path, chance.randrange(1, 60)))
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
