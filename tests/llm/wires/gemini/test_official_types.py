"""Requests checked against the types of Google's own SDK, where it is installed."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.message import Opaque
from hame.base.model import Effort, Endpoint, ModelFacts
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.wires.gemini import CODEC
from legal import official

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


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data(), facts=st.sampled_from(FACTS), effort=st.sampled_from(Effort))
def test_any_repaired_history_fits_the_official_types(histories, data, facts, effort):
    history = data.draw(histories(facts, OWN))
    request = ModelRequest(system="s", messages=history, tools=TOOLS, effort=effort)
    sent = CODEC.encode(request, facts, Endpoint(base_url="http://h"))
    official.check("gemini", json.loads(sent.body))
