"""The engine with its real child process, and with a child that plays false."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from hame.base.errors import ErrorKind, LocalModelError, ModelError
from hame.base.json import dump_bytes
from hame.base.lines import gbnf
from hame.base.model import Timeouts
from hame.base.ports import HttpRequest, HttpResponse
from hame.local.engine import LocalEngine
from hame.local.grammar import lark
from hame.local.move import Move, read_line
from hame.local.weights import find_weights
from hame.net.http import HttpClient
from hame.workspace.process import LocalProcesses

MOVES = (Move("list", "list_dir", choices=("src", "docs")), Move("show"))


async def test_it_completes_a_prompt_and_counts_the_tokens(engine: LocalEngine) -> None:
    completion = await engine.complete("The sun rises in the", most_tokens=4)
    assert completion.text
    assert completion.output_tokens == 4
    assert not completion.whole


async def test_the_likeliest_first_tokens_come_with_falling_probabilities(
    engine: LocalEngine,
) -> None:
    completion = await engine.complete("The sun rises in the", likeliest=20)
    scores = [score for _, score in completion.likeliest]
    assert len(scores) == 20
    assert scores == sorted(scores, reverse=True)


def trie(moves: Sequence[Move]) -> str:
    return gbnf([move.lines for move in moves])


@pytest.mark.parametrize("dialect", [lark, trie])
async def test_both_dialects_of_a_grammar_bind_the_model(
    engine: LocalEngine, dialect: Callable[[Sequence[Move]], str]
) -> None:
    completion = await engine.complete("Say anything.", grammar=dialect(MOVES), most_tokens=40)
    assert completion.whole
    assert read_line(completion.text, MOVES) is not None


async def test_a_prompt_seen_before_comes_out_of_the_cache(engine: LocalEngine) -> None:
    prompt = "A long sentence about nothing in particular. " * 20
    first = await engine.complete(prompt, most_tokens=2)
    again = await engine.complete(prompt, most_tokens=2)
    assert first.cached_tokens < first.prompt_tokens
    assert again.cached_tokens > again.prompt_tokens


async def test_a_prompt_beyond_the_context_is_an_overflow(engine: LocalEngine) -> None:
    with pytest.raises(ModelError) as caught:
        await engine.complete("word " * 6000, most_tokens=2)
    assert caught.value.failure.kind is ErrorKind.CONTEXT_OVERFLOW
    assert caught.value.failure.hint


async def test_a_child_that_was_killed_is_started_once_more(engine: LocalEngine) -> None:
    await engine.complete("One", most_tokens=1)
    first = engine.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    completion = await engine.complete("Two", most_tokens=1)
    assert completion.output_tokens == 1
    assert engine.pid != first


async def test_closing_ends_the_child(engine: LocalEngine) -> None:
    await engine.complete("One", most_tokens=1)
    pid = engine.pid
    assert pid is not None
    await engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    await engine.close()


async def test_leaving_early_frees_the_slot(engine: LocalEngine) -> None:
    await engine.complete("One", most_tokens=1)
    with anyio.fail_after(30):
        for _ in range(4):
            with anyio.move_on_after(0.2) as scope:
                await engine.complete(
                    "Count: 1 2 3 4 5", grammar="root ::= [0-9 ]+", most_tokens=3000
                )
            assert scope.cancelled_caught
        completion = await engine.complete("One", most_tokens=1)
    assert completion.output_tokens == 1


async def test_it_ends_by_itself_after_idling_and_comes_back(
    weights_folder: Path, processes: LocalProcesses, http: HttpClient
) -> None:
    engine = LocalEngine(weights_folder, processes, http, idle_s=0.3)
    try:
        await engine.complete("One", most_tokens=1)
        first = engine.pid
        assert first is not None
        with anyio.fail_after(20):
            await anyio.wait_readable(os.pidfd_open(first))
        assert (await engine.complete("Two", most_tokens=1)).output_tokens == 1
        assert engine.pid != first
    finally:
        await engine.close()


async def test_nobody_without_the_key_gets_an_answer(engine: LocalEngine, http: HttpClient) -> None:
    await engine.complete("One", most_tokens=1)
    assert engine.url is not None
    request = HttpRequest(
        method="POST", url=f"{engine.url}/completion", body=b'{"prompt":"x","n_predict":1}'
    )
    async with http.send(request, Timeouts()) as response:
        assert response.status == 401


def test_the_child_dies_with_its_parent(weights_folder: Path) -> None:
    """The parent is killed without a chance to clean up."""
    weights = find_weights(weights_folder)
    assert weights is not None
    config = {
        "model": str(weights.path), "key": "k", "ctx": 512, "parallel": 1,
        "threads": 1, "batch_threads": 1, "idle_s": 600,
    }  # fmt: skip
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, json.dumps(config)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert "url" in json.loads(parent.stdout.readline())
    watch = os.pidfd_open(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    ended, _, _ = select.select([watch], [], [], 10)
    os.close(watch)
    assert ended, "the child outlived its parent"


_PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-P", "-m", "hame.local.serve"], stdin=-1, stdout=-1,
                         start_new_session=True)
print(child.pid, flush=True)
child.stdin.write(sys.argv[1].encode() + b"\\n")
child.stdin.flush()
print(child.stdout.readline().decode(), end="", flush=True)
child.wait()
"""


