"""Which model a name means, and what is said when it means none."""

from collections.abc import Sequence
from typing import Any

import pytest

from hame.backends.registry import Registry
from hame.backends.router import Router
from hame.backends.served import own_backend, vendor_backend
from hame.base.capability import Embeddings
from hame.base.errors import ConfigError, ErrorKind, Failure, ModelError
from hame.base.model import Endpoint, ModelFacts, ModelListing, Vendor
from hame.base.ports import ModelRequest
from hame.base.settings import ProviderSettings
from hame.llm.catalog import ShippedCatalogue

CATALOGUE = ShippedCatalogue()


class Opened:
    """Stands for a model: it only knows what it was opened with."""

    def __init__(self, facts: ModelFacts, endpoint: Endpoint) -> None:
        self.facts = facts
        self.endpoint = endpoint


class Reach:
    """Connections that go nowhere; servers list what the test says."""

    def __init__(self, listed: dict[str, Sequence[str]] | None = None) -> None:
        self.listed = listed or {}

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        return CATALOGUE.facts(vendor, model)

    def connect(self, facts: ModelFacts, endpoint: Endpoint) -> Any:
        return Opened(facts, endpoint)

    async def list_models(self, vendor: Vendor, endpoint: Endpoint) -> Sequence[ModelListing]:
        if vendor.id not in self.listed:
            failure = Failure(kind=ErrorKind.NETWORK, message="Nothing is there.", hint="Start it.")
            raise ModelError(failure)
        return [ModelListing(id=name) for name in self.listed[vendor.id]]

    async def learn(self, vendor: Vendor, facts: ModelFacts, endpoint: Endpoint) -> ModelFacts:
        return facts

    async def check(self, vendor: Vendor, endpoint: Endpoint) -> None:
        raise AssertionError("nothing is to be checked")

    async def count(self, facts: ModelFacts, endpoint: Endpoint, request: ModelRequest) -> None:
        raise AssertionError("nothing is to be counted")

    async def embed(
        self, facts: ModelFacts, endpoint: Endpoint, texts: Sequence[str]
    ) -> Embeddings:
        raise AssertionError("nothing is to be embedded")


def registry_of(
    environment: dict[str, str],
    reach: Reach | None = None,
    settings: dict[str, ProviderSettings] | None = None,
) -> Registry:
    registry = Registry()
    reach = reach or Reach()
    settings = settings or {}
    for vendor_id in CATALOGUE.vendors():
        vendor = CATALOGUE.vendor(vendor_id)
        assert vendor is not None
        own = settings.get(vendor_id)
        registry.register(vendor_backend(vendor, environment, reach, own))
    for name, own in settings.items():
        if CATALOGUE.vendor(name) is None:
            registry.register(own_backend(name, own, environment, reach))
    return registry


async def opened(name: str | None, environment: dict[str, str], **more) -> Any:
    return await Router(registry_of(environment, **more)).open(name)


async def refused(name: str | None, environment: dict[str, str], **more) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        await opened(name, environment, **more)
    return caught.value


KEYS = {"ANTHROPIC_API_KEY": "ka", "OPENROUTER_API_KEY": "kr"}


async def test_a_name_is_a_backend_and_a_model():
    model = await opened("anthropic/claude-opus-5", KEYS)
    assert model.facts.name == "anthropic/claude-opus-5"
    assert model.endpoint.api_key == "ka"
    assert model.endpoint.base_url == "https://api.anthropic.com"


async def test_a_models_name_may_hold_slashes():
    model = await opened("openrouter/anthropic/claude-sonnet-4.6", KEYS)
    assert model.facts.backend == "openrouter"
    assert model.facts.model == "anthropic/claude-sonnet-4.6"


async def test_a_bare_backend_means_its_default_model():
    model = await opened("anthropic", KEYS)
    vendor = CATALOGUE.vendor("anthropic")
    assert vendor is not None
    assert model.facts.model == vendor.default_model


async def test_an_unknown_backend_is_named_with_the_nearest_and_the_way_to_add_one():
    error = await refused("antropic/x", KEYS)
    assert "'antropic'" in error.message
    assert "anthropic" in error.message
    assert "[providers.antropic]" in error.hint


async def test_a_missing_key_is_named_by_its_variable():
    error = await refused("mistral/mistral-large-latest", KEYS)
    assert "Mistral" in error.message
    assert "MISTRAL_API_KEY" in error.hint
    assert "hame auth add mistral" in error.hint


