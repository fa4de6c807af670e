"""Local servers are known by what they answer, on any port; what only sits on a right port is not believed."""

import json

import pytest

from hame.backends import detect
from hame.backends.detect import identify, look_around, talks
from hame.backends.wsl import windows_host
from hame.net.http import HttpClient
from hame.testing import Reply, ScriptedServer


def page(value: object, *headers: tuple[str, str]) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers=headers)


NOTHING = Reply(status=404, message="nothing here")
OLLAMA = {
    "/api/version": page({"version": "0.30.1"}),
    "/api/tags": page({
        "models": [{"name": "nomic-embed-text"}, {"name": "qwen3:8b"}, {"name": "z"}]
    }),
    "/api/ps": page({"models": [{"name": "z"}]}),
    "/v1/models": page({"data": [{"id": "qwen3:8b", "owned_by": "library"}]}),
}
LM_STUDIO = {
    "/api/v0/models": page({
        "data": [
            {"id": "text-embedding-nomic", "type": "embeddings", "state": "loaded"},
            {"id": "big", "type": "llm", "state": "not-loaded"},
            {"id": "small", "type": "vlm", "state": "loaded"},
        ]
    }),
    "/v1/models": page({"data": [{"id": "big", "owned_by": "organization_owner"}]}),
}
LM_STUDIO_NEW = {
    "/api/v1/models": page({
        "models": [
            {"key": "a", "type": "llm", "loaded_instances": []},
            {"key": "b", "type": "llm", "loaded_instances": [{"id": "b"}]},
        ]
    }),
    "/v1/models": page({"data": []}),
}
LLAMA_SERVER = {"/v1/models": page({"data": [{"id": "m.gguf"}]}, ("Server", "llama.cpp"))}
XLLAMACPP = {"/v1/models": page({"data": [{"id": "m.gguf", "owned_by": "llamacpp"}]})}
VLLM = {
    "/version": page({"version": "0.12.0"}),
    "/v1/models": page({"data": [{"id": "Qwen/Qwen3", "owned_by": "vllm", "max_model_len": 9}]}),
}


@pytest.fixture
async def http():
    client = HttpClient(user_agent="test")
    yield client
    await client.aclose()


def served(pages: dict[str, Reply]) -> ScriptedServer:
    usual = (
        "/api/version",
        "/api/tags",
        "/api/ps",
        "/api/v1/models",
        "/api/v0/models",
        "/v1/models",
    )
    return ScriptedServer(models=(), pages=dict.fromkeys((*usual, "/version"), NOTHING) | pages)


@pytest.mark.parametrize(
    ("pages", "kind", "models"),
    [
        (OLLAMA, "ollama", ("z", "qwen3:8b")),
        (LM_STUDIO, "lmstudio", ("small", "big")),
        (LM_STUDIO_NEW, "lmstudio", ("b", "a")),
        (LLAMA_SERVER, "llamacpp", ("m.gguf",)),
        (XLLAMACPP, "llamacpp", ("m.gguf",)),
        (VLLM, "vllm", ("Qwen/Qwen3",)),
    ],
)
async def test_each_server_is_known_on_any_port(http, pages, kind, models):
    async with served(pages) as server:
        found = await identify(server.url, http)
    assert found is not None
    assert (found.kind, found.models, found.root) == (kind, models, server.url)
    assert all(request.method == "GET" for request in server.requests), (
        "nothing is loaded or pulled"
    )


@pytest.mark.parametrize(
    "pages",
    [
        {},
        {"/api/version": page({"version": "1"})},
        {"/api/tags": page({"models": [{"name": "x"}]})},
        {"/api/version": page({"version": "1"}), "/api/tags": page({"tags": []})},
        {"/api/version": Reply(body=b"<html>"), "/api/tags": Reply(body=b"<html>")},
        {"/v1/models": page({"data": [{"id": "gpt-5", "owned_by": "openai"}]})},
        {"/version": page({"version": "1.2"}), "/v1/models": page({"data": [{"id": "x"}]})},
        {"/api/v0/models": page({"data": [{"id": "x"}]})},
        {"/api/v1/models": page({"models": []})},
        {"/v1/models": page({"data": []}, ("Server", "nginx"))},
        {"/v1/models": page([{"id": "x", "owned_by": "vllm"}]), "/version": page({"version": "1"})},
    ],
)
async def test_something_else_is_not_believed(http, pages):
    async with served(pages) as server:
        assert await identify(server.url, http) is None


