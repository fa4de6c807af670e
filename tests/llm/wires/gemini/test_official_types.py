"""Requests checked against the types of Google's own SDK, where it is installed."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.message import Opaque
from hame.base.model import Effort, Endpoint, ModelFacts
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.wires.gemini import CODEC

FACTS = [
    ModelFacts(
        backend="google",
        model=model,
        wire="gemini",
        documents=True,
        max_output=1000,
        efforts=frozenset(Effort),
    )
    for model in ("gemini-3-pro-preview", "gemini-2.5-pro")
]
PATH = Argument(name="path", kind=ArgumentKind.EXISTING_FILE)
TOOLS = (
    ToolSpec(name="read_file", description="Read.", effect=Effect.READ, arguments=(PATH,)),
    ToolSpec(
        name="contributed",
        description="Does much.",
        effect=Effect.NETWORK,
        raw_schema={
            "type": "object",
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
            "properties": {
                "node": {"$ref": "#/$defs/node"},
                "either": {"oneOf": [{"type": "integer", "exclusiveMinimum": 1}, {"type": "null"}]},
                "any": {},
                "free": {"type": ["object", "string"], "additionalProperties": {"type": "string"}},
                "kind": {"enum": ["a", "b", None]},
            },
            "required": ["node"],
        },
    ),
)
OWN = [
    Opaque(
        "gemini",
        "executableCode",
        {"executableCode": {"code": "1", "language": "PYTHON"}, "thoughtSignature": "c2ln"},
    ),
    Opaque("gemini", "codeExecutionResult", {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}),
    Opaque("gemini", "toolCall", {"toolCall": {"id": "1", "toolType": "GOOGLE_SEARCH_WEB"}}),
]


def test_any_repaired_history_fits_the_official_types(histories):
    types = pytest.importorskip("google.genai.types", reason="needs the official SDK")

    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(st.data(), st.sampled_from(FACTS), st.sampled_from(Effort))
    def fits(data, facts, effort):
        history = data.draw(histories(facts, OWN))
        request = ModelRequest(system="s", messages=history, tools=TOOLS, effort=effort)
        body = json.loads(CODEC.encode(request, facts, Endpoint(base_url="http://h")).body)
        # The types refuse members that they do not know.
        types.Content.model_validate_json(json.dumps(body.pop("systemInstruction")))
        for content in body.pop("contents"):
            types.Content.model_validate_json(json.dumps(content))
        for tool in body.pop("tools"):
            types.Tool.model_validate_json(json.dumps(tool))
        config = json.dumps(body.pop("generationConfig"))
        thinking = types.GenerateContentConfig.model_validate_json(config).thinking_config
        assert thinking.thinking_level is None or thinking.thinking_level in types.ThinkingLevel
        assert not body

    fits()
