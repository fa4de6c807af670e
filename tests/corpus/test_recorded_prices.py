"""What recorded answers cost: the whole way from a provider's bytes to money, beside genai-prices.

hame decodes the body and prices it by its catalogue. genai-prices gets the same counts; where the body
is one JSON value it also counts by itself, from the body. Differences above 1 % are named here.
"""

import importlib
import json
import re
from collections import Counter
from datetime import UTC, datetime

import pytest

from hame.base.fold import Fold
from hame.base.model import ModelFacts, Usage
from hame.llm.answer import AnswerReader
from hame.llm.catalog import ShippedCatalogue
from hame.llm.codecs import codec

genai_prices = pytest.importorskip(
    "genai_prices", reason="genai-prices is not installed (pip install genai-prices)"
)

BUILT = datetime(2026, 11, 30, 12, tzinfo=UTC)
"""The day for which the catalogue was built."""
VENDORS = {
    "anthropic": ("anthropic", "anthropic"),
    "azure": ("azure", "azure"),
    "deepseek": ("deepseek", "deepseek"),
    "google": ("gemini", "google"),
    "groq": ("groq", "groq"),
    "mistral": ("mistral", "mistral"),
    "openai": ("openai", "openai"),
    "openrouter": ("openrouter", "openrouter"),
    "together": ("together", "together"),
    "vertex": ("vertex", "google"),
    "xai": ("xai", "x-ai"),
}
"""By who answered: the vendor's row here, the provider there."""
LEAST = {
    "anthropic": {"anthropic": 60},
    "gemini": {"gemini": 35, "vertex": 15},
    "ollama": {},
    "openai_chat": {
        "openai": 20,
        "deepseek": 10,
        "mistral": 8,
        "groq": 5,
        "xai": 5,
        "openrouter": 10,
    },
    "openai_responses": {"openai": 70, "deepseek": 3, "xai": 3},
}
"""Comparisons that must have been made, by api; what runs here costs nothing."""
FLAVOURS = {"openai_responses": "responses", "openai_chat": "chat"}

EXPLAINED = {
    # DeepSeek's price depends on the hour; hame takes the higher one, so that a limit of money holds.
    "deepseek/deepseek-v4": 2.0,
    # The name was given to Mistral Large 3 (0.5 / 1.5); genai-prices has the price of Large 2 (2 / 6).
    "mistral/mistral-large-latest": 0.25,
}
"""Ours by theirs, where that is not one; by how the name begins."""
BILLED = {
    "openrouter/moonshotai/kimi-k2",
    "openrouter/deepseek/deepseek-chat",
}
"""OpenRouter says what it took: another host's price, or a search of the web on top. That is believed."""


def named_model(body: bytes) -> str | None:
    found = re.search(rb'"(?:model|modelVersion)"\s*:\s*"([^"]+)"', body)
    return found[1].decode() if found else None


def read_usage(case, facts: ModelFacts) -> Usage | None:
    reader, fold = (
        AnswerReader(codec(facts.wire), facts, case.headers.get("content-type", "")),
        Fold(),
    )
    for event in [*reader.feed(case.body), *reader.close()]:
        fold.add(event)
    return fold.usage


def theirs_by_our_counts(usage: Usage, model: str, provider: str) -> float:
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


def theirs_by_their_counts(case, provider: str) -> float | None:
    """None where the body is a stream, which genai-prices does not read."""
    if case.stream:
        return None
    flavour = (
        FLAVOURS.get(case.api, "default") if provider in {"openai", "openrouter"} else "default"
    )
    try:
        found = genai_prices.extract_usage(
            json.loads(case.body), provider_id=provider, api_flavor=flavour
        )
        return float(found.calc_price(genai_request_timestamp=BUILT).total_price)
    except (ValueError, LookupError):
        return None


def is_known_there(model: str, provider: str) -> bool:
    providers = importlib.import_module("genai_prices.data").providers
    return next(each for each in providers if each.id == provider).find_model(model) is not None


def test_what_recorded_answers_cost_agrees(api, wire, cases):
    catalogue, compared, wrong = ShippedCatalogue(), Counter(), []
    for case in cases:
        model = named_model(case.body)
        if case.provider not in VENDORS or case.status >= 400 or model is None:
            continue
        vendor_id, provider = VENDORS[case.provider]
        vendor = catalogue.vendor(vendor_id)
        assert vendor is not None
        facts = ModelFacts(backend=vendor_id, model=model, wire=wire)
        usage = read_usage(case, facts)
        price = catalogue.facts(vendor, model).price
        if usage is None or price is None or not is_known_there(model, provider):
            continue
        ours = usage.paid_usd if usage.paid_usd is not None else price.cost(usage)
        if f"{vendor_id}/{model}" in BILLED and usage.paid_usd is not None:
            continue
        name = f"{vendor_id}/{model}"
        factor = next((ours for begun, ours in EXPLAINED.items() if name.startswith(begun)), 1.0)
        for their in (
            theirs_by_our_counts(usage, model, provider),
            theirs_by_their_counts(case, provider),
        ):
            if their is not None:
                compared[vendor_id] += 1
                if ours != pytest.approx(their * factor, rel=0.01, abs=1e-9):
                    wrong.append((case.id, model, ours, their))
    assert not wrong
    assert {
        name: compared[name] for name, least in LEAST[api].items() if compared[name] < least
    } == {}
