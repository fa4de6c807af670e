"""Whatever the history, once repaired, the request is one that its wire takes, step after step."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.message import Assistant, Message, Text, ToolCall, ToolResult, ToolResults, User
from hame.base.model import Endpoint, ModelFacts, Quirk
from hame.base.ports import ModelRequest
from hame.llm.codecs import WIRES, codec
from hame.llm.repair import Repair
from legal.wires import RULES, check_calls

ENDPOINT = Endpoint(base_url="http://h", api_key="k")
SHORT = frozenset({Quirk.SHORT_CALL_IDS, Quirk.ALTERNATING_ROLES, Quirk.TOOL_NAME_IN_RESULT})


def facts_of(wire: str, quirks: frozenset[Quirk] = frozenset()) -> ModelFacts:
    model = "gemini-3-pro" if wire == "gemini" else "m"
    return ModelFacts(backend="b", model=model, wire=wire, vendor="V", quirks=quirks)


def send(messages: tuple[Message, ...], facts: ModelFacts) -> Any:
    request = ModelRequest(system="s", messages=messages)
    return json.loads(codec(facts.wire).encode(request, facts, ENDPOINT).body)


MODELS = [facts_of(wire) for wire in WIRES] + [facts_of("openai_chat", SHORT)]


@pytest.mark.parametrize("facts", MODELS, ids=lambda facts: f"{facts.wire} {len(facts.quirks)}")
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_any_history_is_a_legal_request_at_every_step(any_histories, facts, data):
    repair = Repair(facts)
    history = data.draw(any_histories(facts, []))
    for end in range(1, len(history) + 1):
        messages = repair(history[:end])
        if messages:
            body = send(messages, facts)
            RULES[facts.wire](body, facts)
            check_calls(body, facts)


@pytest.mark.parametrize("facts", MODELS, ids=lambda facts: f"{facts.wire} {len(facts.quirks)}")
def test_a_server_that_gives_every_call_one_id_is_answered(facts):
    history: list[Message] = [User((Text("go"),))]
    calls = Assistant(
        tuple(ToolCall("f:0", "read_file", {"number": number}) for number in range(200))
    )
    for _ in range(10):
        results = tuple(ToolResult(one.id, one.name, (Text("ok"),)) for one in calls.calls)
        history += [calls, ToolResults(results)]
    repair = Repair(facts)
    body = send(repair(tuple(history)), facts)
    RULES[facts.wire](body, facts)
    check_calls(body, facts)
    again = (*history[:-2], User((Text("no"),)), *history[-2:])
    assert repair(again) == Repair(facts)(again)
