"""What the user's own servers say about a model, over real HTTP."""

import json

import pytest

from hame.base.errors import ConfigError
from hame.base.model import Effort, Endpoint, ModelFacts, ToolSupport
from hame.llm.serverfacts import WINDOW, ask_about
from hame.net.http import HttpClient
from hame.testing import Reply, ScriptedServer


def page(value: object, *headers: tuple[str, str]) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers=headers)


def facts(wire: str, **more) -> ModelFacts:
    return ModelFacts(backend="b", model="qwen3:8b", wire=wire, local=True, **more)


@pytest.fixture
async def learnt():
    http = HttpClient(user_agent="test")

    async def ask(known: ModelFacts, pages: dict[str, Reply]) -> ModelFacts:
        async with ScriptedServer(models=(), pages=pages) as server:
            base = server.url if known.wire == "ollama" else f"{server.url}/v1"
            return await ask_about(known, Endpoint(base_url=base), http)

    yield ask
    await http.aclose()


def ollama(
    capabilities: list[str], trained: int = 131_072, held: int | None = None
) -> dict[str, Reply]:
    loaded = [{"name": "qwen3:8b", "context_length": held}] if held else []
    info = {"general.architecture": "qwen3", "qwen3.context_length": trained}
    return {
        "/api/show": page({"capabilities": capabilities, "model_info": info}),
        "/api/tags": page({"models": [{"name": "qwen3:8b", "digest": "abc"}]}),
        "/api/ps": page({"models": loaded}),
    }


async def test_ollama_says_what_a_model_can_do(learnt):
    found = await learnt(facts("ollama"), ollama(["completion", "tools", "thinking", "vision"]))
    assert found.tools is ToolSupport.NATIVE
    assert found.images
    assert found.efforts == {Effort.NONE, Effort.MEDIUM}
    assert found.digest == "abc"
    plain = await learnt(facts("ollama"), ollama(["completion"]))
    assert plain.tools is ToolSupport.TEXT
    assert not plain.images
    assert plain.efforts == frozenset()


@pytest.mark.parametrize(
    ("trained", "held", "own", "window"),
    [
        (131_072, None, None, WINDOW),
        (4_096, None, None, 4_096),
        (131_072, 65_536, None, 65_536),
        (131_072, 4_096, None, WINDOW),
        (131_072, 65_536, 100_000, 100_000),
        (40_960, None, 100_000, 40_960),
    ],
)
async def test_the_window_is_fixed_by_user_server_or_model(learnt, trained, held, own, window):
    known = facts("ollama", context_window=own)
    found = await learnt(known, ollama(["completion"], trained, held))
    assert found.context_window == window


async def test_a_model_that_embeds_is_refused(learnt):
    with pytest.raises(ConfigError) as caught:
        await learnt(facts("ollama"), ollama(["embedding"]))
    assert "embeddings" in caught.value.message
    shown = page({"id": "qwen3:8b", "type": "embeddings"})
    listed = page({"data": [{"id": "qwen3:8b"}]})
    with pytest.raises(ConfigError):
        await learnt(facts("openai_chat"), {"/v1/models": listed, "/api/v0/models/qwen3:8b": shown})


async def test_llama_server_says_its_window_and_what_its_template_can_do(learnt):
    listed = page(
        {"data": [{"id": "qwen3:8b", "meta": {"n_ctx_train": 40_960}}]}, ("Server", "llama.cpp")
    )
    props = {
        "default_generation_settings": {"n_ctx": 16_384},
        "chat_template_caps": {"supports_tools": False},
        "modalities": {"vision": True},
        "model_path": "/models/q.gguf",
    }
    found = await learnt(facts("openai_chat"), {"/v1/models": listed, "/props": page(props)})
    assert (found.context_window, found.tools, found.images) == (16_384, ToolSupport.TEXT, True)
    assert found.digest == "/models/q.gguf"


async def test_lm_studio_says_what_is_loaded(learnt):
    listed = page({"data": [{"id": "qwen3:8b"}]})
    shown = {
        "id": "qwen3:8b",
        "type": "vlm",
        "max_context_length": 131_072,
        "loaded_context_length": 8_192,
    }
    found = await learnt(
        facts("openai_chat"), {"/v1/models": listed, "/api/v0/models/qwen3:8b": page(shown)}
    )
    assert (found.context_window, found.images) == (8_192, True)


async def test_vllm_says_its_window_in_its_list(learnt):
    listed = page({"data": [{"id": "qwen3:8b", "owned_by": "vllm", "max_model_len": 32_000}]})
    found = await learnt(facts("openai_chat"), {"/v1/models": listed})
    assert found.context_window == 32_000


@pytest.mark.parametrize("wire", ["ollama", "openai_chat", "gemini"])
@pytest.mark.parametrize(
    "reply", [Reply(status=404), Reply(status=500), Reply(body=b"<html>"), Reply(body=b"[]")]
)
async def test_a_server_that_says_nothing_changes_nothing(learnt, wire, reply):
    pages = dict.fromkeys(("/api/show", "/api/tags", "/api/ps", "/v1/models", "/props"), reply)
    assert await learnt(facts(wire), pages) == facts(wire)
