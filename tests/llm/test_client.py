"""A model over real HTTP: what is emitted, when it is asked again, and what is said in the end."""

import time
from typing import Any

import anyio
import pytest

from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.message import Assistant, Image, StopReason, Text, User
from hame.base.model import Effort, Endpoint, ModelFacts, Quirk, Timeouts
from hame.base.ports import ModelRequest
from hame.base.stream import Completed, Failed, RetryScheduled, StreamEvent, TextDelta
from hame.llm.asking import Line
from hame.llm.client import HttpModel, connect
from hame.llm.retry import RetryPolicy
from hame.net.http import HttpClient
from hame.testing import FakeClock, ScriptedServer, answer, call
from hame.testing.reply import Reply, drop, drop_before, empty, hang, hang_mid, in_bytes, status

FACTS = ModelFacts(
    backend="acme",
    model="m1",
    wire="openai_chat",
    vendor="Acme",
    max_output=1000,
    timeouts=Timeouts(connect_s=2, first_byte_s=0.3, idle_s=0.3, total_s=10),
)
HELLO = ModelRequest(system="Be kind.", messages=(User((Text("hi"),)),))


@pytest.fixture
async def http():
    client = HttpClient(user_agent="hame-test")
    yield client
    await client.aclose()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def model_at(http, clock):
    """`model_at(url, facts=..., retry=...)`"""

    def make(url: str, facts: ModelFacts = FACTS, retry: RetryPolicy | None = None) -> HttpModel:
        line = Line(http=http, clock=clock, retry=retry or RetryPolicy(), draw=lambda: 1.0)
        return connect(facts, Endpoint(base_url=f"{url}/v1", api_key="k"), line)

    return make


async def ask(model: HttpModel, request: ModelRequest = HELLO) -> list[StreamEvent]:
    async with model.stream(request) as events:
        return [event async for event in events]


def said(events: list[StreamEvent]) -> Assistant:
    fold = Fold()
    for event in events:
        fold.add(event)
    return fold.message()


def last_failure(events: list[StreamEvent]):
    assert isinstance(events[-1], Failed)
    assert sum(isinstance(event, Failed | Completed) for event in events) == 1
    return events[-1].failure


async def test_an_answer_streams_to_its_end(model_at):
    async with ScriptedServer(answer("Hello there.")) as server:
        events = await ask(model_at(server.url))
        assert said(events).text == "Hello there."
        assert isinstance(events[-1], Completed)
        assert server.questions[0].headers["authorization"] == "Bearer k"
        assert server.questions[0].body["model"] == "m1"
        server.finish()


async def test_an_answer_streams_the_same_byte_by_byte(model_at):
    async with ScriptedServer(in_bytes(answer("Héllo 😊", call("read_file", path="a")))) as server:
        message = said(await ask(model_at(server.url)))
    assert message.text == "Héllo 😊"
    assert message.calls[0].arguments == {"path": "a"}
    assert message.stop_reason is StopReason.TOOL_USE


async def test_a_whole_body_is_read_where_a_stream_was_asked_for(model_at):
    async with ScriptedServer(Reply(answer=answer("All at once."), whole=True)) as server:
        events = await ask(model_at(server.url))
    assert said(events).text == "All at once."
    assert isinstance(events[-1], Completed)


async def test_connections_are_used_again(model_at):
    async with ScriptedServer("one", "two", "three") as server:
        model = model_at(server.url)
        for _ in range(3):
            await ask(model)
        assert {question.connection for question in server.questions} == {1}


async def test_a_refusal_that_may_pass_is_asked_again_after_an_announced_wait(model_at, clock):
    async with ScriptedServer(status(503), status(529), "fine") as server:
        events = await ask(model_at(server.url))
    first, second = (event for event in events if isinstance(event, RetryScheduled))
    assert (first.attempt, first.delay_s, first.failure.kind) == (1, 0.5, ErrorKind.SERVER_ERROR)
    assert (second.attempt, second.delay_s, second.failure.kind) == (2, 1.0, ErrorKind.OVERLOADED)
    assert clock.slept == [0.5, 1.0]
    assert said(events).text == "fine"


async def test_a_refusal_whose_body_breaks_off_is_known_by_its_status(model_at):
    reply = Reply(status=401, body=b'{"error":{"message":"x"}}', drop_at=5)
    async with ScriptedServer(reply) as server:
        failure = last_failure(await ask(model_at(server.url)))
    assert failure.kind is ErrorKind.AUTH


