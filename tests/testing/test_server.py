"""The scripted server: real HTTP, every wire, every fault, and what it remembers."""

import json
import socket
from collections.abc import Callable

import anyio
import httpx2
import pytest

from hame.base.json import get_list, get_object, get_objects, get_string
from hame.base.message import Image, Opaque, StopReason, Text, Thinking
from hame.base.model import ModelListing, Usage
from hame.testing import Received, Reply, ScriptedServer, answer, call
from hame.testing.reply import (
    BEFORE_HEAD,
    bad_arguments,
    bad_json,
    drop,
    drop_before,
    empty,
    hang,
    hang_mid,
    in_bytes,
    slow,
    status,
    unknown_tool,
)

PATHS = {
    "openai_chat": "/v1/chat/completions",
    "anthropic_messages": "/v1/messages",
    "openai_responses": "/v1/responses",
    "gemini": "/v1beta/models/m:streamGenerateContent?alt=sse",
    "ollama": "/api/chat",
}
WIRES = sorted(PATHS)
QUESTION: dict[str, object] = {
    "model": "m",
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [{"role": "user", "content": "hi"}],
}


def post(server: ScriptedServer, wire: str = "openai_chat", **members: object) -> httpx2.Response:
    question = {key: value for key, value in {**QUESTION, **members}.items() if value is not None}
    with httpx2.Client() as client:
        return client.post(server.url + PATHS[wire], json=question, timeout=5)


def post_in_vain(server: ScriptedServer, wire: str = "openai_chat") -> None:
    with pytest.raises(httpx2.HTTPError):
        post(server, wire)


def body_until_cut(server: ScriptedServer, wire: str = "openai_chat") -> bytes:
    """What arrives of a body before the connection breaks."""
    body = bytearray()

    def collect() -> None:
        url = server.url + PATHS[wire]
        with httpx2.Client() as client, client.stream("POST", url, json=QUESTION) as response:
            for piece in response.iter_raw():
                body.extend(piece)

    with pytest.raises(httpx2.RemoteProtocolError):
        collect()
    return bytes(body)


def chunks(response: httpx2.Response) -> list[dict[str, object]]:
    """The JSON of a streamed body's frames."""
    lines = response.text.splitlines()
    if response.headers["content-type"] == "application/x-ndjson":
        return [json.loads(line) for line in lines]
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [json.loads(each) for each in data if each != "[DONE]"]


# ------------------------------------------------------------ the wires


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_is_known_by_its_path_and_streamed(wire: str) -> None:
    with ScriptedServer("Hello there, you.") as server:
        response = post(server, wire)
        server.finish()
    assert response.status_code == 200
    assert server.questions[0].wire == wire
    assert len(chunks(response)) > 2
    assert "Hello" in response.text
    assert "there," in response.text


def test_chat_sends_roles_pieces_a_reason_the_usage_and_done() -> None:
    said = answer(
        Thinking("hm"), "a b", call("read", path="x"), usage=Usage(input_uncached=5, output=7)
    )
    with ScriptedServer(said) as server:
        response = post(server)
    assert response.text.endswith("data: [DONE]\n\n")
    deltas = [
        get_object(choice, "delta")
        for chunk in chunks(response)
        for choice in get_objects(chunk, "choices")
    ]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(get_string(delta, "content") or "" for delta in deltas) == "a b"
    assert "".join(get_string(delta, "reasoning_content") or "" for delta in deltas) == "hm"
    calls = [item for delta in deltas for item in get_objects(delta, "tool_calls")]
    assert calls[0]["id"] == "call_1_0"
    assert (
        "".join(get_string(get_object(each, "function"), "arguments") or "" for each in calls)
        == '{"path":"x"}'
    )
    assert get_object(chunks(response)[-1], "usage")["total_tokens"] == 12


def test_chat_tells_the_usage_only_when_asked() -> None:
    with ScriptedServer("a", "b") as server:
        assert "usage" in post(server).text
        assert "usage" not in post(server, stream_options=None).text


