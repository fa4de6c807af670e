"""What a server said of a parameter changes the next request."""

import pytest

from hame.base.model import Effort, ModelFacts, Quirk
from hame.llm.heal import healed

FACTS = ModelFacts(
    backend="b",
    model="m",
    wire="w",
    efforts=frozenset({Effort.HIGH}),
    quirks=frozenset({
        Quirk.ADAPTIVE_THINKING,
        Quirk.PROMPT_CACHE_KEY,
        Quirk.NO_PARALLEL_CALLS,
    }),
)


def test_a_model_that_takes_no_thinking_is_not_asked_to_think_in_any_form():
    taught = healed(FACTS, "thinking")
    assert taught.efforts == frozenset()
    assert Quirk.ADAPTIVE_THINKING not in taught.quirks


@pytest.mark.parametrize("parameter", ["reasoning_effort", "output_config", "think"])
def test_a_model_that_takes_no_effort_may_still_think_as_it_likes(parameter: str):
    taught = healed(FACTS, parameter)
    assert taught.efforts == frozenset()
    assert Quirk.ADAPTIVE_THINKING in taught.quirks


@pytest.mark.parametrize(
    ("parameter", "gained", "lost"),
    [
        ("max_tokens", {Quirk.MAX_COMPLETION_TOKENS}, set[Quirk]()),
        ("stream_options", {Quirk.NO_STREAM_USAGE}, set[Quirk]()),
        ("include_usage", {Quirk.NO_STREAM_USAGE}, set[Quirk]()),
        ("temperature", {Quirk.NO_TEMPERATURE}, set[Quirk]()),
        ("cache_control", {Quirk.NO_LONG_CACHE}, set[Quirk]()),
        ("prompt_cache_key", set[Quirk](), {Quirk.PROMPT_CACHE_KEY}),
        ("parallel_tool_calls", set[Quirk](), {Quirk.NO_PARALLEL_CALLS}),
    ],
)
def test_a_named_parameter_is_a_quirk_gained_or_lost(
    parameter: str, gained: set[Quirk], lost: set[Quirk]
):
    assert healed(FACTS, parameter).quirks == (FACTS.quirks | gained) - lost


def test_the_two_names_of_the_output_limit_swap():
    taught = healed(healed(FACTS, "max_tokens"), "max_completion_tokens")
    assert taught == FACTS


def test_a_parameter_that_nothing_can_be_done_about_changes_nothing():
    assert healed(FACTS, "stream") is FACTS