async def test_what_was_chosen_is_never_replaced_by_what_has_a_key():
    await refused("openai/gpt-5", KEYS)


async def test_without_a_choice_the_one_key_that_is_set_decides():
    model = await opened(None, {"DEEPSEEK_API_KEY": "k"})
    assert model.facts.backend == "deepseek"


async def test_several_keys_are_named():
    error = await refused(None, KEYS)
    assert "anthropic" in error.message
    assert "openrouter" in error.message
    assert "--model" in error.hint


async def test_two_ways_to_one_service_are_one_key():
    model = await opened(None, {"OPENAI_API_KEY": "k"})
    assert model.facts.backend == "openai"
    model = await opened("openai-chat", {"OPENAI_API_KEY": "k"})
    assert model.facts.wire == "openai_chat"


@pytest.mark.parametrize("value", ["", "   ", "\n"])
async def test_an_empty_variable_is_no_key(value):
    error = await refused("anthropic", {"ANTHROPIC_API_KEY": value})
    assert "ANTHROPIC_API_KEY" in error.hint


async def test_a_pasted_line_break_is_no_part_of_a_key():
    model = await opened("anthropic", {"ANTHROPIC_API_KEY": "ka\n"})
    assert model.endpoint.api_key == "ka"


async def test_nothing_to_ask_is_told_with_the_remedies():
    error = await refused(None, {})
    assert "no key is set" in error.message
    assert "hame local setup" in error.hint


async def test_a_running_local_server_is_asked_when_no_key_is_set():
    async def find() -> str | None:
        return "lmstudio/qwen3"

    model: Any = await Router(registry_of({}), find).open(None)
    assert model.facts.name == "lmstudio/qwen3"
    assert model.facts.local


async def test_the_built_in_model_comes_last():
    class BuiltIn:
        id = "local"
        display_name = "Built-in"

        def default_model(self) -> str:
            return "small"

        def ready(self) -> bool:
            return True

        def chosen(self) -> bool:
            return False

        def open(self, model: str) -> Any:
            return model

    registry = registry_of({})
    registry.register(BuiltIn())
    assert await Router(registry).open(None) == "small"


async def test_a_local_server_that_serves_one_model_needs_no_name():
    model = await opened("llamacpp", {}, reach=Reach({"llamacpp": ["qwen3", "bge-m3"]}))
    assert model.facts.model == "qwen3"


async def test_a_local_server_that_serves_several_wants_a_name():
    error = await refused("ollama", {}, reach=Reach({"ollama": ["a", "b"]}))
    assert "--model ollama/MODEL" in error.hint


async def test_a_local_server_that_is_not_there_is_told():
    error = await refused("ollama", {})
    assert error.message == "Nothing is there."
    assert error.hint == "Start it."


async def test_a_server_of_the_users_own_is_a_backend():
    own = {"lab": ProviderSettings(base_url="http://lab:8000/v1/", model="m", api_key="k")}
    model = await opened("lab", {}, settings=own)
    assert model.facts.name == "lab/m"
    assert model.facts.wire == "openai_chat"
    assert model.endpoint.base_url == "http://lab:8000/v1"
    assert model.endpoint.api_key == "k"


async def test_a_server_of_the_users_own_takes_its_key_from_its_variable():
    own = {"my-lab": ProviderSettings(base_url="http://lab:8000/v1", model="m")}
    model = await opened("my-lab", {"MY_LAB_API_KEY": "k"}, settings=own)
    assert model.endpoint.api_key == "k"
    named = {"lab": ProviderSettings(base_url="http://lab/v1", model="m", api_key_env="LAB")}
    assert "LAB" in (await refused("lab", {}, settings=named)).hint


def test_a_server_without_an_address_is_told():
    with pytest.raises(ConfigError) as caught:
        own_backend("lab", ProviderSettings(), {}, Reach())
    assert "providers.lab" in caught.value.hint


async def test_settings_come_before_the_environment_for_a_known_vendor():
    own = {"anthropic": ProviderSettings(base_url="https://gw.test", model="x", api_key="mine")}
    model = await opened("anthropic", KEYS, settings=own)
    assert model.endpoint.base_url == "https://gw.test"
    assert model.endpoint.api_key == "mine"
    assert model.facts.model == "x"


