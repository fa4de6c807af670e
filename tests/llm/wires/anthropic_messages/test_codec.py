"""The codec as the client and the backends see it."""

import pytest

from hame.base.model import Endpoint, ModelListing
from hame.llm.codecs import codec


def test_the_wire_has_its_name_and_its_framing():
    found = codec("anthropic_messages")
    assert (found.name, found.framing) == ("anthropic_messages", "sse")


def test_models_are_listed_with_the_key_and_in_one_page():
    request = codec("anthropic_messages").list_request(
        Endpoint(base_url="http://h", api_key="key", query=(("a", "b"),))
    )
    assert (request.method, request.url) == ("GET", "http://h/v1/models?limit=1000&a=b")
    assert dict(request.headers) == {
        "accept": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": "key",
    }


def test_a_list_of_models_is_read_with_what_it_says_of_each():
    body = b"""{"data": [
        {"type": "model", "id": "big", "display_name": "Big", "created_at": "2026-01-01T00:00:00Z",
         "max_input_tokens": 200000, "max_tokens": 64000},
        {"type": "model", "id": "bare"},
        {"type": "model"}
    ], "has_more": false}"""
    assert codec("anthropic_messages").decode_list(body) == [
        ModelListing(id="big", display_name="Big", context_window=200_000, max_output=64_000),
        ModelListing(id="bare"),
    ]


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": {}}', b'{"models": []}'])
def test_what_is_no_list_of_models_is_refused(body: bytes):
    with pytest.raises(ValueError, match="no list of models"):
        codec("anthropic_messages").decode_list(body)
