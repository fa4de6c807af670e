"""A vendor nobody made code for, and a backend nobody knew of: one row, one class."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
import pytest
from msgspec.structs import replace

from hame.app.clock import SystemClock
from hame.backends.registry import Registry
from hame.backends.router import Router
from hame.backends.served import ServedBackend, vendor_backend
from hame.base import capability
from hame.base.capability import (
    CachesContext,
    Cancellable,
    ChecksKeys,
    Configurable,
    ConstrainsOutput,
    CountsTokens,
    Embeds,
    LearnsModels,
    NativeTools,
    SignsIn,
    WritesRequests,
)
from hame.base.errors import ConfigError
from hame.base.fold import Fold
from hame.base.json import get_objects
from hame.base.message import Assistant, StopReason, Text, User
from hame.base.model import ModelFacts, ModelListing
from hame.base.ports import ListsModels, Model, ModelRequest
from hame.base.stream import Completed, StreamEvent, TextDelta
from hame.llm.asking import Line
from hame.llm.catalog import ShippedCatalogue
from hame.llm.client import connect
from hame.local.backend import LocalBackend
from hame.net.http import HttpClient
from hame.testing import ScriptedServer, answer

ASKED = ModelRequest(
    system="", messages=(User((Text("one"),)), Assistant((Text("two"),)), User((Text("three"),)))
)


async def said(model: Model) -> str:
    fold = Fold()
    async with model.stream(ASKED) as events:
        async for event in events:
            fold.add(event)
    assert fold.failure is None
    return fold.message().text


class Ways:
    """The ways to a server that the application gives a backend."""

    def __init__(self, catalogue: ShippedCatalogue, http: HttpClient) -> None:
        self.catalogue, self.http = catalogue, http

    def facts(self, vendor, model: str) -> ModelFacts:
        return self.catalogue.facts(vendor, model)

    def connect(self, facts, endpoint) -> Model:
        return connect(facts, endpoint, Line(http=self.http, clock=SystemClock()))

    async def list_models(self, vendor, endpoint) -> Sequence[ModelListing]:
        return ()

    async def learn(self, vendor, facts, endpoint) -> ModelFacts:
        return facts

    async def check(self, vendor, endpoint) -> None: ...

    async def count(self, facts, endpoint, request) -> int | None:
        return None

    async def embed(self, facts, endpoint, texts) -> capability.Embeddings:
        raise AssertionError("nothing is embedded")


async def test_a_vendor_is_one_row_of_the_catalogue(tmp_path):
    async with ScriptedServer(answer("Hello from Acme.")) as server:
        row = {
            "vendor": {
                "id": "acme",
                "display_name": "Acme",
                "wire": "openai_chat",
                "base_url": f"{server.url}/v1",
                "key_env": ["ACME_KEY"],
                "default_model": "roadrunner-1",
            }
        }
        model = {
            "model": "roadrunner-1",
            "context_window": 9_000,
            "price": {"input": 1, "output": 2},
        }
        (tmp_path / "acme.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, (row, model))))
        catalogue, http = ShippedCatalogue(folder=str(tmp_path)), HttpClient(user_agent="t")
        vendor = catalogue.vendor("acme")
        assert vendor is not None
        assert catalogue.vendors() == ["acme"]
        registry = Registry()
        registry.register(vendor_backend(vendor, {"ACME_KEY": "k"}, Ways(catalogue, http)))
        model = await Router(registry).open(None)
        assert await said(model) == "Hello from Acme."
        assert model.facts.context_window == 9_000
        assert server.questions[0].headers["authorization"] == "Bearer k"
        roles = [message["role"] for message in get_objects(server.questions[0].body, "messages")]
        assert roles == ["user", "assistant", "user"], "the whole conversation goes along"
        await http.aclose()


class Parrot:
    """A backend and its one model in one class, with three capabilities: it lists, signs in and learns."""

    id = "parrot"
    display_name = "Parrot"
    signed_in = False
    facts = ModelFacts(backend="parrot", model="", wire="parrot")

    def default_model(self) -> str | None:
        return None

    def ready(self) -> bool:
        return True

    def chosen(self) -> bool:
        return True

    def open(self, model: str) -> Model:
        if not self.signed_in or model != self.facts.model:
            raise ConfigError("nobody is signed in", hint="parrot login")
        return self

    async def list_models(self) -> Sequence[ModelListing]:
        return [ModelListing(id="polly")]

    async def sign_in(self) -> None:
        self.signed_in = True

    async def learn(self, model: str) -> ModelFacts:
        self.facts = replace(self.facts, model=model)
        return self.facts

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        async def events() -> AsyncIterator[StreamEvent]:
            words = [block.text for message in request.messages for block in message.content]
            yield TextDelta(" ".join(words))
            yield Completed(StopReason.END_TURN)

        yield events()


async def test_a_backend_is_one_class():
    """It is listed to learn what it serves, signed in and asked about that model, all by itself."""
    registry = Registry()
    registry.register(Parrot())
    assert await said(await Router(registry).open(None)) == "one two three"


async def test_a_backend_that_comes_late_is_found_and_one_that_goes_is_missed_by_name():
    registry = Registry()
    router = Router(registry)
    with pytest.raises(ConfigError):
        await router.open("parrot")
    parrot = Parrot()
    registry.register(parrot)
    assert (await router.open("parrot")).facts.name == "parrot/polly"
    registry.unregister(parrot)
    with pytest.raises(ConfigError) as caught:
        await router.open("parrot/polly")
    assert "'parrot'" in caught.value.message


CAPABILITIES = (
    ListsModels, SignsIn, LearnsModels, ChecksKeys, NativeTools, ConstrainsOutput, CountsTokens,
    CachesContext, Embeds, Configurable, Cancellable,
)  # fmt: skip


@pytest.mark.parametrize(
    ("backend", "capabilities"),
    [
        # Closing the connection ends an answer of every server: none has to be told.
        (ServedBackend, {*CAPABILITIES} - {Cancellable}),
        (LocalBackend, {LearnsModels, NativeTools, ConstrainsOutput}),
        (Parrot, {ListsModels, SignsIn, LearnsModels}),
    ],
)
def test_what_each_backend_can_do_is_declared(backend, capabilities):
    for each in CAPABILITIES:
        assert issubclass(backend, each) is (each in capabilities), each


def test_no_capability_is_left_out_here():
    declared = {
        each
        for each in vars(capability).values()
        if getattr(each, "_is_protocol", False) and each.__module__ == capability.__name__
    }
    # A model writes requests, not its backend.
    assert declared == {*CAPABILITIES} - {ListsModels} | {WritesRequests}
