"""A real llama-server with the built-in weights, spoken to on the wires it serves.

It is an ordinary server of other people's making: what a small model says there is not judged, only
that it arrives as a stream, ends properly and is counted. What its server holds it to is judged.
"""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest

import hame
from hame.base.event import CallSettled, Notice, RunEvent
from hame.base.fold import Fold
from hame.base.message import Assistant, Message, Origin, StopReason, Text, User
from hame.base.model import Endpoint, ModelFacts, Quirk, Timeouts
from hame.base.outcome import Done
from hame.base.ports import ModelRequest
from hame.base.run import RunDone
from hame.base.stream import Completed, StreamEvent, TextDelta, UsageReported
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.asking import Line
from hame.llm.client import HttpModel, connect
from hame.llm.codecs import codec
from hame.llm.listing import list_models
from hame.local.machine import engine_installed
from hame.local.weights import find_weights
from hame.net.http import HttpClient
from hame.testing import FakeClock

KEY = "a-key-of-the-test"
BASES = {"openai_chat": "/v1", "openai_responses": "/v1", "anthropic_messages": ""}

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def llama_server(weights_folder: Path) -> Iterator[str]:
    """The address of a running server."""
    if not engine_installed():
        pytest.skip("xllamacpp (the extra `local`) is not installed")
    weights = find_weights(weights_folder)
    assert weights is not None
    config = {
        "model": str(weights.path), "key": KEY, "ctx": 4096, "parallel": 1, "threads": 2,
        "batch_threads": 2, "idle_s": 600,
    }  # fmt: skip
    # Threads that wait must not keep others from their work; see `hame.local.engine`.
    environment = dict(os.environ, OMP_WAIT_POLICY="passive")
    child = subprocess.Popen(
        [sys.executable, "-m", "hame.local.serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env=environment,
    )  # fmt: skip
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(config) + "\n")
        child.stdin.flush()
        yield json.loads(child.stdout.readline())["url"]
        child.stdin.close()


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    client = HttpClient(user_agent="hame-test")
    yield client
    await client.aclose()


@pytest.fixture(params=BASES)
def model(request: pytest.FixtureRequest, llama_server: str, http: HttpClient) -> HttpModel:
    """The server's model on each wire it speaks."""
    facts = ModelFacts(
        backend="llamacpp",
        model="smollm2",
        wire=request.param,
        vendor="llama-server",
        context_window=4096,
        timeouts=Timeouts(first_byte_s=120, idle_s=60),
    )
    endpoint = Endpoint(base_url=llama_server + BASES[request.param], api_key=KEY)
    return connect(facts, endpoint, Line(http=http, clock=FakeClock()))


async def ask(
    model: HttpModel, *messages: Message, tools: tuple[ToolSpec, ...] = ()
) -> tuple[Assistant, list[StreamEvent]]:
    request = ModelRequest(
        system="You are brief.", messages=messages, tools=tools, max_output_tokens=24, session="s"
    )
    fold, told = Fold(), []
    async with model.stream(request) as events:
        async for event in events:
            fold.add(event)
            told.append(event)
    assert fold.failure is None, fold.failure
    facts = model.facts
    return fold.message(Origin(facts.wire, facts.backend, facts.model)), told


def check_counted(answer: Assistant, told: list[StreamEvent]) -> None:
    """It ended properly, once, and every token is counted in one place."""
    assert isinstance(told[-1], Completed)
    assert answer.stop_reason in {StopReason.END_TURN, StopReason.MAX_TOKENS, StopReason.TOOL_USE}
    assert any(isinstance(event, UsageReported) for event in told)
    usage = answer.usage
    assert usage is not None
    assert usage.input_total > 0
    assert 0 < usage.output <= 26
    assert min(usage.input_uncached, usage.cache_read) >= 0


async def test_a_conversation_is_streamed_and_counted(model):
    first = User((Text("Write one short sentence about horses."),))
    said, told = await ask(model, first)
    assert said.text.strip()
    assert sum(isinstance(event, TextDelta) for event in told) >= 2
    check_counted(said, told)
    more, told = await ask(model, first, said, User((Text("And one about carts."),)))
    assert more.text.strip()
    check_counted(more, told)
    assert more.usage is not None
    assert said.usage is not None
    assert more.usage.input_total > said.usage.input_total


