"""How long an answer may be, and how much a model should think."""

import pytest

from hame.base.message import Text, User
from hame.base.model import Effort, ModelFacts
from hame.base.ports import ModelRequest
from hame.llm.limits import USUAL_OUTPUT, effort_for, output_limit

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
