"""The recorded provider traffic beside the project, and how a reading of it is compared."""

import copy
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

import msgspec
import pytest

FIXTURES = Path(__file__).resolve().parents[2] / ".." / "shared" / "fixtures"

WIRE_OF_API = {
    "anthropic": "anthropic_messages",
    "gemini": "gemini",
    "ollama": "ollama",
    "openai_chat": "openai_chat",
    "openai_responses": "openai_responses",
}
"""The apis of the corpus that have a wire here. Every case of an api in this table must be right."""


@pytest.fixture(params=WIRE_OF_API)
def api(request: pytest.FixtureRequest) -> str:
    """Each api of the corpus that has a wire."""
    return request.param


@pytest.fixture
def wire(api: str) -> str:
    """The wire that reads it."""
    return WIRE_OF_API[api]


@pytest.fixture
def cases(api: str) -> tuple["Case", ...]:
    """The api's cases."""
    if not FIXTURES.is_dir():
        pytest.skip("the recorded traffic (../shared/fixtures) is not here")
    return load(api)


@pytest.fixture
def compare() -> Callable[[dict, dict], list[str]]:
    """How a reading differs from what is expected."""
    return differences


_PLAIN_KEYS = ("text", "thinking")
_USAGE_KEYS = ("input_total", "input_uncached", "cache_read", "cache_write", "output")


class Case(msgspec.Struct, frozen=True):
    """One recorded response and what it means."""

    id: str
    api: str
    provider: str
    stream: bool
    status: int
    headers: dict[str, str]
    body: bytes
    expected: dict

    def pieces(self, seed: int) -> list[bytes]:
        """The body, cut at random places."""
        random = Random(f"{self.id}/{seed}")
        pieces, at = [], 0
        while at < len(self.body):
            step = random.choice((1, 2, 3, 7, 31, 200, 1500))
            pieces.append(self.body[at : at + step])
            at += step
        return pieces

    def bytewise(self) -> list[bytes]:
        """The body, one byte at a time."""
        return [self.body[at : at + 1] for at in range(len(self.body))]


@cache
def load(api: str) -> tuple[Case, ...]:
    """All cases of one api."""
    index = msgspec.json.decode((FIXTURES / "index.json").read_bytes())
    expected = msgspec.json.decode((FIXTURES / "expected.json").read_bytes())
    return tuple(
        Case(
            id=row["id"],
            api=api,
            provider=row["provider"],
            stream=row["stream"],
            status=row["status"],
            headers=row["headers"],
            body=(FIXTURES / row["body"]).read_bytes(),
            expected=expected[row["id"]],
        )
        for row in index
        if row["api"] == api
    )


def differences(meaning: dict, expected: dict) -> list[str]:
    """How a reading differs from the expectation, or from the closest of those also acceptable."""
    found = [list(_compare(meaning, reading)) for reading in _readings(expected)]
    return min(found, key=len)


def _readings(expected: dict) -> Iterator[dict]:
    yield expected
    for other in expected.get("also_acceptable", ()):
        reading = copy.deepcopy(expected)
        for path, value in other.items():
            *parents, key = path.split(".")
            target = reading
            for parent in parents:
                target = target[parent]
            target[key] = value
        yield reading


def _compare(meaning: dict, expected: dict) -> Iterator[str]:
    for key in _PLAIN_KEYS:
        if meaning[key] != expected[key]:
            yield f"{key}: {meaning[key]!r} is not {expected[key]!r}"
    yield from _compare_calls(meaning["tool_calls"], expected["tool_calls"])
    yield from _compare_usage(meaning["usage"], expected["usage"])
    yield from _compare_ending(meaning, expected)
    for key in ("thinking_blocks", "thought_signatures", "reasoning_details", "refusal"):
        if key in expected:
            yield from _compare_sealed(key, meaning.get(key), expected[key])
    kinds = [tool["type"] for tool in meaning.get("server_tools", [])]
    wanted = [tool["type"] for tool in expected.get("server_tools", [])]
    if kinds != wanted:
        yield f"server_tools: {kinds} is not {wanted}"
    if "citations" in meaning and meaning["citations"] != expected.get("citations"):
        yield f"citations: {meaning['citations']} is not {expected.get('citations')}"
    if expected.get("executable") is False and meaning.get("executable") is not False:
        yield "executable: should be false"