async def test_tools_are_taken_and_whatever_comes_of_them_is_whole(model):
    read = ToolSpec(
        name="read_file",
        description="Read a file.",
        effect=Effect.READ,
        arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE),),
    )
    said, told = await ask(model, User((Text("Read the file a.txt."),)), tools=(read,))
    assert said.text.strip() or said.calls
    check_counted(said, told)
    for call in said.calls:
        assert (call.arguments is None) != (call.malformed is None)


async def test_its_model_is_listed(llama_server, http):
    endpoint = Endpoint(base_url=f"{llama_server}/v1", api_key=KEY)
    (listed,) = await list_models(codec("openai_chat"), endpoint, http, FakeClock())
    assert listed.id


async def test_a_model_without_calls_is_tried_and_held_to_single_steps(
    llama_server, http, tmp_path, monkeypatch
):
    """From the trial to a changed file, over chat completions with a grammar made for every step."""
    endpoint = Endpoint(base_url=f"{llama_server}/v1", api_key=KEY)
    (listed,) = await list_models(codec("openai_chat"), endpoint, http, FakeClock())
    monkeypatch.setenv("LLAMACPP_BASE_URL", endpoint.base_url)
    monkeypatch.setenv("LLAMACPP_API_KEY", KEY)
    (tmp_path / "config.txt").write_text("retries=1\nport=8080\n", encoding="utf-8")
    told: list[RunEvent] = []
    async with hame.open(tmp_path, model=f"llamacpp/{listed.id}", mode="auto") as session:
        told += [event async for event in session.prompt("What is the port in config.txt?")]
        assert "8080" in getattr(session.result, "text", "")
        told += [event async for event in session.prompt("Replace 8080 with 9090 in config.txt.")]
        assert session.result == RunDone(text="Done.")
    assert (tmp_path / "config.txt").read_text(encoding="utf-8") == "retries=1\nport=9090\n"
    settled = [(each.tool, type(each.outcome)) for each in told if isinstance(each, CallSettled)]
    assert settled[-1] == ("edit_file", Done)
    assert {outcome for _, outcome in settled} == {Done}
    notices = [each.text for each in told if isinstance(each, Notice)]
    assert len(notices) == 2
    assert "single small steps" in notices[1]


async def test_it_counts_what_it_then_reads(llama_server, http):
    """Rendered and split in two questions: as many tokens as the answer's usage says."""
    quirks = frozenset({Quirk.RENDERS_PROMPTS})
    facts = ModelFacts(
        backend="llamacpp", model="smollm2", wire="openai_chat", quirks=quirks,
        timeouts=Timeouts(first_byte_s=120, idle_s=60),
    )  # fmt: skip
    endpoint = Endpoint(base_url=f"{llama_server}/v1", api_key=KEY)
    model = connect(facts, endpoint, Line(http=http, clock=FakeClock()))
    question = User((Text("Write one short sentence about horses."),))
    request = ModelRequest(system="You are brief.", messages=(question,), max_output_tokens=24)
    counted = await model.count_tokens(request)
    said, _ = await ask(model, question)
    assert said.usage is not None
    assert counted == said.usage.input_total


async def test_giving_up_frees_its_only_slot(llama_server, http):
    """No backend has to be told to stop: hanging up is enough, or the next would wait for minutes."""
    facts = ModelFacts(
        backend="llamacpp", model="smollm2", wire="openai_chat",
        timeouts=Timeouts(first_byte_s=120, idle_s=60),
    )  # fmt: skip
    endpoint = Endpoint(base_url=f"{llama_server}/v1", api_key=KEY)
    model = connect(facts, endpoint, Line(http=http, clock=FakeClock()))
    question = User((Text("Count from one to ten thousand, in words."),))
    long = ModelRequest(system="", messages=(question,), max_output_tokens=3_500)
    async with model.stream(long) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    with anyio.fail_after(20):
        said, _ = await ask(model, User((Text("Say yes."),)))
    assert said.stop_reason is not None
