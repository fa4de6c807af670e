"""How long a server asks to be left alone, in seconds.

In order: `retry-after-ms`, `retry-after` (seconds or a date, RFC 9110 section 10.2.3), Google's
RetryInfo, OpenRouter's reset header, and words such as "try again in 9m38.016s". Nonsense (negative,
not finite, unreadable) is no wait at all.
"""

import math
import re
from collections.abc import Mapping, Sequence

from hame.base.json import JsonObject, get_number, get_object, get_string

_UNIT = r"(?:milliseconds?|msecs?|ms|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)"
_AGAIN = re.compile(
    rf"(?:again|retry|retrying|back|wait|reset|available)\s+(?:again\s+)?(?:in|after|for)?\s*(?:about\s+)?"
    rf"((?:\d+(?:\.\d+)?\s*{_UNIT}\b[\s,]*(?:and\s+)?)+|(?:\d+(?:\.\d+)?\s*{_UNIT})+)",
    re.IGNORECASE,
)
_PART = re.compile(rf"(\d+(?:\.\d+)?)\s*({_UNIT})", re.IGNORECASE)
LONGEST_S = 30 * 24 * 3600.0
"""A longer wait is nonsense."""
_EPOCH_MS = 10**11


def header_wait(headers: Mapping[str, str], now: float | None) -> float | None:
    """The wait that response headers (lower-case names) ask for; `now` is Unix time for dates."""
    milliseconds = _float(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _sane(milliseconds / 1000)
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    seconds = _float(text.removesuffix("s"))
    if seconds is not None:
        return _sane(seconds)
    moment = _date(text)
    reference = _date(headers.get("date", "")) or now
    return _sane(max(0.0, moment - reference)) if moment and reference else None


def detail_wait(details: Sequence[JsonObject]) -> float | None:
    """The wait in Google's RetryInfo: `"34.4s"` or an object of seconds and nanos."""
    for detail in details:
        delay = get_string(detail, "retryDelay")
        if delay is not None and delay.endswith("s"):
            return _sane(_float(delay[:-1]))
        parts = get_object(detail, "retryDelay")
        if parts:
            # Google writes 64-bit numbers as text.
            whole = get_number(parts, "seconds") or _float(get_string(parts, "seconds")) or 0.0
            return _sane(whole + (get_number(parts, "nanos") or 0.0) / 1e9)
    return None


def metadata_wait(metadata: JsonObject, now: float | None) -> float | None:
    """The wait in the headers OpenRouter puts into its body: seconds, or a moment in milliseconds."""
    headers = {key.lower(): value for key, value in get_object(metadata, "headers").items()}
    wait = _float(str(headers.get("retry-after", "")))
    if wait is not None:
        return _sane(wait)
    moment = _float(str(headers.get("x-ratelimit-reset", "")))
    if moment is None or moment < _EPOCH_MS or now is None:
        return None
    return _sane(max(0.0, moment / 1000 - now))


def worded_wait(message: str) -> float | None:
    """The wait a sentence asks for: `try again in 4.77s`, `retry after 7 seconds`."""
    found = _AGAIN.search(message)
    if found is None:
        return None
    return _sane(sum(_seconds(*part.groups()) for part in _PART.finditer(found.group(1))))


def _seconds(number: str, unit: str) -> float:
    name = unit.lower()
    if name.startswith(("ms", "milli")):
        return float(number) / 1000
    return float(number) * {"h": 3600, "m": 60, "s": 1}[name[0]]


def _float(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _sane(seconds: float | None) -> float | None:
    if seconds is None or not math.isfinite(seconds) or not 0 <= seconds <= LONGEST_S:
        return None
    return seconds


def _date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None
