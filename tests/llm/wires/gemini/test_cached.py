"""Gemini's cachedContents as requests and answers; where they live and on what terms."""

import json

import pytest

from hame.base.message import Text, User
from hame.base.model import Endpoint, ModelFacts
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.storage import StoresPrefixes
from hame.llm.wires.gemini import CODEC
from hame.llm.wires.gemini.codec import GeminiCodec

GOOGLE = "https://generativelanguage.googleapis.com"
PROJECT = "https://eu-aiplatform.googleapis.com/v1/projects/p-1/locations/eu/publishers/google"
READ = ToolSpec(
    name="read_file",
    description="Read it.",
    effect=Effect.READ,
    arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE),),
)
ASKED = ModelRequest(
    system="Be good.", messages=(User((Text("hi"),)),), tools=(READ,), web_search=True
)


def facts(model: str = "gemini-3-pro-preview") -> ModelFacts:
    return ModelFacts(backend="gemini", model=model, wire="gemini", max_output=1000)


def at(base: str, **more) -> Endpoint:
    return Endpoint(base_url=base, api_key="k", **more)


def body(sent) -> dict:
    return json.loads(sent.body)


def test_the_codec_is_one_that_stores_prefixes():
    assert isinstance(CODEC, StoresPrefixes)


def test_what_is_made_and_what_names_it_are_together_what_is_sent_in_full():
    whole = body(CODEC.encode(ASKED, facts(), at(GOOGLE)))
    made = body(CODEC.store_request(ASKED, facts(), at(GOOGLE), 3600))
    naming = body(CODEC.encode_stored(ASKED, facts(), at(GOOGLE), "cachedContents/a"))
    assert made.pop("model") == "models/gemini-3-pro-preview"
    assert made.pop("ttl") == "3600s"
    assert set(made) == {"systemInstruction", "tools", "toolConfig"}
    assert naming.pop("cachedContent") == "cachedContents/a"
    assert {**made, **naming} == whole
    assert set(naming) == {"generationConfig", "contents"}
    assert json.loads(CODEC.fixed_part(ASKED, facts())) == made


def test_requests_that_name_the_same_begin_with_the_same_bytes():
    codec = GeminiCodec()
    longer = ModelRequest(
        system=ASKED.system, messages=(*ASKED.messages, User((Text("more"),))), tools=ASKED.tools
    )
    first, second = (
        codec.encode_stored(request, facts(), at(GOOGLE), "cachedContents/a").body
        for request in (ASKED, longer)
    )
    assert second.startswith(first.removesuffix(b"]}]}"))


@pytest.mark.parametrize(
    ("base", "url", "model", "name"),
    [
        (GOOGLE, f"{GOOGLE}/v1beta/", "models/gemini-3-x", "cachedContents/a"),
        (f"{GOOGLE}/v1alpha", f"{GOOGLE}/v1alpha/", "models/gemini-3-x", "cachedContents/a"),
        (
            PROJECT,
            "https://eu-aiplatform.googleapis.com/v1/",
            "projects/p-1/locations/eu/publishers/google/models/gemini-3-x",
            "projects/7/locations/eu/cachedContents/8",
        ),
    ],
)
def test_each_address_has_its_place_for_them(base, url, model, name):
    parent = model.partition("publishers/")[0] if "publishers/" in model else ""
    made = CODEC.store_request(ASKED, facts("gemini-3-x"), at(base), 3600)
    assert (made.method, made.url) == ("POST", f"{url}{parent}cachedContents")
    assert body(made)["model"] == model
    assert ("x-goog-api-key", "k") in made.headers
    renewed = CODEC.renew_request(name, at(base), 3600)
    assert (renewed.method, renewed.url) == ("PATCH", f"{url}{name}?updateMask=ttl")
    assert body(renewed) == {"ttl": "3600s"}
    listed = CODEC.stored_list_request(at(base, query=(("a", "b"),)))
    assert (listed.method, listed.url) == ("GET", f"{url}{parent}cachedContents?pageSize=1&a=b")


@pytest.mark.parametrize(
    ("model", "least", "usd"),
    [
        ("gemini-1.5-flash", 32_768, 1.0),
        ("gemini-2.0-flash", 2_048, 1.0),
        ("gemini-2.5-flash-lite", 2_048, 1.0),
        ("gemini-2.5-pro", 4_096, 4.5),
        ("gemini-3-flash-preview", 4_096, 1.0),
        ("gemini-4-argon", 4_096, 4.5),
    ],
)
def test_the_terms_are_those_of_the_model(model, least, usd):
    terms = CODEC.storage_terms(facts(model), at(GOOGLE))
    assert terms is not None
    assert (terms.least_tokens, terms.usd_per_hour, terms.vendors_own) == (least, usd, True)


@pytest.mark.parametrize(
    "base", ["https://gateway.example", "http://googleapis.com.example/v1", "http://127.0.0.1:1"]
)
def test_an_address_that_is_not_googles_is_known_as_such(base):
    terms = CODEC.storage_terms(facts(), at(base))
    assert terms is not None
    assert not terms.vendors_own


@pytest.mark.parametrize(
    ("model", "base"),
    [
        ("gemma-3-27b-it", GOOGLE),
        ("tunedModels/gemini-2.5-mine", GOOGLE),
        ("gemini-3-x", "https://aiplatform.googleapis.com/v1/publishers/google"),
    ],
)
def test_nothing_is_stored_of_other_models_nor_with_vertex_without_a_project(model, base):
    assert CODEC.storage_terms(facts(model), at(base)) is None


def test_asking_to_store_where_nothing_can_be_is_an_error():
    with pytest.raises(ValueError, match="nothing can be cached"):
        CODEC.stored_list_request(at("https://aiplatform.googleapis.com/v1/publishers/google"))


def test_an_answer_says_the_name_and_the_tokens():
    made = CODEC.decode_stored(
        b'{"name":"cachedContents/x-1","usageMetadata":{"totalTokenCount":5000}}'
    )
    assert (made.name, made.tokens) == ("cachedContents/x-1", 5000)
    assert CODEC.decode_stored(b'{"name":"cachedContents/x"}').tokens is None


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"<html>",
        b"{}",
        b'{"name":"models/x"}',
        b'{"name":"cachedContents/../x"}',
        b'{"name":"cachedContents/x?y"}',
    ],
)
def test_what_names_no_cached_content_is_an_error(answer):
    with pytest.raises(ValueError, match=r"cached content|JSON"):
        CODEC.decode_stored(answer)


def test_a_list_may_be_an_empty_object():
    CODEC.decode_stored_list(b"{}")
    CODEC.decode_stored_list(b'{"cachedContents":[{"name":"cachedContents/x"}]}')


@pytest.mark.parametrize("answer", [b"", b"[]", b"<html>", b'{"detail":"Not Found"}'])
def test_what_is_no_list_of_cached_contents_is_an_error(answer):
    with pytest.raises(ValueError, match=r"cached contents|JSON"):
        CODEC.decode_stored_list(answer)
