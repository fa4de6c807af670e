"""A model file of the user's, from its name to a changed file: tried once by what is in it, then spoken to so."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import hame
from hame.base.errors import ConfigError
from hame.base.event import CallSettled, Notice, RunEvent
from hame.base.outcome import Done
from hame.base.run import RunDone, Stopped
from hame.local.machine import engine_installed
from hame.local.weights import find_weights

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def file(weights_folder: Path, tmp_path: Path) -> Path:
    if not engine_installed():
        pytest.skip("xllamacpp (the extra `local`) is not installed")
    weights = find_weights(weights_folder)
    assert weights is not None
    copy = tmp_path / "mine.gguf"
    shutil.copy(weights.path, copy)
    return copy


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "config.txt").write_text("retries=1\nport=8080\n", encoding="utf-8")
    return folder


async def run(project: Path, file: Path, words: str) -> tuple[Sequence[RunEvent], object]:
    async with hame.open(project, model=f"local/{file}", mode="auto") as session:
        told = [event async for event in session.prompt(words)]
        return told, session.result


def notices(told: Sequence[RunEvent]) -> list[str]:
    return [event.text for event in told if isinstance(event, Notice)]


async def test_a_small_model_is_found_out_and_held_to_single_steps(project, file):
    told, result = await run(project, file, "Replace 8080 with 9090 in config.txt.")
    assert result == RunDone(text="Done.")
    assert "single small steps" in notices(told)[-1]
    settled = [
        (event.tool, type(event.outcome)) for event in told if isinstance(event, CallSettled)
    ]
    assert settled == [("edit_file", Done)]
    assert (project / "config.txt").read_text(encoding="utf-8") == "retries=1\nport=9090\n"

    moved = file.rename(file.with_name("elsewhere.gguf"))
    told, result = await run(project, moved, "Show me config.txt.")
    assert result == RunDone(text="retries=1\nport=9090")
    assert notices(told) == [], "it is known by what is in it"


async def test_stopping_the_trial_ends_it(project, file):
    async with hame.open(project, model=f"local/{file}") as session:
        async for event in session.prompt("hi"):
            if isinstance(event, Notice):
                session.cancel()
        assert isinstance(session.result, Stopped)


async def test_a_file_that_is_none_is_told(project, tmp_path):
    (tmp_path / "no.gguf").write_bytes(b"hello")
    for name in ("no.gguf", "missing.gguf"):
        with pytest.raises(ConfigError) as caught:
            await run(project, tmp_path / name, "hi")
        assert name in caught.value.message
