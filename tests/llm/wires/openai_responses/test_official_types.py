"""Requests checked against the types of OpenAI's own SDK, where it is installed."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.message import Opaque
from hame.base.model import Effort, Endpoint, ModelFacts
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.wires.openai_responses import CODEC
from legal import official

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


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data(), effort=st.sampled_from(Effort))
def test_any_repaired_history_fits_the_official_types(histories, data, effort):
    history = data.draw(histories(FACTS, OWN))
    request = ModelRequest(system="s", messages=history, tools=(TOOL,), effort=effort, session="s")
    sent = CODEC.encode(request, FACTS, Endpoint(base_url="http://h"))
    official.check("openai_responses", json.loads(sent.body))
