"""Tokens that expire, over real HTTP."""

import pytest

from hame.app.clock import SystemClock
from hame.backends.renewing import RenewingModel
from hame.base.errors import ConfigError, ErrorKind
from hame.base.fold import Fold
from hame.base.message import Text, User
from hame.base.model import Endpoint, ModelFacts
from hame.base.ports import ModelRequest
from hame.llm.asking import Line
from hame.llm.client import connect
from hame.net.http import HttpClient
from hame.testing import ScriptedServer, answer
from hame.testing.reply import status

FACTS = ModelFacts(backend="b", model="m", wire="openai_chat", vendor="Lab")
ASKED = ModelRequest(system="", messages=(User((Text("hi"),)),))


@pytest.fixture
async def model_at():
    http = HttpClient(user_agent="t")
    renewed: list[str] = []

    def make(url: str, *tokens: str):
        left = list(tokens)
        line = Line(http=http, clock=SystemClock())

        def at(token: str):
            return connect(FACTS, Endpoint(base_url=f"{url}/v1", api_key=token), line)

        async def renew():
            if not left:
                raise ConfigError("no more tokens")
            renewed.append(left[0])
            return at(left.pop(0)) if left[0] else None

        return RenewingModel(at(left.pop(0)), renew)

    yield make, renewed
    await http.aclose()


async def ask(model) -> Fold:
    fold = Fold()
    async with model.stream(ASKED) as events:
        async for event in events:
            fold.add(event)
    return fold


async def test_a_refused_token_is_fetched_anew_and_the_question_asked_again(model_at):
    make, renewed = model_at
    async with ScriptedServer(
        answer("one"), status(401, "expired"), answer("two"), "three"
    ) as server:
        model = make(server.url, "t1", "t2", "t3")
        assert (await ask(model)).message().text == "one"
        assert (await ask(model)).message().text == "two"
        assert (await ask(model)).message().text == "three"
        keys = [question.headers["authorization"] for question in server.questions]
    assert keys == ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t2"]
    assert renewed == ["t2"]


@pytest.mark.parametrize("tokens", [("t1", ""), ("t1",), ("t1", "t2")])
async def test_a_token_that_is_refused_again_is_a_failure(model_at, tokens):
    make, _ = model_at
    refused = status(401, "no such token")
    async with ScriptedServer(refused, refused) as server:
        fold = await ask(make(server.url, *tokens))
    assert fold.failure is not None
    assert fold.failure.failure.kind is ErrorKind.AUTH
    assert "no such token" in fold.failure.failure.said


async def test_other_failures_renew_nothing(model_at):
    make, renewed = model_at
    async with ScriptedServer(status(400, "strange")) as server:
        fold = await ask(make(server.url, "t1", "t2"))
    assert fold.failure is not None
    assert renewed == []
