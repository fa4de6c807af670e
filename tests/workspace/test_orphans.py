"""Jobs of a hame that was killed are ended by the next one; nobody else's are."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import anyio
import msgspec

from hame.base.process import Launch
from hame.workspace.jobs import LocalJobs
from hame.workspace.orphans import JobRecords, end_orphans, started_at
from hame.workspace.process import LocalProcesses
from hame.workspace.results import ResultStore

SOURCE = Path(__file__).resolve().parents[2] / "src"

OWNER = """
import os, sys
from pathlib import Path
import anyio
from hame.base.process import Launch
from hame.workspace.jobs import LocalJobs
from hame.workspace.orphans import JobRecords
from hame.workspace.process import LocalProcesses
from hame.workspace.results import ResultStore

folder = sys.argv[1]

async def main():
    records = JobRecords(folder + "/records")
    results = ResultStore(folder + "/results")
    jobs = LocalJobs(LocalProcesses(dict(os.environ)), results, records=records)
    async def start(command, **more):
        launch = Launch(argv=("bash", "-c", command), cwd=folder)
        return await jobs.start(launch, command, **more)
    await start("setsid sleep 301 & echo $! > away; sleep 302 & echo $! > near; echo $$ > first; wait")
    await start("(setsid sleep 303 & echo $! > left) ; echo $$ > gone")
    await start("echo $$ > kept; exec sleep 304", keep=True)
    await start("trap '' TERM; echo $$ > stubborn; while true; do sleep 1; done")
    print("started", flush=True)
    await anyio.sleep_forever()

anyio.run(main)
"""
MARKS = ("away", "near", "first", "left", "kept", "stubborn")


def start(*command: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, env=environment, start_new_session=True
    )


def records_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def all_gone(processes: Iterable[int]) -> None:
    left = list(processes)
    with anyio.fail_after(5):
        while left:
            await anyio.sleep(0.01)
            left = [pid for pid in left if lives(pid)]


async def pids(folder: Path, *names: str) -> dict[str, int]:
    """What the jobs have written down, once they have."""
    found: dict[str, int] = {}
    with anyio.fail_after(20):
        while len(found) < len(names):
            for name in names:
                path = folder / name
                if path.exists() and path.read_text("ascii").strip():
                    found[name] = int(path.read_text("ascii"))
            await anyio.sleep(0.01)
    return found


def lives(pid: int) -> bool:
    return bool(started_at(pid))


async def test_what_a_killed_hame_left_is_ended_and_what_it_kept_is_not(tmp_path: Path) -> None:
    with start(sys.executable, "-c", OWNER, str(tmp_path)) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"started\n"
        found = await pids(tmp_path, *MARKS)
        kept = found.pop("kept")
        records = str(tmp_path / "records")
        assert await end_orphans(records) == []  # The hame that owns them is alive.
        assert all(map(lives, found.values()))
        owner.send_signal(signal.SIGKILL)
    try:
        ended = await end_orphans(records)
        assert len(ended) >= 2
        assert not any("304" in command for command in ended)
        await all_gone(found.values())
        assert lives(kept)
        assert records_in(tmp_path / "records") == []
        assert await end_orphans(records) == []
    finally:
        os.kill(kept, signal.SIGKILL)


async def test_a_job_that_has_ended_leaves_no_record(tmp_path: Path) -> None:
    records = JobRecords(str(tmp_path / "records"))
    results = ResultStore(str(tmp_path / "results"))
    jobs = LocalJobs(LocalProcesses(dict(os.environ)), results, records=records)
    launch = Launch(argv=("sleep", "300"), cwd="/")
    first = await jobs.start(launch, "one")
    second = await jobs.start(launch, "two")
    assert records_in(tmp_path / "records") == sorted([first.id, second.id])
    await jobs.kill(first.id)
    assert records_in(tmp_path / "records") == [second.id]
    assert (tmp_path / "records" / second.id).stat().st_mode & 0o777 == 0o600
    await jobs.close()
    assert records_in(tmp_path / "records") == []


async def test_another_process_of_the_same_id_is_left_alone(tmp_path: Path) -> None:
    """The record of a job whose process id was given to somebody else since."""
    with start("sleep", "300") as stranger:
        try:
            record = {
                "owner": stranger.pid, "owner_started": "1 other-boot",
                "pid": stranger.pid, "started": "1 other-boot",
                "mark": "feedfacefeedface", "command": "mine",
            }  # fmt: skip
            (tmp_path / "aaaa").write_bytes(msgspec.json.encode(record))
            (tmp_path / "broken").write_bytes(b"{")
            assert await end_orphans(str(tmp_path)) == []
            assert lives(stranger.pid)
            assert records_in(tmp_path) == ["broken"]
        finally:
            stranger.kill()


async def test_no_folder_means_no_orphans(tmp_path: Path) -> None:
    assert await end_orphans(str(tmp_path / "none")) == []
