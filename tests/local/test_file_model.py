"""A real model file in a real engine, asked like a server's model."""

import anyio
import pytest

from hame.app.clock import SystemClock
from hame.base.fold import Fold
from hame.base.message import Text, User
from hame.base.ports import ModelRequest
from hame.llm.asking import Line
from hame.llm.client import connect
from hame.local.engine import LocalEngine
from hame.local.file_model import FileModel, check_file, file_facts
from hame.local.weights import find_weights
from local.conftest import TOOLS

LIST = tuple(tool for tool in TOOLS if tool.name in {"list_dir", "read_file"})


@pytest.fixture
async def model(weights_folder, processes, http, tmp_path):
    weights = find_weights(weights_folder)
    assert weights is not None
    path = tmp_path / "mine.gguf"
    path.symlink_to(weights.path)
    header, window = check_file(path)
    engine = LocalEngine(tmp_path, processes, http, file=path, window=window)
    line = Line(http=http, clock=SystemClock())
    yield (
        FileModel(
            file_facts("mine.gguf", header, window),
            engine,
            lambda facts, end: connect(facts, end, line),
        ),
        engine,
    )
    await engine.close()


async def ask(model, *tools):
    fold = Fold()
    words = User((Text("List the files in the folder src."),))
    request = ModelRequest(system="", messages=(words,), tools=tools, max_output_tokens=60)
    async with model.stream(request) as events:
        async for event in events:
            fold.add(event)
    return fold


@pytest.mark.timeout(180)
async def test_a_model_file_answers_in_words_and_held_to_a_schema(model):
    asked, engine = model
    assert asked.facts.context_window == 8_192
    said = await ask(asked)
    assert said.failure is None
    assert said.message().text.strip()
    pid = engine.pid
    called = await ask(asked, *LIST)
    assert called.failure is None
    message = called.message()
    assert message.calls or message.text or message.stop_reason
    for call in message.calls:
        assert call.name in {"list_dir", "read_file"}
        assert call.arguments is not None
    assert engine.pid == pid


@pytest.mark.timeout(180)
async def test_an_engine_that_died_is_started_again(model):
    import os
    import signal

    asked, engine = model
    await ask(asked)
    pid = engine.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with anyio.move_on_after(5):
        await ask(asked)
    again = await ask(asked)
    assert again.failure is None
    assert engine.pid != pid