async def test_a_vendor_whose_address_is_everybodys_own_says_so():
    error = await refused("azure/gpt-5", {"AZURE_API_KEY": "k"})
    assert "AZURE_OPENAI_ENDPOINT" in error.hint
    environment = {"AZURE_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://me.openai.azure.com/"}
    model = await opened("azure/gpt-5", environment)
    assert model.endpoint.base_url == "https://me.openai.azure.com/openai/v1"


@pytest.mark.parametrize(
    ("backend", "variable", "given", "expected"),
    [
        ("anthropic", "ANTHROPIC_BASE_URL", "https://gw.test", "https://gw.test"),
        ("anthropic", "ANTHROPIC_BASE_URL", "https://gw.test/v1/messages", "https://gw.test/v1"),
        ("openai", "OPENAI_BASE_URL", "http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
        ("openai", "OPENAI_BASE_URL", "http://127.0.0.1:9", "http://127.0.0.1:9/v1"),
        ("openai", "OPENAI_BASE_URL", "https://gw.test/x/v1/responses", "https://gw.test/x/v1"),
        ("gemini", "GOOGLE_GEMINI_BASE_URL", "https://gw.test/", "https://gw.test"),
        ("ollama", "OLLAMA_HOST", "0.0.0.0:9999", "http://127.0.0.1:9999"),
        ("ollama", "OLLAMA_HOST", "otherbox", "http://otherbox:11434"),
        ("ollama", "OLLAMA_HOST", ":9999", "http://127.0.0.1:9999"),
        ("ollama", "OLLAMA_HOST", "[::1]:9999", "http://[::1]:9999"),
        ("ollama", "OLLAMA_HOST", "http://box:1/", "http://box:1"),
        ("vllm", "VLLM_BASE_URL", "http://box:8000", "http://box:8000/v1"),
        ("groq", "GROQ_BASE_URL", "gw.test", "https://gw.test/openai/v1"),
    ],
)
async def test_addresses_are_taken_as_people_write_them(backend, variable, given, expected):
    environment = {variable: given, f"{backend.upper()}_API_KEY": "k"}
    model = await opened(f"{backend}/m", environment)
    assert model.endpoint.base_url == expected


def test_a_backend_that_is_registered_again_is_replaced_and_only_it_can_leave():
    vendor = CATALOGUE.vendor("ollama")
    assert vendor is not None
    first, second = (vendor_backend(vendor, {}, Reach()) for _ in range(2))
    registry = Registry()
    registry.register(first)
    registry.register(second)
    registry.unregister(first)
    assert registry.find("ollama") is second
    registry.unregister(second)
    assert list(registry) == []


async def test_what_a_gateway_lists_is_not_filtered():
    registry = registry_of(KEYS, Reach({"openrouter": ["a/b", "weird"]}))
    backend: Any = registry.find("openrouter")
    assert [model.id for model in await backend.list_models()] == ["a/b", "weird"]


async def test_a_query_in_an_address_goes_along_with_every_request():
    url = "https://me.openai.azure.com/openai/v1?api-version=preview"
    environment = {"AZURE_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": url}
    model = await opened("azure/gpt-5", environment)
    assert model.endpoint.base_url == "https://me.openai.azure.com/openai/v1"
    assert model.endpoint.query == (("api-version", "preview"),)


@pytest.mark.parametrize("given", ["::::", "foo:bar", "http://[::1", "not a url"])
async def test_nonsense_for_an_address_is_told_when_it_is_used_and_hinders_nothing_else(given):
    environment = {"OLLAMA_HOST": given, "OPENAI_BASE_URL": given, "GROQ_API_KEY": "k"}
    assert (await opened("groq/x", environment)).facts.backend == "groq"
    error = await refused("ollama/x", environment)
    assert "no address of a server" in error.message


async def test_where_a_key_comes_from_is_known_at_its_endpoint():
    assert (await opened("anthropic/x", KEYS)).endpoint.key_from == "ANTHROPIC_API_KEY"
    own = {"lab": ProviderSettings(base_url="http://lab/v1", api_key="k")}
    model = await opened("lab/m", {}, settings=own)
    assert model.endpoint.key_from == "providers.lab.api_key"


async def test_no_name_at_all_is_told():
    assert (await refused("/x", KEYS)).message == "no provider is named"