async def test_a_refusal_without_end_is_read_only_so_far(model_at):
    reply = Reply(status=400, body=b"x" * 3_000_000)
    async with ScriptedServer(reply) as server:
        failure = last_failure(await ask(model_at(server.url)))
    assert failure.kind is ErrorKind.INVALID_REQUEST
    assert len(failure.said) <= 300


async def test_an_endless_503_ends_soon_and_names_the_provider(model_at, clock):
    async with ScriptedServer(*[status(503)] * 6) as server:
        failure = last_failure(await ask(model_at(server.url)))
        server.finish()
    assert sum(clock.slept) <= 30
    assert failure.kind is ErrorKind.SERVER_ERROR
    assert failure.provider == "Acme"
    assert "Acme" in failure.message
    assert "Asked 6 times" in failure.message
    assert failure.hint


async def test_the_wait_of_the_server_is_the_least(model_at, clock):
    async with ScriptedServer(status(429, retry_after=7), "fine") as server:
        await ask(model_at(server.url))
    assert 7 <= clock.slept[0] <= 8


async def test_a_wait_beyond_the_limit_is_not_waited_for(model_at, clock):
    async with ScriptedServer(status(429, retry_after=600)) as server:
        failure = last_failure(await ask(model_at(server.url)))
        server.finish()
    assert clock.slept == []
    assert failure.kind is ErrorKind.RATE_LIMIT
    assert failure.retry_after_s == 600
    assert "10 min" in failure.hint


async def test_a_user_may_allow_longer_waits(model_at, clock):
    policy = RetryPolicy(max_server_wait_s=900)
    async with ScriptedServer(status(429, retry_after=600), "fine") as server:
        events = await ask(model_at(server.url, retry=policy))
    assert said(events).text == "fine"
    assert clock.slept[0] >= 600


@pytest.mark.parametrize(
    ("code", "kind"),
    [(401, ErrorKind.AUTH), (402, ErrorKind.QUOTA_EXHAUSTED), (404, ErrorKind.NOT_FOUND)],
)
async def test_what_will_not_pass_is_not_asked_again(model_at, clock, code, kind):
    async with ScriptedServer(status(code)) as server:
        failure = last_failure(await ask(model_at(server.url)))
        server.finish()
    assert failure.kind is kind
    assert clock.slept == []


async def test_a_page_of_html_is_no_answer(model_at):
    page = b"<html><head><title>Sign in to the proxy</title></head></html>"
    reply = Reply(body=page, headers=(("Content-Type", "text/html"),))
    async with ScriptedServer(reply) as server:
        failure = last_failure(await ask(model_at(server.url)))
    assert failure.kind is ErrorKind.PROTOCOL
    assert failure.said == "Sign in to the proxy"


async def test_a_redirect_is_told_and_not_followed(model_at):
    reply = Reply(status=302, body=b"", headers=(("location", "http://elsewhere.test/"),))
    async with ScriptedServer(reply) as server:
        failure = last_failure(await ask(model_at(server.url)))
        server.finish()
    assert failure.kind is ErrorKind.NOT_FOUND
    assert "http://elsewhere.test/" in failure.message


async def test_a_connection_cut_before_the_answer_is_asked_again(model_at):
    async with ScriptedServer(drop_before(), "fine") as server:
        events = await ask(model_at(server.url))
    assert isinstance(events[0], RetryScheduled)
    assert events[0].failure.kind is ErrorKind.NETWORK
    assert said(events).text == "fine"


async def test_an_answer_cut_midway_is_not_asked_again_here(model_at):
    async with ScriptedServer(drop(answer("Half of an answer."), at=600)) as server:
        events = await ask(model_at(server.url))
        server.finish()
    failure = last_failure(events)
    assert any(isinstance(event, TextDelta) for event in events)
    assert failure.kind is ErrorKind.NETWORK
    assert failure.mid_stream
    assert failure.retryable


async def test_a_server_that_hangs_is_given_up_on_and_asked_again(model_at):
    async with ScriptedServer(hang(), "fine") as server:
        begun = time.monotonic()
        events = await ask(model_at(server.url))
        assert time.monotonic() - begun < 3
    assert isinstance(events[0], RetryScheduled)
    assert events[0].failure.kind is ErrorKind.TIMEOUT
    assert events[0].failure.provider == "Acme"
    assert said(events).text == "fine"


async def test_a_server_that_always_hangs_is_asked_three_times(model_at):
    async with ScriptedServer(hang(), hang(), hang()) as server:
        failure = last_failure(await ask(model_at(server.url)))
        server.finish()
    assert failure.kind is ErrorKind.TIMEOUT


