"""Texts as vectors, on every wire that has them, over real HTTP."""

import json

import pytest

from hame.base.errors import ConfigError, ErrorKind, ModelError
from hame.base.model import Endpoint, ModelFacts
from hame.llm.codecs import codec
from hame.llm.embedding import embed
from hame.net.http import HttpClient
from hame.testing import FakeClock, Reply, ScriptedServer
from hame.testing.reply import status

OPENAI = {
    "data": [{"index": 1, "embedding": [0, 1.5]}, {"index": 0, "embedding": [1, 2]}],
    "usage": {"prompt_tokens": 5},
}
OLLAMA = {"embeddings": [[1, 2], [0, 1.5]], "prompt_eval_count": 5}
GEMINI = {"embeddings": [{"values": [1, 2]}, {"values": [0, 1.5]}]}
PLACES = {
    "openai_chat": ("/v1", "/v1/embeddings"),
    "openai_responses": ("/v1", "/v1/embeddings"),
    "ollama": ("", "/api/embed"),
    "gemini": ("", "/v1beta/models/e:batchEmbedContents"),
}


@pytest.fixture
async def vectors():
    http = HttpClient(user_agent="test")

    async def ask(wire: str, reply: Reply, texts=("one", "two")):
        base, path = PLACES.get(wire, ("", "/"))
        async with ScriptedServer(pages={path: reply}) as server:
            facts = ModelFacts(backend="b", model="e", wire=wire, vendor="Lab")
            end = Endpoint(base_url=f"{server.url}{base}", api_key="k")
            found = await embed(codec(wire), facts, end, texts, http=http, clock=FakeClock())
            return found, server.requests[0]

    yield ask
    await http.aclose()


def page(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode())


@pytest.mark.parametrize(
    ("wire", "said", "counted"),
    [
        ("openai_chat", OPENAI, 5),
        ("openai_responses", OPENAI, 5),
        ("ollama", OLLAMA, 5),
        ("gemini", GEMINI, 0),
    ],
)
async def test_each_text_is_a_vector_in_its_place(vectors, wire, said, counted):
    found, asked = await vectors(wire, page(said))
    assert found.vectors == ((1.0, 2.0), (0.0, 1.5))
    assert found.usage.input_total == counted
    assert "one" in json.dumps(asked.body)
    assert "k" in asked.headers.get("authorization", asked.headers.get("x-goog-api-key", ""))


@pytest.mark.parametrize(
    "said", [{}, {"data": []}, {"data": [{"embedding": ["a"]}]}, {"data": [{"embedding": [1]}]}, []]
)
async def test_what_holds_no_vectors_is_an_error(vectors, said):
    with pytest.raises(ModelError) as caught:
        await vectors("openai_chat", page(said))
    assert caught.value.failure.kind is ErrorKind.PROTOCOL


async def test_a_refusal_is_sorted_like_any_other(vectors):
    with pytest.raises(ModelError) as caught:
        await vectors("ollama", status(401, "no"))
    assert caught.value.failure.kind is ErrorKind.AUTH


async def test_a_wire_without_embeddings_says_so(vectors):
    with pytest.raises(ConfigError, match="Lab makes no embeddings"):
        await vectors("anthropic_messages", page({}))
