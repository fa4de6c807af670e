"""Backends of other people's making: whatever one declares is used, and whatever it lacks loses nothing."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import combinations
from typing import Any

import anyio
import pytest

from hame.app import fitting
from hame.app.clock import SystemClock
from hame.app.models import Models
from hame.app.sheet import settings_of
from hame.base.capability import BackendSetting, Embeddings
from hame.base.errors import ConfigError
from hame.base.fold import Fold
from hame.base.message import Assistant, Message, StopReason, Text, ToolResult, ToolResults, User
from hame.base.model import Constraint, ModelFacts, ToolSupport
from hame.base.ports import Model, ModelRequest
from hame.base.settings import Settings
from hame.base.stream import Completed, StreamEvent, TextDelta
from hame.base.tool import ToolSpec
from hame.config.places import find_places
from hame.testing import call
from hame.tools import builtin_tools
from hame.workspace.index import LocalIndex
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses

TOOLS: tuple[ToolSpec, ...] = tuple(t.spec for t in builtin_tools() if t.spec.advertised)
QUESTION = User((Text("What is the port in config.txt?"),))
HISTORY: tuple[Message, ...] = (
    QUESTION,
    Assistant((Text("I look."), call("read_file", path="config.txt"))),
    ToolResults((ToolResult("", "read_file", (Text("port=8080"),)),)),
)


class Voice:
    """Says what it was given, and keeps what it was asked."""

    def __init__(self, facts: ModelFacts, says: str) -> None:
        self.facts, self.says = facts, says
        self.asked: list[ModelRequest] = []

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        self.asked.append(request)

        async def events() -> AsyncIterator[StreamEvent]:
            for word in self.says.splitlines(keepends=True):
                await anyio.lowlevel.checkpoint()
                yield TextDelta(word)
            yield Completed(StopReason.END_TURN)

        yield events()


class Guest:
    """The least that a backend is."""

    id = "guest"
    display_name = "Guest"

    def __init__(self, says: str = "ok", support: ToolSupport = ToolSupport.NATIVE) -> None:
        facts = ModelFacts(backend="guest", model="voice", wire="guest", tools=support)
        self.voice = Voice(facts, says)
        self.done: list[str] = []

    def default_model(self) -> str:
        return "voice"

    def ready(self) -> bool:
        return True

    def chosen(self) -> bool:
        return True

    def open(self, model: str) -> Model:
        return self.voice


class TakesTools:
    def takes_tools(self, model: str) -> bool:
        return True


class HoldsToSchema:
    def constraints(self, model: str) -> Sequence[Constraint]:
        return (Constraint.SCHEMA,)


class HoldsToLines:
    def constraints(self, model: str) -> Sequence[Constraint]:
        return (Constraint.GBNF,)


class Stops:
    done: list[str]

    async def stop(self) -> None:
        self.done.append("stopped")


class Counts:
    async def count_tokens(self, model: str, request: ModelRequest) -> int | None:
        return 1_000 + len(request.messages)


class Caches:
    done: list[str]

    async def release(self) -> None:
        self.done.append("released")


class Vectors:
    async def embed(self, model: str, texts: Sequence[str]) -> Embeddings:
        return Embeddings(vectors=tuple((float(len(text)),) for text in texts))


class HasSettings:
    def settings(self) -> Sequence[BackendSetting]:
        return [BackendSetting(name="GUEST_COLOUR", value="red", about="What colour it is.")]


CAPABILITIES = (TakesTools, HoldsToSchema, Stops, Counts, Caches, Vectors, HasSettings)


def guest(*abilities: type, **more: Any) -> Any:
    return type("Able", (*abilities, Guest), {})(**more)


@pytest.fixture
async def models(tmp_path):
    (tmp_path / "config.txt").write_text("port=8080\n", encoding="utf-8")
    environment = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    workspace = open_workspace(str(tmp_path), home=str(tmp_path / "home"))
    made = Models(
        Settings(), environment, find_places(environment), index=LocalIndex(workspace),
        processes=LocalProcesses(environment), clock=SystemClock(),
    )  # fmt: skip
    yield made
    await made.close()


async def ask(model: Model, *messages: Message, tools: tuple[ToolSpec, ...] = TOOLS) -> Assistant:
    fold = Fold()
    request = ModelRequest(system="Be kind.", messages=messages, tools=tools)
    async with model.stream(request) as events:
        async for event in events:
            fold.add(event)
    assert fold.failure is None
    return fold.message()


def calls(answer: Assistant) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in answer.calls]


SETS = [some for size in range(4) for some in combinations(CAPABILITIES, size)]


@pytest.mark.parametrize("abilities", SETS, ids=lambda some: "+".join(a.__name__ for a in some))
async def test_whatever_a_backend_lacks_the_whole_conversation_and_all_tools_reach_it(
    models, abilities
):
    backend = guest(*abilities)
    models.registry.register(backend)
    await ask(await models.open("guest/voice"), *HISTORY)
    (asked,) = backend.voice.asked
    told = asked.system + json.dumps([*map(repr, asked.messages)])
    assert "Be kind." in told
    for words in ("What is the port", "I look.", "config.txt", "port=8080"):
        assert words in told
    for tool in TOOLS:
        assert tool in asked.tools or f'"name":"{tool.name}"' in asked.system
    assert bool(asked.tools) is (TakesTools in abilities)
    assert (asked.shape is not None) is (HoldsToSchema in abilities and TakesTools not in abilities)


async def test_calls_are_read_out_of_the_words_of_one_that_takes_no_tools(models):
    printed = (
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "config.txt"}}\n</tool_call>'
    )
    models.registry.register(guest(says=printed))
    answer = await ask(await models.open("guest/voice"), QUESTION)
    assert calls(answer) == [("read_file", {"path": "config.txt"})]
    assert answer.text == ""


async def test_one_that_holds_its_answers_is_given_a_schema_of_what_exists(models):
    says = '{"tool": "read_file", "arguments": {"path": "config.txt"}}'
    backend = guest(HoldsToSchema, says=says)
    models.registry.register(backend)
    answer = await ask(await models.open("guest"), QUESTION)
    assert calls(answer) == [("read_file", {"path": "config.txt"})]
    assert "config.txt" in json.dumps(backend.voice.asked[0].shape)


async def test_one_that_holds_its_answers_to_lines_takes_single_steps(models):
    backend = guest(HoldsToLines, says="read config.txt", support=ToolSupport.MASKED)
    models.registry.register(backend)
    answer = await ask(await models.open("guest"), QUESTION)
    assert calls(answer) == [("read_file", {"path": "config.txt"})]
    (asked,) = backend.voice.asked
    assert "read config.txt" in {line.start + end for line in asked.lines for end in line.ends}
    assert asked.temperature == 0.0


async def test_one_that_takes_tools_has_them_as_they_are(models):
    backend = guest(TakesTools)
    models.registry.register(backend)
    model = await models.open("guest")
    assert model is backend.voice
    await ask(model, *HISTORY)
    assert backend.voice.asked[0].messages == HISTORY


async def test_one_that_goes_on_working_is_stopped_when_an_answer_is_left(models):
    backend = guest(TakesTools, Stops, says="one\ntwo\nthree\n")
    models.registry.register(backend)
    model = await models.open("guest")
    await ask(model, QUESTION)
    assert backend.done == []
    async with model.stream(ModelRequest(system="", messages=(QUESTION,))) as events:
        async for _ in events:
            break
    assert backend.done == ["stopped"]
    with anyio.CancelScope() as scope:
        async with model.stream(ModelRequest(system="", messages=(QUESTION,))) as events:
            async for _ in events:
                scope.cancel()
                await anyio.sleep(60)
    assert backend.done == ["stopped"] * 2


class StopsBadly:
    async def stop(self) -> None:
        raise RuntimeError("no such job")


class StopsNever:
    async def stop(self) -> None:
        await anyio.sleep_forever()


@pytest.mark.parametrize(
    ("ability", "words"), [(StopsBadly, "no such job"), (StopsNever, "did not stop")]
)
async def test_one_that_cannot_be_stopped_is_told_of_and_breaks_nothing(
    models, monkeypatch, ability, words
):
    monkeypatch.setattr(fitting, "STOPPING_S", 0.05)
    told: list[str] = []
    models.speak_through(told.append)
    models.registry.register(guest(TakesTools, ability))
    model = await models.open("guest")
    async with model.stream(ModelRequest(system="", messages=(QUESTION,))):
        pass
    assert words in told[-1]


async def test_one_that_counts_is_asked_and_one_that_does_not_is_not(models):
    facts = ModelFacts(backend="guest", model="voice", wire="guest")
    request = ModelRequest(system="", messages=HISTORY)
    assert await models.count_tokens(facts, request) is None
    models.registry.register(guest())
    assert await models.count_tokens(facts, request) is None
    models.registry.register(guest(Counts))
    assert await models.count_tokens(facts, request) == 1_003


async def test_one_that_stores_for_hire_lets_go_at_the_end(models):
    backend = guest(Caches)
    models.registry.register(backend)
    await models.close()
    assert backend.done == ["released"]


async def test_one_that_cannot_let_go_does_not_hold_up_the_end(models, monkeypatch):
    class Sticky:
        async def release(self) -> None:
            await anyio.sleep_forever()

    class Broken:
        async def release(self) -> None:
            raise RuntimeError("no")

    monkeypatch.setattr(fitting, "STOPPING_S", 0.05)
    for ability in (Sticky, Broken):
        models.registry.register(guest(ability))
        with anyio.fail_after(5):
            await models.close()


async def test_one_that_embeds_is_asked_by_name_and_no_other_takes_its_place(models):
    models.registry.register(guest(Vectors))
    found = await models.make_vectors("guest/voice", ["one", "three"])
    assert found.vectors == ((3.0,), (5.0,))
    models.registry.register(guest())
    with pytest.raises(ConfigError, match="Guest makes no embeddings"):
        await models.make_vectors("guest/voice", ["one"])


async def test_one_with_settings_shows_them(models):
    models.registry.register(guest(HasSettings))
    (shown,) = settings_of(models, "guest")
    assert (shown.name, shown.value, shown.about) == ("GUEST_COLOUR", "red", "What colour it is.")
    models.registry.register(guest())
    assert settings_of(models, "guest") == ()
    names = [one.name for one in settings_of(models, "ollama")]
    assert "providers.ollama.num_gpu" in names
    assert all(one.about for one in settings_of(models, "ollama"))