class FalseHttp:
    """A server that answers everything with the same words, whatever the grammar says."""

    def __init__(self, text: str) -> None:
        self._body = dump_bytes({"content": text, "stop_type": "eos"})

    @asynccontextmanager
    async def send(self, request: HttpRequest, timeouts: Timeouts) -> AsyncGenerator[HttpResponse]:
        yield _Whole(self._body)


class _Whole:
    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body


async def test_an_engine_that_passes_over_grammars_is_not_used(
    weights_folder: Path, processes: LocalProcesses
) -> None:
    engine = LocalEngine(weights_folder, processes, FalseHttp("Once upon a time"))
    with pytest.raises(LocalModelError, match="grammar") as caught:
        await engine.complete("Hello", most_tokens=1)
    assert "pip install" in caught.value.hint
    assert engine.pid is None


async def test_without_weights_the_remedy_is_named(
    tmp_path: Path, processes: LocalProcesses
) -> None:
    engine = LocalEngine(tmp_path, processes, FalseHttp("canary"))
    with pytest.raises(LocalModelError, match="weights") as caught:
        await engine.complete("Hello", most_tokens=1)
    assert caught.value.hint == "hame local setup"


async def test_a_broken_weights_file_is_said_with_a_remedy(
    tmp_path: Path, processes: LocalProcesses, weights_folder: Path
) -> None:
    weights = find_weights(weights_folder)
    assert weights is not None
    broken = tmp_path / weights.path.relative_to(weights_folder)
    broken.parent.mkdir(parents=True)
    with broken.open("wb") as file:
        file.truncate(weights.path.stat().st_size)
    engine = LocalEngine(tmp_path, processes, FalseHttp("canary"))
    with pytest.raises(LocalModelError, match="could not be loaded") as caught:
        await engine.complete("Hello", most_tokens=1)
    assert "hame local setup" in caught.value.hint


async def test_a_file_of_the_users_that_is_cut_short_is_named(
    tmp_path: Path, processes: LocalProcesses, weights_folder: Path
) -> None:
    weights = find_weights(weights_folder)
    assert weights is not None
    cut = tmp_path / "mine.gguf"
    with weights.path.open("rb") as file:
        cut.write_bytes(file.read(8 << 20))
    engine = LocalEngine(tmp_path, processes, FalseHttp("canary"), file=cut)
    with pytest.raises(LocalModelError, match=r"mine\.gguf could not be loaded") as caught:
        async with engine.serving():
            pass
    assert "cut short" in caught.value.hint
    assert "local setup" not in caught.value.hint
