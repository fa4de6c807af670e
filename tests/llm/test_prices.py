"""Costs of recorded usages agree with genai-prices, where that is installed; differences are named."""

import importlib
from datetime import UTC, datetime

import pytest

from hame.base.model import Usage
from hame.llm.catalog import ShippedCatalogue

genai_prices = pytest.importorskip(
    "genai_prices", reason="genai-prices is not installed (pip install genai-prices)"
)

BUILT = datetime(2026, 11, 30, 12, tzinfo=UTC)
"""The day for which the catalogue was built; at noon UTC, when DeepSeek's prices are high or low."""
USAGES = [
    Usage(input_uncached=1_200, output=300),
    Usage(input_uncached=900, cache_read=41_000, output=1_500, reasoning=900),
    Usage(input_uncached=3, cache_read=18_000, cache_write=2_400, output=700),
    Usage(input_uncached=40, cache_write_long=90_000, output=12),
    Usage(input_uncached=20_000, cache_read=210_000, cache_write=20_000, output=8_000),
    Usage(input_uncached=300_000, output=1),
    Usage(),
]
PROVIDERS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "google",
    "vertex": "google",
    "openrouter": "openrouter",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "groq": "groq",
    "xai": "x-ai",
    "together": "together",
    "cerebras": "cerebras",
    "fireworks": "fireworks",
    "moonshot": "moonshotai",
    "zai": "zai",
    "azure": "azure",
    "minimax": "minimax",
    "novita": "novita",
}
MOST = 60
"""Models of one vendor that are compared."""
BY_THE_HOUR = {"deepseek"}
"""Vendors whose price depends on the hour: hame takes the highest, so that a limit of money holds."""


def theirs(provider: str, model: str, usage: Usage) -> float:
    counts = genai_prices.Usage(
        input_tokens=usage.input_total,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write + usage.cache_write_long,
        cache_write_5m_tokens=usage.cache_write,
        cache_write_1h_tokens=usage.cache_write_long,
        output_tokens=usage.output,
    )
    found = genai_prices.calc_price(
        counts, model, provider_id=provider, genai_request_timestamp=BUILT
    )
    return float(found.total_price)


def findable(provider: str, model: str, name: str) -> bool:
    """Whether genai-prices finds that very model by its own name; a few have none."""
    found = provider_of(provider).find_model(model)
    return found is not None and found.id == name


def provider_of(provider: str):
    providers = importlib.import_module("genai_prices.data").providers
    return next(each for each in providers if each.id == provider)


@pytest.mark.parametrize("vendor_id", PROVIDERS)
def test_what_an_answer_costs_agrees(vendor_id):
    catalogue, provider = ShippedCatalogue(), PROVIDERS[vendor_id]
    vendor = catalogue.vendor(vendor_id)
    assert vendor is not None
    known = {model.id for model in provider_of(provider).models}
    rows = catalogue.models(vendor_id)
    compared = 0
    for row in rows[:: max(1, len(rows) // MOST)]:
        price, name = row.price, row.model.rpartition("/models/")[2]
        if price is None or name not in known or not findable(provider, row.model, name):
            continue
        for usage in USAGES:
            ours, expected = price.cost(usage), theirs(provider, row.model, usage)
            assert ours is not None
            if vendor_id in BY_THE_HOUR:
                assert ours >= expected * 0.99, row.model
            else:
                assert ours == pytest.approx(expected, rel=0.01, abs=1e-9), (row.model, usage)
        compared += 1
    assert compared >= 3
