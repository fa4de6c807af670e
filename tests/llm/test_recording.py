"""Recordings on disk: files, headers, and folders with an index."""

import json

import pytest
from inline_snapshot import snapshot

from hame.base.errors import ConfigError
from hame.llm.recording import APIS, read_folder, read_headers, read_recording

ANSWER = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
REFUSED = {"error": {"message": "Overloaded", "type": "overloaded_error"}}


@pytest.fixture
def folder(tmp_path):
    """Writes a folder of recordings: an index and bodies by path."""

    def make(index: object, bodies: dict[str, object]):
        (tmp_path / "index.json").write_text(json.dumps(index))
        for name, body in bodies.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(body if isinstance(body, bytes) else json.dumps(body).encode())
        return tmp_path

    return make


def read(place) -> list:
    return list(read_folder(place))


@pytest.mark.parametrize("api", APIS)
def test_a_refusal_reads_alike_on_every_api(api):
    body = json.dumps({"error": {"message": "slow down"}}).encode()
    meaning = read_recording(api, body, status=429, headers={"Retry-After": "7"})
    assert meaning["error"]["category"] == "rate_limit"
    assert meaning["error"]["retry_after_s"] == 7


def test_an_unknown_api_is_named_with_the_known_ones():
    with pytest.raises(ConfigError, match="smoke") as raised:
        read_recording("smoke", b"")
    assert "anthropic, anthropic_messages" in raised.value.hint


def test_each_case_of_a_folder_is_read_in_the_order_of_its_index(folder):
    stream = b'data: {"choices":[{"delta":{"content":"yo"},"finish_reason":"stop"}]}\n\n'
    place = folder(
        [
            {"id": "two", "api": "openai_chat", "stream": True, "status": 200, "headers": {}},
            {"id": "one", "api": "openai_chat", "provider": "acme", "body": "elsewhere/1.txt"},
            {"id": "no", "api": "anthropic", "status": 529, "headers": {"retry-after": ["3"]}},
        ],
        {
            "openai_chat/two.sse": stream,
            "elsewhere/1.txt": ANSWER,
            "anthropic/no.body": REFUSED,
            "anthropic/no.request.json": {},
        },
    )
    two, one, no = read(place)
    assert (two["id"], two["text"]) == ("two", "yo")
    assert (one["id"], one["text"]) == ("one", "hi")
    assert no["error"] == snapshot({
        "category": "overloaded",
        "retryable": True,
        "retry_after_s": 3.0,
        "mid_stream": False,
        "http_status": 529,
        "message": "Overloaded",
        "explanation": "The provider is overloaded (HTTP 529).",
        "hint": "Wait 3 s, or choose another model with --model.",
        "parameter": None,
    })


def test_what_an_index_leaves_out_is_found_or_usual(folder):
    place = folder(
        [{"id": "x"}, {"id": "y", "headers": {"a": None}}],
        {"openai_chat/x.json": ANSWER, "ollama/y.ndjson": b""},
    )
    one, other = read(place)
    assert (one["text"], one["complete"]) == ("hi", True)
    assert other["complete"] is False


@pytest.mark.parametrize(
    "wrap", [lambda cases: {"cases": cases}, lambda cases: {c["id"]: c for c in cases}]
)
def test_an_index_may_be_an_object(folder, wrap):
    cases = [{"id": "x", "api": "openai_chat"}]
    (one,) = read(folder(wrap(cases), {"openai_chat/x.json": ANSWER}))
    assert (one["id"], one["text"]) == ("x", "hi")


def test_a_case_that_cannot_be_read_does_not_stop_the_others(folder):
    place = folder(
        [
            {"id": "gone", "api": "openai_chat"},
            {"id": "odd", "api": "telepathy"},
            {"id": "lost", "api": "gemini", "body": "gemini/lost.sse"},
            "nonsense",
            {"id": "fine", "api": "openai_chat"},
        ],
        {"openai_chat/fine.json": ANSWER, "telepathy/odd.json": {}},
    )
    *bad, fine = read(place)
    assert fine["text"] == "hi"
    assert bad == snapshot([
        {"id": "gone", "error_reading": "there is no body: openai_chat/gone.sse|ndjson|json|body"},
        {"id": "odd", "error_reading": "there is no api called 'telepathy'"},
        {"id": "lost", "error_reading": "No such file or directory"},
        {
            "id": "case-4",
            "error_reading": "there is no body: anthropic|anthropic_messages|openai_chat|openai_responses|gemini|ollama/case-4.sse|ndjson|json|body",
        },
    ])


@pytest.mark.parametrize("content", [None, b"{", b"\xff"])
def test_a_folder_without_a_readable_index_is_an_error_that_says_what_it_holds(tmp_path, content):
    if content is not None:
        (tmp_path / "index.json").write_bytes(content)
    with pytest.raises(ConfigError, match=r"index\.json") as raised:
        read(tmp_path)
    assert "<api>/<id>" in raised.value.hint


@pytest.mark.parametrize(
    ("text", "headers", "status"),
    [
        ("", {}, None),
        ('{"Retry-After": 3, "x": ["a", "b"], "y": null}', {"Retry-After": "3", "x": "a, b"}, None),
        ("Retry-After: 3\r\nX-A: b: c\r\n", {"retry-after": "3", "x-a": "b: c"}, None),
        ("HTTP/1.1 100 Continue\n\nHTTP/2 429\na: 1\nnonsense\n: 2\n\n", {"a": "1"}, 429),
        ("HTTP/1.1 odd\nb: 2\n", {"b": "2"}, None),
    ],
)
def test_headers_are_read_as_json_or_as_lines(text, headers, status):
    assert read_headers(text) == (headers, status)
