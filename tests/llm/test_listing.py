"""Asking servers what they serve."""

import pytest

from hame.base.errors import ErrorKind, ModelError
from hame.base.model import Endpoint, ModelListing
from hame.llm.codecs import codec
from hame.llm.listing import list_models
from hame.net.http import HttpClient
from hame.testing import FakeClock, Reply, ScriptedServer


@pytest.fixture
async def http():
    client = HttpClient(user_agent="hame-test")
    yield client
    await client.aclose()


async def ask(http: HttpClient, url: str):
    endpoint = Endpoint(base_url=f"{url}/v1", api_key="k")
    return await list_models(codec("openai_chat"), endpoint, http, FakeClock(), provider="Acme")


async def test_a_servers_list_is_given_as_it_is(http):
    models = (ModelListing(id="b"), ModelListing(id="text-embedding"), ModelListing(id="a"))
    async with ScriptedServer(models=models) as server:
        listed = await ask(http, server.url)
    assert [model.id for model in listed] == ["b", "text-embedding", "a"]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=401, body=b""), ErrorKind.AUTH),
        (Reply(status=404, body=b""), ErrorKind.NOT_FOUND),
        (Reply(status=302, headers=(("location", "/x"),)), ErrorKind.NOT_FOUND),
        (Reply(body=b"<html>"), ErrorKind.PROTOCOL),
        (Reply(body=b'{"x":1}'), ErrorKind.PROTOCOL),
    ],
)
async def test_a_server_that_does_not_list_says_why(http, reply, kind):
    async with ScriptedServer(pages={"/v1/models": reply}) as server:
        with pytest.raises(ModelError) as caught:
            await ask(http, server.url)
    assert caught.value.failure.kind is kind
    assert "Acme" in caught.value.failure.message


async def test_a_server_that_is_not_there_is_told(http):
    async with ScriptedServer() as server:
        url = server.url
    with pytest.raises(ModelError) as caught:
        await ask(http, url)
    assert caught.value.failure.kind is ErrorKind.NETWORK


async def test_a_list_without_end_is_refused(http, monkeypatch):
    monkeypatch.setattr("hame.llm.listing._LIST_BYTES", 10)
    page = Reply(body=b'{"data":[{"id":"abcdef"}]}')
    async with ScriptedServer(pages={"/v1/models": page}) as server:
        with pytest.raises(ModelError) as caught:
            await ask(http, server.url)
    assert caught.value.failure.kind is ErrorKind.PROTOCOL