def test_anthropic_marks_the_beginning_and_the_end_of_each_block() -> None:
    said = answer(Thinking("hm", "c2ln"), "a b", call("read", path="x"))
    with ScriptedServer(said) as server:
        events = chunks(post(server, "anthropic_messages"))
    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["message_start", "ping"]
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 3
    deltas = [get_object(event, "delta") for event in events]
    assert {"type": "signature_delta", "signature": "c2ln"} in deltas
    assert deltas[-2]["stop_reason"] == "tool_use"


def test_responses_number_their_events_and_repeat_the_whole_at_the_end() -> None:
    with ScriptedServer(answer(Thinking("hm", "enc"), "a b", call("read", path="x"))) as server:
        events = chunks(post(server, "openai_responses"))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    response = get_object(events[-1], "response")
    kinds = [item["type"] for item in get_objects(response, "output")]
    assert kinds == ["reasoning", "message", "function_call"]
    assert events[-1]["type"] == "response.completed"


@pytest.mark.parametrize(
    ("stop", "kind"),
    [
        (StopReason.MAX_TOKENS, "response.incomplete"),
        (StopReason.CONTENT_FILTER, "response.incomplete"),
        (StopReason.ERROR, "response.failed"),
        (StopReason.REFUSAL, "response.completed"),
    ],
)
def test_responses_end_in_their_own_ways(stop: StopReason, kind: str) -> None:
    with ScriptedServer(answer("no", stop=stop)) as server:
        events = chunks(post(server, "openai_responses"))
    assert events[-1]["type"] == kind
    refused = any(event["type"] == "response.refusal.delta" for event in events)
    assert refused is (stop is StopReason.REFUSAL)


def test_gemini_sends_parts_and_signatures() -> None:
    said = answer(
        Thinking("hm"), Text("a", "sig"), call("read", path="x"), Image("image/png", b"x", "", "s")
    )
    with ScriptedServer(said) as server:
        events = chunks(post(server, "gemini"))
    parts = [
        part
        for event in events
        for candidate in get_objects(event, "candidates")
        for part in get_objects(get_object(candidate, "content"), "parts")
    ]
    assert parts == [
        {"text": "hm", "thought": True},
        {"text": "a", "thoughtSignature": "sig"},
        {"functionCall": {"id": "call_1_0", "name": "read", "args": {"path": "x"}}},
        {"inlineData": {"mimeType": "image/png", "data": "eA=="}, "thoughtSignature": "s"},
    ]
    assert get_objects(events[-1], "candidates")[0]["finishReason"] == "STOP"


def test_ollama_sends_lines_and_the_counts_with_the_last() -> None:
    said = answer(Thinking("hm"), "a b", call("read", path="x"), usage=Usage(output=3))
    with ScriptedServer(said) as server:
        lines = chunks(post(server, "ollama"))
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    assert lines[-1]["eval_count"] == 3
    calls = get_list(get_object(lines[-2], "message"), "tool_calls")
    assert len(calls) == 1


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_may_come_whole(wire: str) -> None:
    said = answer(Thinking("hm"), "Hello there.", call("read", path="x"))
    with ScriptedServer(Reply(answer=said, whole=True)) as server:
        response = post(server, wire)
    assert response.headers["content-type"] == "application/json"
    assert int(response.headers["content-length"]) == len(response.content)
    body = json.dumps(response.json())
    assert "Hello" in body
    assert "hm" in body
    assert "read" in body


@pytest.mark.parametrize(
    ("path", "body", "streamed"),
    [
        ("/v1/chat/completions", {}, False),
        ("/v1/messages", {"stream": False}, False),
        ("/api/chat", {}, True),
        ("/api/chat", {"stream": False}, False),
        ("/v1beta/models/m:generateContent", {}, False),
        ("/v1beta/models/m:streamGenerateContent", {}, True),
    ],
)
def test_what_is_not_asked_for_as_a_stream_comes_whole(
    path: str, body: dict[str, object], streamed: bool
) -> None:
    with ScriptedServer("hi") as server, httpx2.Client() as client:
        response = client.post(server.url + path, json=body)
    assert ("transfer-encoding" in response.headers) is streamed