async def test_silence_midway_is_a_timeout_and_not_a_hang(model_at):
    async with ScriptedServer(hang_mid(answer("Half of an answer."), at=600)) as server:
        failure = last_failure(await ask(model_at(server.url)))
    assert failure.kind is ErrorKind.TIMEOUT
    assert failure.mid_stream


async def test_silence_after_the_finish_does_no_harm(model_at):
    stream = (
        b'data: {"choices":[{"delta":{"content":"done"},"finish_reason":null}]}\n\n'
        b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    )
    reply = Reply(
        body=stream, hang_at=len(stream), headers=(("Content-Type", "text/event-stream"),)
    )
    async with ScriptedServer(reply) as server:
        events = await ask(model_at(server.url))
    assert said(events).text == "done"
    assert isinstance(events[-1], Completed)


async def test_an_error_inside_a_stream_before_any_word_is_asked_again(model_at):
    stream = (
        b'data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n'
        b'data: {"error":{"message":"Overloaded","type":"overloaded_error"}}\n\n'
    )
    reply = Reply(body=stream, headers=(("Content-Type", "text/event-stream"),))
    async with ScriptedServer(reply, "fine") as server:
        events = await ask(model_at(server.url))
    assert isinstance(events[0], RetryScheduled)
    assert events[0].failure.kind is ErrorKind.OVERLOADED
    assert said(events).text == "fine"


async def test_an_empty_answer_is_an_answer(model_at):
    async with ScriptedServer(empty()) as server:
        events = await ask(model_at(server.url))
        server.finish()
    assert isinstance(events[-1], Completed)
    assert said(events).content == ()


async def test_nothing_listening_ends_at_once_with_a_remedy(model_at, clock):
    async with ScriptedServer() as server:
        url = server.url
    failure = last_failure(await ask(model_at(url)))
    assert failure.kind is ErrorKind.NETWORK
    assert failure.message.startswith("Acme: Nothing is listening at")
    assert clock.slept == []


async def test_leaving_early_hangs_up(model_at):
    async with ScriptedServer(hang_mid(answer("Half of an answer."), at=600)) as server:
        async with model_at(server.url).stream(HELLO) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        with anyio.fail_after(2):
            await server.over(1)
        assert server.requests[0].abandoned


async def test_cancelling_hangs_up(model_at):
    async with ScriptedServer(hang()) as server:
        model = model_at(server.url)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, model)
            await server.arrived(1)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(2):
            await server.over(1)
        assert server.requests[0].abandoned


async def test_cancelling_ends_a_wait(http):
    clock = FakeClock(auto=False)
    line = Line(http=http, clock=clock)
    async with ScriptedServer(status(503)) as server:
        model = connect(FACTS, Endpoint(base_url=f"{server.url}/v1"), line)
        with anyio.move_on_after(0.3) as scope:
            await ask(model)
    assert scope.cancelled_caught


# ---------------------------------------------------------------- learning parameters


def refuses(parameter: str) -> Reply:
    error = (
        f'{{"error":{{"message":"Unsupported parameter: \'{parameter}\' is not supported with this '
        f'model.","type":"invalid_request_error","param":"{parameter}",'
        f'"code":"unsupported_parameter"}}}}'
    )
    return Reply(status=400, body=error.encode(), headers=(("Content-Type", "application/json"),))


THINKING = ModelFacts(
    backend="acme",
    model="m1",
    wire="openai_chat",
    vendor="Acme",
    max_output=1000,
    efforts=frozenset({Effort.HIGH}),
    quirks=frozenset({Quirk.PROMPT_CACHE_KEY}),
    timeouts=FACTS.timeouts,
)


@pytest.mark.parametrize(
    ("parameter", "gone", "instead"),
    [
        ("max_tokens", "max_tokens", "max_completion_tokens"),
        ("reasoning_effort", "reasoning_effort", None),
        ("stream_options", "stream_options", None),
        ("prompt_cache_key", "prompt_cache_key", None),
    ],
)
async def test_a_parameter_the_server_does_not_take_is_left_out_from_then_on(
    model_at, clock, parameter, gone, instead
):
    request = ModelRequest(system="", messages=HELLO.messages, effort=Effort.HIGH, session="s1")
    async with ScriptedServer(refuses(parameter), "fine", "again") as server:
        model = model_at(server.url, THINKING)
        events = await ask(model, request)
        await ask(model, request)
        bodies = [question.body for question in server.questions]
    assert not any(isinstance(event, RetryScheduled) for event in events)
    assert said(events).text == "fine"
    assert clock.slept == []
    assert gone in bodies[0]
    assert gone not in bodies[1]
    assert gone not in bodies[2]
    if instead:
        assert bodies[1][instead] == bodies[0][gone]


