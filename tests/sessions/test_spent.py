"""What was used, read from real journals."""

import json
from pathlib import Path

from hame.base.entry import AnswerAbandoned, ModelAnswered, RunFinished, UserSaid
from hame.base.errors import ErrorKind, Failure
from hame.base.message import Assistant, Origin, Text, User
from hame.base.model import Usage
from hame.base.run import RunDone
from hame.sessions.branch import read_branch
from hame.sessions.copying import fork, import_session, read_import
from hame.sessions.journal import FileJournal
from hame.sessions.spent import Ledger, Spent, Took, read_spent
from hame.sessions.store import SessionStore

ORIGIN = Origin(wire="openai_chat", backend="lab", model="big")


def answered(tokens: int, origin: Origin | None = ORIGIN) -> Assistant:
    return Assistant(
        (Text('"usage" and "session_started"'),), origin=origin, usage=Usage(output=tokens)
    )


async def journal(tmp_path, now=lambda: 1000.0):
    store = SessionStore(tmp_path, now=now)
    made = store.create("/project", "0")
    await made.append(UserSaid(message=User((Text("hi"),))))
    await made.append(ModelAnswered(message=answered(5)))
    failure = Failure(kind=ErrorKind.NETWORK, message="cut")
    await made.append(AnswerAbandoned(message=answered(7), failure=failure))
    await made.append(RunFinished(result=RunDone("x"), usage=Usage(output=12), steps=1))
    await made.append(ModelAnswered(message=answered(9)))
    await made.append(ModelAnswered(message=Assistant((Text("no count"),))))
    made.close()
    return made.session


async def test_every_answer_is_found_with_its_run_and_step(tmp_path):
    session = await journal(tmp_path)
    found = list(read_spent(str(tmp_path)))
    assert [(s.run, s.step, s.usage.output) for s in found] == [(1, 1, 5), (1, 2, 7), (2, 1, 9)]
    assert {(s.session, s.cwd, s.model, s.at) for s in found} == {
        (session, "/project", "lab/big", 1000.0)
    }


async def test_only_what_was_asked_for_is_read(tmp_path):
    session = await journal(tmp_path)
    assert len(list(read_spent(str(tmp_path), session=session))) == 3
    assert list(read_spent(str(tmp_path), session="other")) == []
    assert list(read_spent(str(tmp_path), since=1001.0)) == []
    assert list(read_spent(str(tmp_path / "nowhere"))) == []


async def test_damage_is_passed_over(tmp_path):
    session = await journal(tmp_path)
    path = tmp_path / f"{session}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = [line[: len(line) // 2] + b"\n" if b'"output":5' in line else line for line in lines]
    path.write_bytes(b"".join(damaged) + b'{"usage": 1}\n\0\0\0')
    assert [s.usage.output for s in read_spent(str(tmp_path))] == [7, 9]


async def test_records_of_other_kinds_do_not_count(tmp_path):
    session = await journal(tmp_path)
    lines = (tmp_path / f"{session}.jsonl").read_text().splitlines()
    kinds = {json.loads(line)["entry"]["type"] for line in lines}
    assert "run_finished" in kinds
    assert sum(s.usage.output for s in read_spent(str(tmp_path))) == 21


async def test_an_answer_that_was_copied_to_another_session_was_paid_for_once(tmp_path):
    session = await journal(tmp_path)
    store = SessionStore(tmp_path)
    first = fork(read_branch(store.path(session)), store.path(store.new_id()))
    again = import_session(read_import(first), store.path(store.new_id()))
    with FileJournal.reopen(again) as copy:
        await copy.append(ModelAnswered(message=answered(100)))
    assert [s.usage.output for s in read_spent(str(tmp_path))] == [5, 7, 9, 100]
    assert [s.usage.output for s in read_spent(str(tmp_path), session=again.stem)] == [5, 7, 9, 100]


async def test_a_run_that_was_copied_to_another_session_took_its_time_once(tmp_path):
    clock = iter(range(1000, 2000))
    session = await journal(tmp_path, now=lambda: float(next(clock)))
    took = seconds(tmp_path)
    store = SessionStore(tmp_path)
    fork(read_branch(store.path(session)), store.path(store.new_id()))
    assert seconds(tmp_path) == took > 0


def seconds(folder: Path) -> float:
    return sum(run.seconds for run in Ledger(str(folder)).read_on() if isinstance(run, Took))


async def test_a_ledger_is_read_on_where_it_was_left_and_a_line_only_once_it_is_whole(tmp_path):
    session = await journal(tmp_path)
    ledger = Ledger(str(tmp_path))
    assert sum(isinstance(each, Spent) for each in ledger.read_on()) == 3
    path = tmp_path / f"{session}.jsonl"
    line = next(line for line in path.read_bytes().splitlines() if b'"output":9' in line)
    line = line.replace(b'"output":9', b'"output":90')
    with path.open("ab") as file:
        file.write(line[:50])
    assert list(ledger.read_on()) == []
    with path.open("ab") as file:
        file.write(line[50:] + b"\n")
    (found,) = ledger.read_on()
    assert isinstance(found, Spent)
    assert (found.run, found.usage.output) == (2, 90)
    assert list(ledger.read_on()) == []