@pytest.mark.parametrize("wire", WIRES)
def test_blocks_of_the_provider_s_own_are_said_on_its_wire_only(wire: str) -> None:
    own = Opaque(wire, "thing", {"type": "reasoning", "content": "own-payload"})
    other = Opaque("another", "thing", {})
    if wire != "ollama":
        with ScriptedServer(answer(own)) as server:
            assert "own-payload" in post(server, wire).text
    with pytest.raises(ExceptionGroup), ScriptedServer(answer(other)) as server:
        post_in_vain(server, wire)


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "gemini"])
def test_pictures_are_said_by_gemini_alone(wire: str) -> None:
    said = answer(Image("image/png", b"x"))
    with pytest.raises(ExceptionGroup) as caught, ScriptedServer(said) as server:
        post_in_vain(server, wire)
    assert caught.group_contains(ValueError)


def test_reasoning_that_is_only_encrypted_is_an_item_without_words() -> None:
    with ScriptedServer(answer(Thinking("", "enc"), "a")) as server:
        events = chunks(post(server, "openai_responses"))
    item = get_objects(get_object(events[-1], "response"), "output")[0]
    assert (item["summary"], item["encrypted_content"]) == ([], "enc")
    assert not any("reasoning_summary" in str(event["type"]) for event in events)


# ------------------------------------------------------------ errors and faults


@pytest.mark.parametrize("wire", WIRES)
def test_an_error_has_the_wire_s_own_body(wire: str) -> None:
    with ScriptedServer(status(429, "Slow down.", retry_after=7)) as server:
        response = post(server, wire)
    assert (response.status_code, response.headers["retry-after"]) == (429, "7")
    assert "Slow down." in json.dumps(response.json()["error"])


def test_an_error_may_have_any_body_and_headers() -> None:
    step = status(502, headers=(("Content-Type", "text/html"), ("X-A", "b")), body=b"<h1>Bad</h1>")
    with ScriptedServer(step) as server:
        response = post(server)
    assert (response.status_code, response.content) == (502, b"<h1>Bad</h1>")
    assert (response.headers["content-type"], response.headers["x-a"]) == ("text/html", "b")


@pytest.mark.parametrize("wire", WIRES)
def test_a_connection_cut_before_the_response(wire: str) -> None:
    with ScriptedServer(drop_before()) as server, pytest.raises(httpx2.RemoteProtocolError):
        post(server, wire)


@pytest.mark.parametrize("at", [0, 1, 10, 200])
@pytest.mark.parametrize("wire", WIRES)
def test_a_connection_cut_at_any_byte(wire: str, at: int) -> None:
    with ScriptedServer(drop(answer("Hello there, this is cut."), at)) as server:
        assert len(body_until_cut(server, wire)) == at


def test_a_connection_cut_where_words_would_be_said() -> None:
    with ScriptedServer(drop(answer("One two three."), " three.")) as server:
        body = body_until_cut(server)
    assert body.endswith(b"\n\n")
    assert b" two" in body
    assert b" three." not in body


def test_words_that_are_never_said_are_an_error_of_the_test() -> None:
    never = drop(answer("a"), "not said")
    with pytest.raises(ExceptionGroup) as caught, ScriptedServer(never) as server:
        post_in_vain(server)
    assert caught.group_contains(ValueError, match="never says 'not said'")


@pytest.mark.parametrize(
    "step", [hang(), hang_mid(answer("Hello."), 30), hang_mid(answer("Hello."), "Hello.")]
)
def test_silence_until_the_client_leaves(step: Reply) -> None:
    with ScriptedServer(step) as server:
        with httpx2.Client() as client, pytest.raises(httpx2.ReadTimeout):
            client.post(server.url + PATHS["openai_chat"], json=QUESTION, timeout=0.2)
        server.wait_over(1)
        assert server.requests[0].abandoned
        assert (step.hang_at == BEFORE_HEAD) is (step == hang())


