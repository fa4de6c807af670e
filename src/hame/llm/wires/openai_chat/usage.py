"""Token counts as OpenAI-compatible servers send them."""

import math

from msgspec.structs import replace

from hame.base.json import JsonObject, as_object, get_bool, get_int, get_number, get_object
from hame.base.model import Usage


def find_usage(chunk: JsonObject, *, tells_cost: bool = False) -> Usage | None:
    """The usage in a chunk or body; Groq hides it in `x_groq`. With `tells_cost` the price paid is in it."""
    found = as_object(chunk.get("usage")) or get_object(chunk, "x_groq").get("usage")
    counts = as_object(found)
    if not counts:
        return None
    usage = read_usage(counts)
    return replace(usage, paid_nano_usd=_paid(counts)) if tells_cost else usage


def _paid(counts: JsonObject) -> int | None:
    """Billionths of a US dollar; with a key of the user's own, what its vendor takes besides the gateway's fee.

    https://openrouter.ai/docs/use-cases/usage-accounting
    """
    cost = get_number(counts, "cost")
    if cost is None or not cost >= 0:
        return None
    above = get_number(get_object(counts, "cost_details"), "upstream_inference_cost")
    whole = cost + max(above or 0.0, 0.0) if get_bool(counts, "is_byok") else cost
    return round(whole * 1e9) if whole < math.inf else None


def read_usage(counts: JsonObject) -> Usage:
    """Sort the counts so that every prompt token is counted once.

    `prompt_tokens` holds the cached ones and stays the sum, even where a server reports more cached
    tokens than prompt tokens. `completion_tokens` holds the reasoning ones, except with xAI, where
    the total gives it away.
    """
    prompt_details = get_object(counts, "prompt_tokens_details")
    prompt = get_int(counts, "prompt_tokens") or 0
    read = (
        get_int(prompt_details, "cached_tokens")
        or get_int(counts, "prompt_cache_hit_tokens")
        or get_int(counts, "cached_tokens")
        or get_int(counts, "cache_read_input_tokens")
        or 0
    )
    written = (
        get_int(prompt_details, "cache_write_tokens")
        or get_int(counts, "cache_creation_input_tokens")
        or 0
    )
    reasoning = (
        get_int(get_object(counts, "completion_tokens_details"), "reasoning_tokens")
        or get_int(counts, "reasoning_tokens")
        or 0
    )
    output = get_int(counts, "completion_tokens") or 0
    if reasoning and get_int(counts, "total_tokens") == prompt + output + reasoning:
        output += reasoning
    return Usage(
        input_uncached=prompt - read - written,
        cache_read=read,
        cache_write=written,
        output=output,
        reasoning=reasoning,
    )
