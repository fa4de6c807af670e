"""How long an answer may be, and how much a model should think."""

import pytest

from hame.base.message import Text, User
from hame.base.model import Effort, ModelFacts, Quirk, Timeouts
from hame.base.ports import ModelRequest
from hame.llm.catalog import ShippedCatalogue
from hame.llm.limits import USUAL_OUTPUT, effort_for, output_limit, patience

NONE, MINIMAL, LOW, MEDIUM, HIGH, MAX = Effort


def request(**members) -> ModelRequest:
    return ModelRequest(system="", messages=(User((Text("hi"),)),), **members)


def facts(**members) -> ModelFacts:
    return ModelFacts(backend="b", model="m", wire="w", **members)


@pytest.mark.parametrize(
    ("asked", "most", "limit"),
    [
        (None, None, None),
        (None, 8000, 8000),
        (None, 128_000, USUAL_OUTPUT),
        (500, None, 500),
        (500, 8000, 500),
        (9000, 8000, 8000),
        (100_000, 128_000, 100_000),
    ],
)
def test_an_answer_is_as_long_as_was_asked_and_the_model_can(asked, most, limit):
    assert output_limit(request(max_output_tokens=asked), facts(max_output=most)) == limit


@pytest.mark.parametrize(
    ("asked", "taken", "sent"),
    [
        (None, {LOW}, None),
        (HIGH, set(), None),
        (HIGH, {LOW, HIGH}, HIGH),
        (MAX, {LOW, MEDIUM, HIGH}, HIGH),
        (MEDIUM, {LOW, HIGH}, LOW),
        (MINIMAL, {NONE, LOW}, LOW),
        (MINIMAL, {NONE, HIGH}, HIGH),
        (LOW, {NONE}, NONE),
        (NONE, {NONE, LOW}, NONE),
        (NONE, {MINIMAL, HIGH}, MINIMAL),
    ],
)
def test_the_effort_is_the_nearest_the_model_takes_and_some_thought_is_not_made_none(
    asked, taken, sent
):
    assert effort_for(request(effort=asked), facts(efforts=frozenset(taken))) is sent


LONG = Timeouts(first_byte_s=300, idle_s=300)


@pytest.mark.parametrize(
    ("members", "effort", "seconds"),
    [
        ({"wire": "openai_responses"}, None, 60),
        ({"wire": "gemini"}, Effort.MEDIUM, 60),
        ({"wire": "gemini"}, Effort.HIGH, 300),
        ({"wire": "anthropic_messages"}, Effort.MAX, 300),
        ({"wire": "openai_chat"}, None, 300),
        ({"wire": "ollama", "local": True}, None, 300),
        ({"wire": "openai_responses", "local": True}, None, 300),
        (
            {"wire": "openai_responses", "quirks": frozenset({Quirk.NO_REASONING_SUMMARY})},
            None,
            300,
        ),
    ],
)
def test_silence_is_borne_longer_only_where_a_model_is_silent(members, effort, seconds):
    known = ModelFacts(backend="b", model="m", timeouts=LONG, **members)
    found = patience(request(effort=effort), known)
    assert (found.first_byte_s, found.idle_s) == (seconds, seconds)
    assert found.total_s == LONG.total_s


def test_a_short_limit_of_a_row_stays_short():
    known = facts(timeouts=Timeouts(first_byte_s=5, idle_s=7))
    assert patience(request(), known) == known.timeouts


@pytest.mark.parametrize("name", ["openai/gpt-5.5", "gemini/gemini-2.5-pro"])
def test_the_usual_models_are_not_waited_for_longer_than_a_minute(name):
    catalogue = ShippedCatalogue()
    vendor = catalogue.vendor(name.partition("/")[0])
    assert vendor is not None
    known = catalogue.facts(vendor, name.partition("/")[2])
    assert max(patience(request(), known).first_byte_s, patience(request(), known).idle_s) <= 60
