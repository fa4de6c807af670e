"""What a server refuses is left out of the next request."""

import json

import pytest

from hame.base.message import Text, User
from hame.base.model import Effort, Endpoint, ModelFacts, Quirk
from hame.base.ports import ModelRequest
from hame.llm.classify import classify_response
from hame.llm.heal import healed
from hame.llm.wires.openai_responses import CODEC

FACTS = ModelFacts(
    backend="openai",
    model="gpt-x",
    wire="openai_responses",
    max_output=1000,
    efforts=frozenset({Effort.LOW, Effort.HIGH}),
    quirks=frozenset({Quirk.NO_PARALLEL_CALLS}),
)


def refused(parameter: str, code: str, message: str) -> dict:
    """The body of the request that follows a refusal."""
    error = {"message": message, "type": "invalid_request_error", "param": parameter, "code": code}
    failure = classify_response(400, {}, json.dumps({"error": error}).encode(), "OpenAI")
    assert failure.parameter is not None
    facts = healed(FACTS, failure.parameter)
    request = ModelRequest(
        system="", messages=(User((Text("hi"),)),), session="s", effort=Effort.HIGH
    )
    return json.loads(CODEC.encode(request, facts, Endpoint(base_url="http://h/v1")).body)


def test_an_organisation_that_may_not_see_summaries_is_asked_without_them():
    message = "Your organization must be verified to generate reasoning summaries."
    body = refused("reasoning.summary", "unsupported_value", message)
    assert body["reasoning"] == {"effort": "high"}
    assert body["include"] == ["reasoning.encrypted_content"]


@pytest.mark.parametrize(
    ("parameter", "gone"),
    [
        ("prompt_cache_key", {"prompt_cache_key"}),
        ("max_output_tokens", {"max_output_tokens"}),
        ("reasoning.effort", {"reasoning", "include"}),
        ("include", {"include"}),
    ],
)
def test_an_unknown_parameter_is_left_out(parameter, gone):
    body = refused(parameter, "unsupported_parameter", f"Unsupported parameter: '{parameter}'.")
    assert not gone & set(body)
    assert body["input"]