async def test_a_parameter_is_left_out_only_once_for_a_question(model_at):
    async with ScriptedServer(refuses("max_tokens"), refuses("max_completion_tokens")) as server:
        failure = last_failure(await ask(model_at(server.url)))
        server.finish()
    assert failure.kind is ErrorKind.INVALID_REQUEST
    assert failure.parameter == "max_completion_tokens"


async def test_a_complaint_that_nothing_can_be_done_about_is_told(model_at):
    async with ScriptedServer(refuses("temperature")) as server:
        failure = last_failure(await ask(model_at(server.url)))
        server.finish()
    assert failure.said.startswith("Unsupported parameter: 'temperature'")


async def test_the_facts_of_a_model_stay_what_they_were(model_at):
    async with ScriptedServer(refuses("max_tokens"), "fine") as server:
        model = model_at(server.url)
        await ask(model)
    assert model.facts is FACTS
    assert model.taught is not FACTS


async def test_patience_of_the_user_comes_before_that_of_the_facts(http, clock):
    line = Line(http=http, clock=clock, first_byte_s=0.1, idle_s=9)
    limits = line.timeouts(FACTS.timeouts)
    assert (limits.first_byte_s, limits.idle_s) == (0.1, 9)
    assert limits.connect_s == FACTS.timeouts.connect_s


async def test_the_conversation_is_repaired_before_it_is_sent(model_at):
    orphan = answer(call("read_file", path="a"))
    request = ModelRequest(system="", messages=(*HELLO.messages, orphan))
    async with ScriptedServer("fine") as server:
        await ask(model_at(server.url), request)
        messages = server.questions[0].body["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]


PICTURE = Image("image/png", b"first")


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        (400, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum"),
        (400, "Could not process image"),
        (404, "No endpoints found that support image input"),
        (413, "Request exceeds the maximum size"),
    ],
)
async def test_a_picture_the_server_does_not_take_is_left_out_from_then_on(
    model_at, code, complaint
):
    seen = User((Text("see"), PICTURE))
    first = ModelRequest(system="", messages=(seen,))
    later = ModelRequest(
        system="", messages=(seen, Assistant((Text("ok"),)), User((Image("image/png", b"new"),)))
    )
    async with ScriptedServer(status(code, complaint), "fine", "again") as server:
        model = model_at(server.url)
        assert said(await ask(model, first)).text == "fine"
        assert said(await ask(model, later)).text == "again"
        sent: list[Any] = [question.body["messages"] for question in server.questions]
    assert sent[0][0]["content"][1]["type"] == "image_url"
    left_out = "[image left out: the provider did not take it]"
    assert sent[1] == [{"role": "user", "content": f"see\n\n{left_out}"}]
    assert sent[2][0] == sent[1][0]
    assert sent[2][2]["content"][0]["type"] == "image_url"


@pytest.mark.parametrize(
    ("refusals", "kept"),
    [
        ([status(413, "Request exceeds the maximum size")], [False, False, True]),
        ([status(413, "Request exceeds the maximum size")] * 2, [False, False, False]),
        ([status(400, "Could not process image")], [True, True, False]),
        ([status(400, "Could not process image")] * 2, [False, False, False]),
    ],
    ids=["together too large", "too large even so", "one is bad", "another is bad"],
)
async def test_of_several_pictures_those_go_that_are_most_likely_meant(model_at, refusals, kept):
    pictures = [User((Image("image/png", f"{n}".encode()),)) for n in range(3)]
    ok = Assistant((Text("ok"),))
    messages = (pictures[0], ok, pictures[1], ok, pictures[2])
    async with ScriptedServer(*refusals, "fine") as server:
        assert said(await ask(model_at(server.url), ModelRequest(system="", messages=messages))).text == "fine"  # fmt: skip
        sent: Any = server.questions[-1].body["messages"]
        server.finish()
    shown = [message["content"] for message in sent if message["role"] == "user"]
    assert [isinstance(content, list) for content in shown] == kept


async def test_a_request_too_large_without_files_is_told_at_once(model_at):
    async with ScriptedServer(status(413, "Request exceeds the maximum size")) as server:
        failure = last_failure(await ask(model_at(server.url)))
        server.finish()
    assert failure.kind is ErrorKind.REQUEST_TOO_LARGE
