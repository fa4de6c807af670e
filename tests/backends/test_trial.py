"""Trying a key before it is kept, against a real server: one verdict for each way it can end."""

import pytest

from hame.app.clock import SystemClock
from hame.backends.served import own_backend, vendor_backend
from hame.backends.trial import Verdict, try_backend
from hame.base.model import Endpoint, ModelFacts, ModelListing, Vendor
from hame.base.settings import ProviderSettings
from hame.llm.catalog import ShippedCatalogue
from hame.llm.codecs import codec
from hame.llm.listing import check_key, list_models
from hame.net.http import HttpClient
from hame.testing import Reply, ScriptedServer

CATALOGUE = ShippedCatalogue()


class Ways:
    """The real ways to a server, without the rest of a runtime."""

    def __init__(self, http: HttpClient) -> None:
        self.http = http

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        return CATALOGUE.facts(vendor, model)

    def connect(self, facts, endpoint):
        raise AssertionError("nothing is asked of a model")

    async def learn(self, vendor: Vendor, facts: ModelFacts, endpoint: Endpoint) -> ModelFacts:
        return facts

    async def list_models(self, vendor: Vendor, endpoint: Endpoint):
        return await list_models(codec(vendor.wire), endpoint, self.http, SystemClock())

    async def check(self, vendor: Vendor, endpoint: Endpoint) -> None:
        url = f"{endpoint.base_url}/{vendor.check_path}"
        await check_key(url, endpoint, self.http, SystemClock())


@pytest.fixture
async def ways():
    http = HttpClient(user_agent="test")
    yield Ways(http)
    await http.aclose()


def lab(url: str, ways: Ways):
    return own_backend("lab", ProviderSettings(base_url=url, api_key="k"), {}, ways)


@pytest.mark.parametrize(
    ("page", "verdict"),
    [
        (Reply(status=401, message="bad key"), Verdict.REJECTED),
        (Reply(status=403, message="no"), Verdict.REJECTED),
        (Reply(status=429, message="slow down"), Verdict.RATE_LIMITED),
        (Reply(status=402, message="no credit"), Verdict.RATE_LIMITED),
        (Reply(status=404, message="nothing here"), Verdict.WRONG_ENDPOINT),
        (Reply(status=500, message="oops"), Verdict.UNCERTAIN),
        (Reply(status=400, message="strange"), Verdict.UNCERTAIN),
        (Reply(status=301, headers=(("Location", "https://b.test"),)), Verdict.WRONG_ENDPOINT),
        (Reply(body=b"<html>a web page</html>"), Verdict.WRONG_ENDPOINT),
        (Reply(body=b'{"data": []}'), Verdict.NO_MODELS),
        (Reply(body=b'{"data": [{"id": "text-embedding-3"}]}'), Verdict.NO_MODELS),
        (Reply(body=b'{"data": [{"id": "qwen3"}]}'), Verdict.VERIFIED),
        (Reply(drop_at=-1), Verdict.UNREACHABLE),
    ],
)
async def test_what_a_server_answers_decides_the_verdict(ways, page, verdict):
    async with ScriptedServer(pages={"/v1/models": page}) as server:
        trial = await try_backend(lab(f"{server.url}/v1", ways))
    assert trial.verdict is verdict
    assert trial.said
    assert verdict.good or trial.hint


async def test_a_server_that_moved_is_told_with_where_to(ways):
    moved = Reply(status=308, headers=(("Location", "https://b.test/v1/models"),))
    async with ScriptedServer(pages={"/v1/models": moved}) as server:
        trial = await try_backend(lab(f"{server.url}/v1", ways))
        assert len(server.requests) == 1
    assert "https://b.test/v1/models" in trial.said
    assert trial.hint == "Set the provider's base URL to where it redirects."


async def test_nobody_there_is_unreachable(ways):
    async with ScriptedServer() as server:
        url = server.url
    assert (await try_backend(lab(f"{url}/v1", ways))).verdict is Verdict.UNREACHABLE


async def test_a_list_that_everybody_may_read_does_not_make_a_key_good(ways):
    vendor = CATALOGUE.vendor("openrouter")
    assert vendor is not None
    listed = (ModelListing(id="a/b"),)
    pages = {"/api/v1/key": Reply(status=401, message="no such key")}
    async with ScriptedServer(models=listed, pages=pages) as server:
        own = ProviderSettings(base_url=f"{server.url}/api/v1", api_key="wrong")
        trial = await try_backend(vendor_backend(vendor, {}, ways, own))
        assert trial.verdict is Verdict.REJECTED
        assert server.requests[0].headers["authorization"] == "Bearer wrong"


async def test_a_service_without_a_list_is_not_called_verified(ways):
    vendor = CATALOGUE.vendor("vertex")
    assert vendor is not None
    trial = await try_backend(vendor_backend(vendor, {"VERTEX_API_KEY": "k"}, ways))
    assert trial.verdict is Verdict.UNCERTAIN
