"""Counting tokens and money, names, and keys that stay out of logs."""

import pytest
from hypothesis import given
from msgspec.structs import replace

from base.strategies import values_of
from hame.base.model import Endpoint, ModelFacts, Price, Quirk, Usage


@given(values_of(Usage), values_of(Usage), values_of(Usage))
def test_usages_add_up_counter_by_counter_in_any_order(a: Usage, b: Usage, c: Usage) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a
    for name in Usage.__struct_fields__:
        if name != "paid_nano_usd":
            assert getattr(a + b, name) == getattr(a, name) + getattr(b, name)
    assert (a + b).input_total == a.input_total + b.input_total


def test_all_prompt_tokens_are_the_uncached_the_read_and_the_written() -> None:
    usage = Usage(
        input_uncached=1,
        cache_read=20,
        cache_write=300,
        cache_write_long=4000,
        output=9,
        reasoning=5,
    )
    assert usage.input_total == 4321


USAGE = Usage(
    input_uncached=1_000_000,
    cache_read=2_000_000,
    cache_write=100_000,
    cache_write_long=10_000,
    output=500_000,
    reasoning=400_000,
)


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        (
            Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75, cache_write_long=6.0),
            3.0 + 0.6 + 0.375 + 0.06 + 7.5,
        ),
        (Price(input=3.0, output=15.0), 3.0 + 6.0 + 0.3 + 0.03 + 7.5),
        (Price(input=3.0, output=15.0, cache_write=4.0), 3.0 + 6.0 + 0.4 + 0.04 + 7.5),
        (Price(input=0.0, output=0.0), 0.0),
        (Price(input=3.0), None),
        (Price(output=15.0, cache_read=1.0), None),
    ],
)
def test_money_is_the_prices_times_the_tokens_or_unknown(price: Price, cost: float | None) -> None:
    assert price.cost(USAGE) == (pytest.approx(cost) if cost is not None else None)


def test_what_is_stored_for_hire_costs_on_top_of_the_tokens() -> None:
    usage = Usage(input_uncached=1_000_000, kept_micro_usd=32_500)
    assert usage.input_total == 1_000_000
    assert Price(input=3.0, output=15.0).cost(usage) == pytest.approx(3.0325)


def test_what_was_paid_adds_up_where_it_is_known_of_all() -> None:
    said, more = Usage(output=1, paid_nano_usd=5), Usage(output=2, paid_nano_usd=7)
    assert (said + more).paid_nano_usd == 12
    assert (Usage() + said).paid_nano_usd == 5
    assert (said + Usage(output=1)).paid_nano_usd is None
    assert (Usage(output=1) + Usage(output=1)).paid_usd is None


def test_what_the_provider_says_it_took_comes_before_what_is_computed() -> None:
    facts = ModelFacts(backend="b", model="m", wire="w", price=Price(input=3.0, output=15.0))
    assert facts.cost(USAGE) == Price(input=3.0, output=15.0).cost(USAGE)
    assert facts.cost(replace(USAGE, paid_nano_usd=1_500_000)) == 0.0015
    assert facts.cost(replace(USAGE, paid_nano_usd=0)) == 0.0


def test_of_a_model_without_a_price_it_is_known_where_its_server_will_tell() -> None:
    facts = ModelFacts(backend="b", model="m", wire="w", quirks=frozenset({Quirk.TELLS_COST}))
    assert facts.cost(Usage()) == 0.0
    assert facts.cost(USAGE) is None, "it did not tell after all"
    assert ModelFacts(backend="b", model="m", wire="w").cost(Usage()) is None


def test_a_model_is_chosen_by_backend_and_model() -> None:
    assert (
        ModelFacts(backend="openrouter", model="a/b:free", wire="w").name == "openrouter/a/b:free"
    )


def test_the_key_of_an_endpoint_is_not_shown() -> None:
    endpoint = Endpoint(base_url="http://127.0.0.1", api_key="sk-very-secret")
    assert "secret" not in repr(endpoint)
    assert "secret" not in f"{endpoint}"
    assert repr(endpoint) == "Endpoint(base_url='http://127.0.0.1', api_key=set)"
    assert repr(Endpoint(base_url="x")) == "Endpoint(base_url='x', api_key=none)"