def test_an_answer_in_single_bytes_is_the_same_answer() -> None:
    with ScriptedServer("Grüße 😀", in_bytes(answer("Grüße 😀"))) as server:
        assert post(server).text.replace("-1", "-2") == post(server).text


async def test_a_slow_answer_pauses_between_its_pieces() -> None:
    reply = slow(answer("a b c"), 0.01)
    async with ScriptedServer(reply) as server, httpx2.AsyncClient() as client:
        start = anyio.current_time()
        await client.post(server.url + PATHS["openai_chat"], json=QUESTION)
        assert anyio.current_time() - start > 0.04


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("step", [bad_json("read"), bad_arguments("read"), unknown_tool(), empty()])
def test_answers_that_are_well_formed_and_wrong(wire: str, step: Reply) -> None:
    with ScriptedServer(step) as server:
        response = post(server, wire)
    assert response.status_code == 200
    if step == bad_json("read"):
        assert "MALFORMED_FUNCTION_CALL" in response.text or '{\\"path\\"' in response.text
    elif step == unknown_tool():
        assert "no_such_tool" in response.text
    elif step == bad_arguments("read"):
        assert '"read"' in response.text


# ------------------------------------------------------------ the script


def test_steps_are_played_in_order_and_may_be_made_from_the_request() -> None:
    def echo(received: Received) -> str:
        return f"asked with {received.headers['authorization']}"

    with ScriptedServer(answer("first"), echo) as server:
        assert "first" in post(server, stream=False).text
        with httpx2.Client() as client:
            response = client.post(
                server.url + PATHS["openai_chat"],
                json={},
                headers={"Authorization": "Bearer k"},
            )
        assert "asked with Bearer k" in response.text
        server.finish()


def test_a_question_too_many_is_told_to_the_client_and_to_the_test() -> None:
    with ScriptedServer("only") as server:
        post(server)
        response = post(server)
        assert response.status_code == 400
        assert "script of 1 steps is over" in response.text
        with pytest.raises(AssertionError, match="1 questions more than the 1 steps"):
            server.finish()


def test_a_question_too_few_is_told_to_the_test() -> None:
    with ScriptedServer("a", "b") as server:
        post(server)
        with pytest.raises(AssertionError, match="1 of 2 steps were not asked for"):
            server.finish()


def test_an_error_in_a_step_of_the_test_is_not_swallowed() -> None:
    def wrong(_: Received) -> str:
        raise RuntimeError("the test is wrong")

    with pytest.raises(ExceptionGroup) as caught, ScriptedServer(wrong) as server:
        post_in_vain(server)
    assert caught.group_contains(RuntimeError, match="the test is wrong")


# ------------------------------------------------------------ what it remembers


def test_requests_are_kept_as_they_came() -> None:
    with ScriptedServer("a") as server, httpx2.Client() as client:
        client.post(
            f"{server.url}{PATHS['gemini']}", json={"a": 1}, headers={"X-Goog-Api-Key": "k"}
        )
        client.get(f"{server.url}/v1/models")
    first, second = server.requests
    assert (first.method, first.path, first.query) == (
        "POST", "/v1beta/models/m:streamGenerateContent", "alt=sse",
    )  # fmt: skip
    assert (first.body, first.headers["x-goog-api-key"]) == ({"a": 1}, "k")
    assert json.loads(first.raw) == {"a": 1}
    assert (second.wire, second.connection) == (None, first.connection)
    assert server.questions == [first]
    assert first.over
    assert not first.abandoned


def test_a_request_in_chunks_is_read_whole() -> None:
    def parts():
        yield b'{"model":'
        yield b'"m"}'

    with ScriptedServer("a") as server, httpx2.Client() as client:
        client.post(server.url + PATHS["openai_chat"], content=parts())
    assert server.requests[0].body == {"model": "m"}