async def test_nobody_there_is_nothing_and_is_soon_known(http):
    async with ScriptedServer() as server:
        url = server.url
    assert await look_around([url, "http://127.0.0.1:9"], http) == []


async def test_a_server_that_hangs_does_not_hold_up_the_others(http):
    hanging = {path: Reply(hang_at=-1) for path in ("/api/version", "/api/tags", "/v1/models")}
    async with served(hanging) as silent, served(VLLM) as vllm, served(OLLAMA) as ollama:
        found = await look_around([silent.url, vllm.url, ollama.url], http, patience_s=0.8)
    assert [server.kind for server in found] == ["ollama", "vllm"]


DRIPPING = Reply(body=b'{"models": [' + b" " * 5_000 + b"]}", chunk=1, delay_s=0.01)
ENDLESS = Reply(body=b'{"data": [{"id": "x", "owned_by": "vllm"}' + b" " * 2_000_000 + b"]}")


@pytest.mark.parametrize(
    "page_",
    [
        pytest.param(DRIPPING, id="dripping"),
        pytest.param(ENDLESS, id="too large"),
        pytest.param(Reply(hang_at=10, body=b'{"data": [{"id": "x"}]}'), id="hanging midway"),
        pytest.param(Reply(drop_at=10, body=b'{"data": [{"id": "x"}]}'), id="cut"),
        pytest.param(Reply(body=b"[" * 100_000), id="nested without end"),
        pytest.param(Reply(body=b"<html>", headers=(("Content-Type", "text/html"),)), id="a page"),
    ],
)
async def test_an_odd_server_is_not_believed_and_hides_no_other(http, page_):
    odd = dict.fromkeys((*VLLM, *OLLAMA, *LM_STUDIO), page_)
    async with served(odd) as strange, served(OLLAMA) as ollama:
        found = await look_around([strange.url, ollama.url], http, patience_s=5)
    assert [server.root for server in found] == [ollama.url]


async def test_an_address_that_leads_elsewhere_is_not_followed(http):
    async with served(OLLAMA) as real:
        moved = {
            path: Reply(status=307, headers=(("Location", f"{real.url}{path}"),)) for path in OLLAMA
        }
        async with served(moved) as server:
            assert await identify(server.url, http) is None
        assert real.requests == []


def test_a_page_is_given_up_before_the_look_is_over():
    assert detect._TIMEOUTS.total_s < detect.PATIENCE_S


@pytest.mark.parametrize("path", ["/api/ps", "/v1/models", "/api/v0/models", "/version"])
async def test_a_page_that_never_ends_costs_only_itself(http, path):
    for stuck in (DRIPPING, Reply(hang_at=-1)):
        async with served(OLLAMA | {path: stuck}) as server:
            (found,) = await look_around([server.url], http, patience_s=5)
            assert found.kind == "ollama"
            assert "qwen3:8b" in found.models


@pytest.mark.parametrize("name", ["text-embedding-3", "BGE-M3", "whisper-large", "qwen3-reranker"])
def test_models_that_cannot_talk_are_left_out(name):
    assert not talks(name)
    assert talks("qwen3-coder")


def test_windows_is_found_from_wsl_and_only_there(tmp_path):
    kernel, routes = tmp_path / "osrelease", tmp_path / "route"
    routes.write_text(
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        "eth0\t0010A8C0\t00000000\t0001\t0\t0\t0\t00F0FFFF\t0\t0\t0\n"
        "eth0\t00000000\t0110A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    )
    kernel.write_text("5.15.153.1-microsoft-standard-WSL2\n")
    assert windows_host(kernel, routes) == "192.168.16.1"
    kernel.write_text("6.8.0-generic\n")
    assert windows_host(kernel, routes) is None
    assert windows_host(tmp_path / "none", routes) is None
