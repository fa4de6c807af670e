"""Token counts of an answer: `message_start` brings the first, `message_delta` the final ones.

Counts: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching#tracking-cache-performance
`input_tokens` excludes what was read from and written to the cache. Tools that the provider runs make
the prompt grow within one answer, so a later count may be larger or smaller than an earlier one.
"""

from hame.base.json import JsonObject, get_int, get_object
from hame.base.model import Usage

_PROMPT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_COUNTED = (*_PROMPT, "output_tokens")


class Counter:
    """Joins the reports of one answer; a later figure replaces an earlier one."""

    __slots__ = ("_counts", "_long", "_thought")

    def __init__(self) -> None:
        """Nothing has been counted."""
        self._counts: dict[str, int] = {}
        self._long = 0
        self._thought = 0

    def add(self, report: JsonObject) -> Usage | None:
        """Take a report and return the counts so far; None when it counts nothing.

        Some gateways count the prompt at the start and report zeros for all of it at the end; those
        zeros say nothing.
        """
        told = {
            key: max(0, count) for key in _COUNTED if (count := get_int(report, key)) is not None
        }
        if not told:
            return None
        if not any(told.get(key) for key in _PROMPT):
            told = {key: count for key, count in told.items() if key not in _PROMPT}
        self._counts |= told
        lifetimes = get_object(report, "cache_creation")
        self._long = get_int(lifetimes, "ephemeral_1h_input_tokens") or self._long
        details = get_object(report, "output_tokens_details")
        self._thought = get_int(details, "thinking_tokens") or self._thought
        return self._usage()

    def _usage(self) -> Usage:
        written = self._counts.get("cache_creation_input_tokens", 0)
        long = min(self._long, written)
        return Usage(
            input_uncached=self._counts.get("input_tokens", 0),
            cache_read=self._counts.get("cache_read_input_tokens", 0),
            cache_write=written - long,
            cache_write_long=long,
            output=self._counts.get("output_tokens", 0),
            reasoning=self._thought,
        )