def test_a_client_that_expects_to_be_told_to_go_on_is_told() -> None:
    with ScriptedServer("a") as server:
        port = int(server.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                b"Expect: 100-continue\r\nConnection: close\r\n\r\n"
            )
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            connection.sendall(b"{}")
            answered = b""
            while piece := connection.recv(4096):
                answered += piece
    assert answered.startswith(b"HTTP/1.1 200 OK")


KEYS: dict[str, Callable[[list[object]], dict[str, object]]] = {
    "openai_chat": lambda items: {"messages": items},
    "anthropic_messages": lambda items: {"messages": items, "system": [{"text": "s"}]},
    "openai_responses": lambda items: {"input": items, "instructions": "s"},
    "gemini": lambda items: {"contents": items, "systemInstruction": {"parts": []}},
    "ollama": lambda items: {"messages": items},
}


@pytest.mark.parametrize("wire", WIRES)
def test_the_share_of_the_question_before_that_was_kept_is_told(wire: str) -> None:
    one, two, other = {"content": "one"}, {"content": "two"}, {"content": "0ther"}
    marked = {**two, "cache_control": {"type": "ephemeral"}}
    make = KEYS[wire]
    histories: list[list[object]] = [[one], [one, marked], [one, two, one], [other, two, one]]
    with ScriptedServer(*"abcd") as server, httpx2.Client() as client:
        for history in histories:
            body = {**make(history), "tools": [{"name": "t" * 50}], "stream": True}
            client.post(server.url + PATHS[wire], json=body)
    kept = [each.kept for each in server.questions]
    assert kept[:3] == [None, 1.0, 1.0]
    assert kept[3] is not None
    assert 0.3 < kept[3] < 1.0


def test_models_are_listed_for_every_kind_of_client() -> None:
    models = (ModelListing(id="m1", display_name="One", context_window=1000), ModelListing(id="m2"))
    with ScriptedServer(models=models) as server, httpx2.Client() as client:
        openai = client.get(f"{server.url}/v1/models").json()
        anthropic = client.get(
            f"{server.url}/v1/models", headers={"anthropic-version": "2023-06-01"}
        ).json()
        gemini = client.get(f"{server.url}/v1beta/models").json()
        ollama = client.get(f"{server.url}/api/tags").json()
        missing = client.get(f"{server.url}/nowhere")
    assert [each["id"] for each in openai["data"]] == ["m1", "m2"]
    assert openai["data"][0]["context_length"] == 1000
    assert [each["display_name"] for each in anthropic["data"]] == ["One", "m2"]
    assert [each["name"] for each in gemini["models"]] == ["models/m1", "models/m2"]
    assert [each["name"] for each in ollama["models"]] == ["m1", "m2"]
    assert missing.status_code == 404


def test_other_pages_can_be_put_up() -> None:
    pages = {"/props": Reply(body=b'{"n_ctx": 4096}'), "/gone": Reply(status=410, body=b"")}
    with ScriptedServer(pages=pages) as server, httpx2.Client() as client:
        assert client.get(f"{server.url}/props").json() == {"n_ctx": 4096}
        assert client.get(f"{server.url}/gone").status_code == 410


async def test_in_the_loop_of_a_test_arrivals_can_be_waited_for() -> None:
    async with ScriptedServer(hang(), "b") as server, anyio.create_task_group() as group:

        async def ask(patience: float) -> None:
            async with httpx2.AsyncClient() as client:
                with anyio.move_on_after(patience):
                    await client.post(server.url + PATHS["openai_chat"], json=QUESTION)

        group.start_soon(ask, 0.1)
        with anyio.fail_after(5):
            await server.arrived(1)
            assert not server.requests[0].over
            await server.over(1)
            group.start_soon(ask, 5.0)
            await server.over(2)
    assert [each.abandoned for each in server.requests] == [True, False]


def test_from_outside_its_thread_arrivals_can_be_waited_for() -> None:
    with ScriptedServer("a") as server:
        post(server)
        server.wait_arrived(1)
        server.wait_over(1)
