"""What servers that follow OpenAI have in common."""

import json

import pytest

from hame.base.model import Endpoint
from hame.llm.openai_server import bearer_request, read_listings


def test_a_request_with_a_body_asks_for_events_and_one_without_for_json():
    endpoint = Endpoint(base_url="https://x.example/v1", api_key="k")
    asked = dict(bearer_request("POST", endpoint, "responses", b"{}").headers)
    listed = dict(bearer_request("GET", endpoint, "models").headers)
    assert (asked["accept"], asked["content-type"]) == ("text/event-stream", "application/json")
    assert listed == {"accept": "application/json", "authorization": "Bearer k"}


def test_headers_and_query_of_the_endpoint_are_added():
    endpoint = Endpoint(
        base_url="https://x.example/v1", headers=(("x-a", "1"),), query=(("api-version", "a b"),)
    )
    request = bearer_request("GET", endpoint, "models")
    assert request.url == "https://x.example/v1/models?api-version=a+b"
    assert ("x-a", "1") in request.headers


@pytest.mark.parametrize(
    ("entry", "window", "output"),
    [
        ({"context_length": 8, "top_provider": {"max_completion_tokens": 4}}, 8, 4),
        ({"context_window": 8, "max_output_tokens": 4}, 8, 4),
        ({"max_model_len": 8}, 8, None),
        ({"meta": {"n_ctx_train": 8}}, 8, None),
        ({}, None, None),
    ],
)
def test_limits_are_read_under_the_names_that_vendors_use(entry, window, output):
    (found,) = read_listings(json.dumps({"data": [{"id": "m", **entry}]}).encode())
    assert (found.context_window, found.max_output) == (window, output)


@pytest.mark.parametrize(
    "body", ['{"data": [{"id": "m"}]}', '{"models": [{"name": "m"}]}', '[{"id": "m"}]']
)
def test_lists_lie_under_data_under_models_or_bare(body):
    assert [found.id for found in read_listings(body.encode())] == ["m"]


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"data": {}}', b"1"])
def test_anything_else_is_no_list(body):
    with pytest.raises(ValueError, match=r"."):
        read_listings(body)
