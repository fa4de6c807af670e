"""The log: what happened, without secrets, and never in the way."""

import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hame
from hame.app.log import LIMIT_BYTES, Log
from hame.testing import ScriptedServer, answer, call
from hame.testing.reply import status

if TYPE_CHECKING:
    from app.conftest import Scene

KEY = "sk-planted-key-0123456789abcdef"


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "hame.log").read_text().splitlines()]


async def test_the_course_of_a_run_is_written_down(scene: "Scene") -> None:
    runtime = scene.start(answer(call("list_dir")), answer("ok"))
    await runtime.prompt("go")
    stages = [line["stage"] for line in lines(scene.project.parent / "log")]
    assert stages == ["run_started", "call", "run_ended"]


async def test_a_crash_leaves_its_trace(scene: "Scene") -> None:
    def bug(_: object) -> object:
        raise ZeroDivisionError("oops")

    with pytest.raises(ZeroDivisionError):
        await scene.start(bug).prompt("go")
    (crash,) = [x for x in lines(scene.project.parent / "log") if x["stage"] == "crash"]
    assert "ZeroDivisionError: oops" in str(crash["trace"])


async def test_verbose_writes_down_what_is_sent_and_received_without_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MINE_API_KEY", KEY)
    async with ScriptedServer(status(503), answer("hello there")) as server:
        monkeypatch.setenv("MINE_BASE_URL", f"{server.url}/v1")
        async with hame.open(tmp_path, model="mine/m", verbose=True) as session:
            async for _ in session.prompt(f"the key is {KEY}"):
                pass
        assert server.questions[0].headers["authorization"] == f"Bearer {KEY}"
    folder = tmp_path / ".local/state/hame/log"
    text = (folder / "hame.log").read_text()
    assert KEY not in text
    stages = [line["stage"] for line in lines(folder)]
    assert stages.count("request") == 3, "the first asks what the server knows of the model"
    assert {"response", "received", "wait", "run_ended"} <= set(stages)
    assert "hello there" in text


def test_the_log_is_private_and_a_large_one_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / "hame.log").write_bytes(b"x" * (LIMIT_BYTES + 1))
    log = Log(str(tmp_path), str)
    log.write("hello", word="there")
    log.close()
    assert (tmp_path / "hame.log.1").stat().st_size == LIMIT_BYTES + 1
    mode = (tmp_path / "hame.log").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert lines(tmp_path)[0]["word"] == "there"


def test_a_log_that_cannot_be_written_is_given_up_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = Log(str(tmp_path / "file" / "log"), str)
    log.write("one")
    log.write("two")
    log.close()


def test_a_link_in_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    Path(tmp_path / "hame.log").symlink_to(tmp_path / "victim")
    Log(str(tmp_path), str).write("one")
    assert not (tmp_path / "victim").exists()