def _compare_calls(calls: list[dict], expected: list[dict]) -> Iterator[str]:
    if len(calls) != len(expected):
        yield f"tool_calls: {calls} is not {expected}"
        return
    ids = [call["id"] for call in calls]
    if len(set(ids)) != len(ids) or not all(ids):
        yield f"tool_calls: ids are missing or repeated: {ids}"
    seen = set()
    for call, want in zip(calls, expected, strict=True):
        if want["id"] and want["id"] not in seen and call["id"] != want["id"]:
            yield f"id: {call['id']!r} is not {want['id']!r}"
        seen.add(want["id"])
        if call["name"] != want["name"]:
            yield f"name: {call['name']!r} is not {want['name']!r}"
        if "input_text" not in want and call["args"] != want["args"]:
            yield f"args: {call['args']!r} is not {want['args']!r}"
        if want["args"] is None and "raw_args" in want and call["raw_args"] != want["raw_args"]:
            yield f"raw_args: {call['raw_args']!r} is not {want['raw_args']!r}"


def _compare_usage(usage: dict | None, expected: dict | None) -> Iterator[str]:
    if usage is None or expected is None:
        if usage is not expected:
            yield f"usage: {usage} is not {expected}"
        return
    keys = [*_USAGE_KEYS, *(["reasoning"] if expected.get("reasoning") is not None else [])]
    for key in keys:
        if usage[key] != expected[key]:
            yield f"usage.{key}: {usage[key]} is not {expected[key]}"


def _compare_ending(meaning: dict, expected: dict) -> Iterator[str]:
    if meaning["stop_reason"] != expected["stop_reason"]:
        yield f"stop_reason: {meaning['stop_reason']} is not {expected['stop_reason']}"
    error = expected.get("error")
    if error is not None:
        yield from _compare_error(meaning.get("error"), error)
        return
    if meaning.get("error") is not None:
        yield f"error: {meaning['error']} is not expected"
    complete = expected.get("complete", True)
    if meaning.get("complete") is not complete:
        yield f"complete: {meaning.get('complete')} is not {complete}"
    if complete and meaning["raw_stop_reason"] != expected["raw_stop_reason"]:
        yield f"raw_stop_reason: {meaning['raw_stop_reason']} is not {expected['raw_stop_reason']}"


def _compare_error(error: dict | None, expected: dict) -> Iterator[str]:
    if error is None:
        yield f"error: none, where {expected} is expected"
        return
    for key in ("category", "retryable", "mid_stream"):
        if error[key] != expected[key]:
            yield f"error.{key}: {error[key]} is not {expected[key]}"
    wait, want = error["retry_after_s"], expected.get("retry_after_s")
    if (wait is None) != (want is None) or abs((wait or 0) - (want or 0)) > 1:
        yield f"error.retry_after_s: {wait} is not {want}"


def _compare_sealed(key: str, found: object, expected: object) -> Iterator[str]:
    """What must go back unchanged: every member that is expected must be there."""
    if not isinstance(expected, list):
        if found != expected:
            yield f"{key}: {found!r} is not {expected!r}"
        return
    items = found if isinstance(found, list) else []
    if len(items) != len(expected):
        yield f"{key}: {items} is not {expected}"
        return
    for item, want in zip(items, expected, strict=True):
        for name, value in want.items():
            if value is not None and item.get(name) != value:
                yield f"{key}.{name}: {item.get(name)!r} is not {value!r}"
