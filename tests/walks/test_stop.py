"""Ctrl-C during a command with children: nothing survives, and the history is legal."""

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hame.base.entry import CallSettled
from hame.base.outcome import Cancelled
from hame.sessions.store import SessionStore
from hame.testing import ScriptedServer, answer, call

HAME = str(Path(sys.executable).with_name("hame"))
STUBBORN = (
    "trap '' TERM; (trap '' TERM; sleep 300.{mark}) & setsid sleep 301.{mark} & "
    "touch ready; sleep 302.{mark}"
)


def sleepers(mark: int) -> list[str]:
    """Those that still run, as this machine sees them: a sandbox may number its processes anew."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            state = (folder / "stat").read_text("utf-8").rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words[0] == b"sleep" and words[1].endswith(f".{mark}".encode()) and state != "Z":
            found.append(words[1].decode())
    return found


def wait_for(what: object, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock", "none"])
def test_nothing_survives_ctrl_c_and_the_history_is_legal(tmp_path: Path, sandbox: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    mark = secrets.randbelow(10**9)
    command = STUBBORN.format(mark=mark)
    with ScriptedServer(answer(call("run_command", command=command))) as server:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "MINE_BASE_URL": f"{server.url}/v1",
        }
        process = subprocess.Popen(
            [HAME, "-p", "go", "--model", "mine/m", "--mode", "auto", "--sandbox", sandbox],
            cwd=project, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert wait_for((project / "ready").exists, 20)
        assert wait_for(lambda: len(sleepers(mark)) == 3, 5)
        process.send_signal(signal.SIGINT)
        assert wait_for(lambda: not sleepers(mark), 2)
        process.communicate(timeout=10)
    assert process.returncode == 130
    store = SessionStore(tmp_path / ".local/share/hame/sessions")
    (session,) = store.list()
    entries = store.read(session.id).entries
    settled = [entry.outcome for entry in entries if isinstance(entry, CallSettled)]
    assert len(settled) == 1
    assert isinstance(settled[0], Cancelled)
