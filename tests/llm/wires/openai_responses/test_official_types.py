"""Requests checked against the types of OpenAI's own SDK, where it is installed."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.message import Opaque
from hame.base.model import Effort, Endpoint, ModelFacts
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.wires.openai_responses import CODEC

FACTS = ModelFacts(
    backend="openai",
    model="gpt-x",
    wire="openai_responses",
    documents=True,
    max_output=1000,
    efforts=frozenset(Effort),
)
PATH = Argument(name="path", kind=ArgumentKind.EXISTING_FILE)
TOOL = ToolSpec(name="read_file", description="Read.", effect=Effect.READ, arguments=(PATH,))
OWN = [
    Opaque(
        "openai_responses",
        "reasoning",
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [],
            "encrypted_content": "g",
            "status": None,
        },
    ),
    Opaque(
        "openai_responses",
        "code_interpreter_call",
        {
            "type": "code_interpreter_call",
            "id": "ci_1",
            "code": "1",
            "container_id": "c",
            "outputs": None,
            "status": "completed",
        },
    ),
]


def plain(value: Any) -> Any:
    """What a validator returned as lists and dicts; it hands out iterators for lists."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, str | bytes | int | float) or value is None:
        return value
    return [plain(inner) for inner in value]


def test_any_repaired_history_fits_the_official_types(histories):
    pydantic = pytest.importorskip("pydantic", reason="needs the official SDK and pydantic")
    types = pytest.importorskip("openai.types.responses", reason="needs the official SDK")
    official = pydantic.TypeAdapter(types.response_create_params.ResponseCreateParamsStreaming)

    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(histories(FACTS, OWN), st.sampled_from(Effort))
    def fits(history, effort):
        request = ModelRequest(
            system="s", messages=history, tools=(TOOL,), effort=effort, session="s"
        )
        body = json.loads(CODEC.encode(request, FACTS, Endpoint(base_url="http://h")).body)
        # A member that the types do not know is dropped by the validator, so it shows here.
        assert plain(official.validate_python(body)) == body

    fits()
