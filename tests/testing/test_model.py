"""The scripted model, and the real one, against what every model does."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

import pytest

from contracts.model import ModelContract, Speaker, ask, request
from hame.base.errors import ErrorKind, Failure
from hame.base.message import Assistant, StopReason, Text, User
from hame.base.model import Endpoint, ModelFacts
from hame.base.ports import Model, ModelRequest
from hame.base.stream import Completed, Failed, RetryScheduled, TextDelta
from hame.llm.asking import Line
from hame.llm.client import connect
from hame.net.http import HttpClient
from hame.testing import HANG, FakeClock, ScriptedModel, ScriptedServer, answer, call
from hame.testing.reply import drop, hang_mid
from hame.testing.script import words

BROKEN = Failure(
    kind=ErrorKind.NETWORK, message="The connection broke.", retryable=True, mid_stream=True
)


class ScriptedSpeaker:
    """Scripted models."""

    def __init__(self) -> None:
        self.model = ScriptedModel()

    def saying(self, *answers: Assistant) -> AbstractAsyncContextManager[Model]:
        return self._with(ScriptedModel(*answers))

    def breaking(self, said: str) -> AbstractAsyncContextManager[Model]:
        return self._with(ScriptedModel((*map(TextDelta, words(said)), Failed(BROKEN))))

    def hanging(self, said: str) -> AbstractAsyncContextManager[Model]:
        return self._with(ScriptedModel((*map(TextDelta, words(said)), HANG)))

    async def was_left(self) -> bool:
        return self.model.abandoned == 1

    def _with(self, model: ScriptedModel) -> AbstractAsyncContextManager[Model]:
        self.model = model
        return nullcontext(model)


class TestScriptedModelIsAModel(ModelContract):
    @pytest.fixture
    def speaker(self) -> Speaker:
        return ScriptedSpeaker()


VERSIONS = {
    "anthropic_messages": "",
    "gemini": "/v1beta",
    "ollama": "",
    "openai_chat": "/v1",
    "openai_responses": "/v1",
}
"""What stands in a base URL of each wire."""


class HttpSpeaker:
    """The real client and a scripted server."""

    def __init__(self, wire: str) -> None:
        self.wire = wire
        self.server = ScriptedServer()

    def saying(self, *answers: Assistant) -> AbstractAsyncContextManager[Model]:
        return self._with(ScriptedServer(*answers))

    def breaking(self, said: str) -> AbstractAsyncContextManager[Model]:
        return self._with(ScriptedServer(drop(answer(said + TAIL), TAIL)))

    def hanging(self, said: str) -> AbstractAsyncContextManager[Model]:
        return self._with(ScriptedServer(hang_mid(answer(said + TAIL), TAIL)))

    async def was_left(self) -> bool:
        await self.server.over(1)
        return self.server.requests[0].abandoned

    @asynccontextmanager
    async def _with(self, server: ScriptedServer) -> AsyncGenerator[Model]:
        self.server = server
        async with server:
            http = HttpClient(user_agent="hame-tests")
            facts = ModelFacts(backend="b", model="m", wire=self.wire, vendor="Vendor")
            endpoint = Endpoint(base_url=server.url + VERSIONS[self.wire], api_key="k")
            try:
                yield connect(facts, endpoint, Line(http=http, clock=FakeClock()))
            finally:
                await http.aclose()


TAIL = " unsaid"


@pytest.fixture(params=sorted(VERSIONS))
def wire(request: pytest.FixtureRequest) -> str:
    return request.param


class TestHttpModelIsAModel(ModelContract):
    @pytest.fixture
    def speaker(self, wire: str) -> Speaker:
        return HttpSpeaker(wire)


# ------------------------------------------------------------ what a script can do


async def test_ids_are_given_to_calls_when_they_are_played() -> None:
    model = ScriptedModel(answer(call("a"), call("b")), answer("then", call("c")))
    ids = [[each.id for each in (await ask(model, request()))[1].calls] for _ in range(2)]
    assert ids == [["call_1_0", "call_1_1"], ["call_2_0"]]


async def test_what_was_asked_can_be_looked_at() -> None:
    model = ScriptedModel(answer("a"))
    question = request()
    await ask(model, question)
    assert model.requests == [question]


async def test_a_step_may_be_made_from_the_request() -> None:
    def echo(asked: ModelRequest) -> Assistant:
        last = asked.messages[-1]
        return answer(f"You said: {last.words}" if isinstance(last, User) else "?")

    _, message = await ask(ScriptedModel(echo), request(User((Text("ping"),))))
    assert message.text == "You said: ping"


async def test_a_step_may_be_a_failure() -> None:
    events, _ = await ask(ScriptedModel(BROKEN), request())
    assert events == [Failed(BROKEN)]


async def test_a_step_may_be_any_events() -> None:
    stream = [RetryScheduled(BROKEN, 1.0, 1), TextDelta("a"), Completed(StopReason.END_TURN)]
    events, _ = await ask(ScriptedModel(stream), request())
    assert events == stream


async def test_asking_more_often_than_scripted_is_an_error_of_the_test() -> None:
    model = ScriptedModel(answer("a"))
    await ask(model, request())
    with pytest.raises(AssertionError, match="request 2 of a script of 1 steps"):
        await ask(model, request())


async def test_steps_that_were_not_played_are_an_error_of_the_test() -> None:
    model = ScriptedModel(answer("a"), answer("b"))
    with pytest.raises(AssertionError, match="2 of 2 steps were not asked for"):
        model.finish()
    await ask(model, request())
    await ask(model, request())
    model.finish()
    assert model.abandoned == 0
