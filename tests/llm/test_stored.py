"""Prefixes that are stored for hire, over real HTTP: when, for how long, and what it comes to."""

import json
from collections.abc import Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from msgspec.structs import replace

from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.message import Assistant, Text, User
from hame.base.model import CacheLifetime, Endpoint, ModelFacts, Price, ToolSupport, Usage
from hame.base.ports import Http, HttpRequest, ModelRequest
from hame.base.stream import Completed, Failed, RetryScheduled, StreamEvent
from hame.base.tool import Effect, ToolSpec
from hame.llm.asking import Line
from hame.llm.client import HttpModel, connect
from hame.llm.storage import StorageTerms
from hame.llm.stored import bargain
from hame.net.http import HttpClient
from hame.testing import FakeClock, Received, Reply, ScriptedServer, answer
from hame.testing.reply import Scripted, hang, status

PRO = ModelFacts(
    backend="gemini",
    model="gemini-3-pro-preview",
    wire="gemini",
    vendor="Google",
    price=Price(input=2.0, output=12.0, cache_read=0.2),
)
CONTENTS = "/v1beta/cachedContents"
NAME = "cachedContents/abc"
TOKENS = 5_000
WORTH = 4
"""Answers in vain that pay for storing: (2.0 + 4.5) / (2.0 - 0.2) = 3.6."""
LONG = "Rules. " * 3_000
HIT = answer("ok", usage=Usage(input_uncached=100, cache_read=6_000, output=1))
GONE = status(403, "CachedContent not found (or permission denied)")


def page(received: Received) -> Reply:
    """A server that stores: lists nothing, makes, and renews."""
    made = {"name": NAME, "usageMetadata": {"totalTokenCount": TOKENS}}
    return Reply(body=json.dumps({} if received.method == "GET" else made).encode())


PAGES = {CONTENTS: page, f"/v1beta/{NAME}": page}


@pytest.fixture
async def http():
    client = HttpClient(user_agent="hame-test")
    yield client
    await client.aclose()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


Make = Callable[..., HttpModel]


@pytest.fixture
def model_at(http, clock) -> Make:
    def make(url: str, facts: ModelFacts = PRO, *, door: Http = http, storing_s=3.0) -> HttpModel:
        line = Line(http=door, clock=clock, draw=lambda: 1.0, storing_s=storing_s)
        return connect(facts, Endpoint(base_url=url, api_key="k"), line)

    return make


def turn(number: int, **other) -> ModelRequest:
    """The question of that turn of a session, from 1."""
    said = [message for n in range(1, number) for message in (_user(n), answer(f"answer {n}"))]
    messages = (*said, _user(number))
    plain = ModelRequest(system=LONG, messages=messages, session="s", cache=CacheLifetime.PREFIX)
    return replace(plain, **other)


def _user(number: int) -> User:
    return User((Text(f"question {number}"),))


async def ask(model: HttpModel, request: ModelRequest) -> list[StreamEvent]:
    async with model.stream(request) as events:
        return [event async for event in events]


async def answered(model: HttpModel, request: ModelRequest) -> Assistant:
    """The answer, which must come at once."""
    fold = Fold()
    for event in await ask(model, request):
        assert not isinstance(event, RetryScheduled | Failed)
        fold.add(event)
    return fold.message()


async def converse(model: HttpModel, turns: int, first: int = 1, **other) -> list[Usage]:
    """So many turns; the usage of each."""
    usages: list[Usage] = []
    for number in range(first, first + turns):
        usage = (await answered(model, turn(number, **other))).usage
        assert usage is not None
        usages.append(usage)
    return usages


def named(server: ScriptedServer) -> list[object]:
    """What each question named in place of its fixed part."""
    return [question.body.get("cachedContent") for question in server.questions]


def about(server: ScriptedServer, method: str) -> list[Received]:
    """The requests about cached contents with that method."""
    return [each for each in server.requests if each.wire is None and each.method == method]


@asynccontextmanager
async def serving(*steps: Scripted, pages=None):
    async with ScriptedServer(*steps, pages=PAGES if pages is None else pages) as server:
        yield server
        server.finish()


# ---------------------------------------------------------------- making and naming


async def test_a_prefix_is_stored_once_answers_in_vain_would_have_paid_for_it(model_at):
    async with serving(*["ok"] * (WORTH + 2)) as server:
        usages = await converse(model_at(server.url), WORTH + 2)
        (made,) = about(server, "POST")
        before, after = server.questions[WORTH - 1], server.questions[WORTH]
    assert named(server) == [None] * WORTH + [NAME] * 2
    assert made.body["systemInstruction"] == before.body["systemInstruction"]
    assert made.body["ttl"] == "3600s"
    assert not {"systemInstruction", "tools", "toolConfig"} & set(after.body)
    assert len(after.body["contents"]) == 2 * WORTH + 1
    paid = [usage.kept_micro_usd for usage in usages]
    assert paid == [0] * WORTH + [round(TOKENS * 6.5), 0]
    plain = replace(usages[WORTH], kept_micro_usd=0)
    whole, less = PRO.cost(usages[WORTH]), PRO.cost(plain)
    assert whole is not None
    assert less is not None
    assert whole - less == pytest.approx(0.0325)


async def test_nothing_is_asked_about_storing_before_it_is_due(model_at):
    async with serving(*["ok"] * WORTH) as server:
        await converse(model_at(server.url), WORTH)
        assert len(server.requests) == WORTH


async def test_a_prefix_is_never_stored_in_the_first_turn_of_a_session(model_at):
    async with serving(*["ok"] * 12) as server:
        model = model_at(server.url)
        for _ in range(10):
            await answered(model, turn(1))
        assert not about(server, "POST")
        await converse(model, 2, first=1)
        assert named(server)[-1] == NAME


async def test_what_is_stored_serves_the_first_turn_of_another_session(model_at):
    async with serving(*["ok"] * (WORTH + 2)) as server:
        model = model_at(server.url)
        await converse(model, WORTH + 1)
        await answered(model, turn(1, session="other"))
        assert named(server)[-1] == NAME


async def test_a_small_prefix_is_never_stored(model_at):
    small = "Rules. " * ((4_096 * 4 - 200) // 7)
    async with serving(*["ok"] * 8) as server:
        await converse(model_at(server.url), 8, system=small)
        assert len(server.requests) == 8


async def test_nothing_is_stored_where_the_provider_caches_by_itself(model_at):
    async with serving(*["ok", "ok", "ok", HIT] * 4) as server:
        await converse(model_at(server.url), 16)
        assert len(server.requests) == 16


async def test_answers_in_vain_that_are_more_than_an_hour_old_do_not_count(model_at, clock):
    async with serving(*["ok"] * (WORTH + 2)) as server:
        model = model_at(server.url)
        await converse(model, WORTH - 1)
        await clock.sleep(3_700)
        await converse(model, 3, first=WORTH)
        assert not about(server, "POST")


@pytest.mark.parametrize(
    "facts",
    [
        replace(PRO, price=None),
        replace(PRO, price=Price(input=2.0, output=12.0)),
        replace(PRO, price=Price(input=2.0, output=12.0, cache_read=2.0)),
        replace(PRO, tools=ToolSupport.TEXT),
        replace(PRO, model="gemma-3-27b-it"),
    ],
    ids=["no price", "no cache price", "no saving", "tools in words", "no Gemini"],
)
async def test_nothing_is_stored_where_it_is_not_known_to_save_money(model_at, facts):
    async with serving(*["ok"] * 8) as server:
        await converse(model_at(server.url, facts), 8)
        assert len(server.requests) == 8


async def test_nothing_is_stored_with_the_short_lifetime(model_at):
    async with serving(*["ok"] * 8) as server:
        await converse(model_at(server.url), 8, cache=CacheLifetime.SHORT)
        assert len(server.requests) == 8


async def test_a_model_of_another_wire_stores_nothing(model_at):
    async with serving(*["ok"] * 6) as server:
        facts = replace(PRO, wire="openai_chat")
        await converse(model_at(f"{server.url}/v1", facts), 6)
        assert len(server.requests) == 6


@pytest.mark.parametrize(
    "change",
    [
        {"system": LONG + "One more."},
        {"web_search": True},
        {"tools": (ToolSpec(name="t", description="Does.", effect=Effect.READ),)},
    ],
    ids=["system", "search", "tools"],
)
async def test_another_fixed_part_is_another_prefix(model_at, change):
    async with serving(*["ok"] * (WORTH + 3)) as server:
        model = model_at(server.url)
        await converse(model, WORTH + 1)
        await answered(model, turn(3, **change))
        await answered(model, turn(3))
        assert named(server)[-3:] == [NAME, None, NAME]
        assert len(about(server, "POST")) == 1


async def test_tools_with_one_name_and_other_schemas_are_different_prefixes(model_at):
    def tool(kind: str) -> ToolSpec:
        schema = {"type": "object", "properties": {"a": {"type": kind}}}
        return ToolSpec(name="t", description="Does.", effect=Effect.READ, raw_schema=schema)

    async with serving(*["ok"] * (WORTH + 2)) as server:
        model = model_at(server.url)
        await converse(model, WORTH + 1, tools=(tool("string"),))
        await answered(model, turn(3, tools=(tool("number"),)))
        assert named(server)[-2:] == [NAME, None]


# ---------------------------------------------------------------- addresses


async def test_a_server_of_another_is_asked_once_whether_it_stores(model_at):
    async with serving(*["ok"] * 12) as server:
        model = model_at(server.url)
        await converse(model, WORTH + 1)
        await converse(model, WORTH + 1, system=LONG + "More.")
        assert len(about(server, "GET")) == 1
        assert len(about(server, "POST")) == 2
        await converse(model, 2, first=WORTH + 2)


async def test_nothing_is_sent_to_be_stored_to_a_server_that_does_not_answer_so(model_at):
    async with serving(*["ok"] * 12, pages={}) as server:
        model = model_at(server.url)
        await converse(model, 6)
        await converse(model, 6, system=LONG + "More.")
        assert len(about(server, "GET")) == 1
        assert not about(server, "POST")
        assert set(named(server)) == {None}


async def test_googles_own_servers_need_not_be_asked(model_at, http):
    class Door:
        """Leads to the test's server whoever is called."""

        def __init__(self, url: str) -> None:
            self.url = url

        def send(self, request: HttpRequest, timeouts):
            url = request.url.replace("https://generativelanguage.googleapis.com", self.url)
            return http.send(replace(request, url=url), timeouts)

    async with serving(*["ok"] * (WORTH + 1)) as server:
        model = model_at("https://generativelanguage.googleapis.com", door=Door(server.url))
        await converse(model, WORTH + 1)
        assert not about(server, "GET")
        assert named(server)[-1] == NAME


async def test_vertex_keeps_them_in_its_project(model_at):
    parent = "projects/p/locations/l"
    name = f"{parent}/cachedContents/7"

    def vertex(received: Received) -> Reply:
        return Reply(body=json.dumps({} if received.method == "GET" else {"name": name}).encode())

    async with serving(*["ok"] * 5, pages={f"/v1/{parent}/cachedContents": vertex}) as server:
        usages = await converse(model_at(f"{server.url}/v1/{parent}/publishers/google"), 5)
        (made,) = about(server, "POST")
    assert made.body["model"] == f"{parent}/publishers/google/models/{PRO.model}"
    assert named(server)[-1] == name
    assert usages[-1].kept_micro_usd > len(LONG) / 4 * 6.5 - 10  # an estimate: it does not count


# ---------------------------------------------------------------- renewing and expiring


async def stored(model: HttpModel, uses: int) -> int:
    """Let a prefix be stored and used that often; the number of the turn that follows."""
    await converse(model, WORTH + uses)
    return WORTH + uses + 1


async def test_one_that_ends_soon_is_renewed_where_its_use_paid_for_that(model_at, clock):
    async with serving(*["ok"] * (WORTH + 5)) as server:
        model = model_at(server.url)
        following = await stored(model, uses=3)
        await clock.sleep(3_600 - 59)
        usages = await converse(model, 1, following)
        (renewed,) = about(server, "PATCH")
        assert renewed.body == {"ttl": "3600s"}
        assert (renewed.path, renewed.query) == (f"/v1beta/{NAME}", "updateMask=ttl")
        assert usages[0].kept_micro_usd == round(TOKENS * 4.5)
        await clock.sleep(3_000)
        await converse(model, 1, following + 1)
        assert named(server)[-2:] == [NAME, NAME]
        assert len(about(server, "PATCH")) == len(about(server, "POST")) == 1


async def test_one_that_does_not_end_soon_is_not_renewed(model_at, clock):
    async with serving(*["ok"] * (WORTH + 4)) as server:
        model = model_at(server.url)
        following = await stored(model, uses=3)
        await clock.sleep(3_600 - 61)
        await converse(model, 1, following)
        assert named(server)[-1] == NAME
        assert not about(server, "PATCH")


async def test_one_that_was_little_used_is_given_up(model_at, clock):
    async with serving(*["ok"] * (WORTH + 3)) as server:
        model = model_at(server.url)
        following = await stored(model, uses=2)
        await clock.sleep(3_600 - 30)
        await converse(model, 1, following)
        assert named(server)[-1] is None
        assert not about(server, "PATCH")


async def test_one_that_is_over_is_given_up_and_made_again_only_when_it_is_due(model_at, clock):
    async with serving(*["ok"] * (2 * WORTH + 4)) as server:
        model = model_at(server.url)
        following = await stored(model, uses=3)
        await clock.sleep(3_601)
        await converse(model, WORTH + 1, following)
        assert named(server)[-WORTH - 1 :] == [None] * WORTH + [NAME]
        assert not about(server, "PATCH")
        assert len(about(server, "POST")) == 2


@pytest.mark.parametrize(
    "reply", [status(500), Reply(body=b"{}"), Reply(body=b'{"name":"cachedContents/other"}')]
)
async def test_one_that_cannot_be_renewed_is_given_up(model_at, clock, reply):
    pages = {**PAGES, f"/v1beta/{NAME}": reply}
    async with serving(*["ok"] * (WORTH + 4), pages=pages) as server:
        model = model_at(server.url)
        following = await stored(model, uses=3)
        await clock.sleep(3_570)
        usages = await converse(model, 1, following)
        assert named(server)[-1] is None
        assert usages[0].kept_micro_usd == 0


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=400, body=b'{"error":{"message":"Cached content is too small."}}'),
        Reply(status=503, body=b""),
        Reply(body=b"<html>"),
        Reply(body=b"{}"),
        Reply(body=b"{" * 2_000_000),
        Reply(body=b"{}", drop_at=1),
        hang(),
    ],
    ids=["refused", "busy", "page", "no name", "endless", "broken", "silent"],
)
async def test_a_prefix_that_could_not_be_stored_is_sent_in_full_from_then_on(model_at, reply):
    def fails(received: Received) -> Reply:
        return page(received) if received.method == "GET" else reply

    async with serving(*["ok"] * 8, pages={CONTENTS: fails}) as server:
        usages = await converse(model_at(server.url, storing_s=0.2), 8)
        assert len(about(server, "POST")) == 1
        assert set(named(server)) == {None}
        assert not any(usage.kept_micro_usd for usage in usages)


@pytest.mark.parametrize(
    "refusal",
    [
        GONE,
        status(404, "Not found: cached content metadata for 7."),
        status(400, "Cache content 7 is expired."),
        status(400, "CachedContent can not be used with GenerateContent request setting tools."),
    ],
)
async def test_one_that_is_gone_is_forgotten_and_the_same_is_asked_in_full_at_once(
    model_at, clock, refusal
):
    async with serving(*["ok"] * (WORTH + 1), refusal, "still", "ok") as server:
        model = model_at(server.url)
        following = await stored(model, uses=1)
        message = await answered(model, turn(following))
        assert message.text == "still"
        await converse(model, 1, following + 1)
        refused, again = server.questions[-3:-1]
    assert not clock.slept
    assert named(server)[-3:] == [NAME, None, None]
    assert again.body["contents"] == refused.body["contents"]
    assert again.body["systemInstruction"] == server.questions[0].body["systemInstruction"]


async def test_one_that_is_gone_in_the_stream_is_asked_in_full_too(model_at):
    error = b'data: {"error":{"code":403,"message":"CachedContent not found"}}\n\n'
    gone = Reply(body=error, headers=(("Content-Type", "text/event-stream"),))
    async with serving(*["ok"] * (WORTH + 1), gone, "still") as server:
        model = model_at(server.url)
        following = await stored(model, uses=1)
        assert (await answered(model, turn(following))).text == "still"


async def test_one_that_never_served_is_not_made_again(model_at):
    async with serving(*["ok"] * WORTH, GONE, *["ok"] * 6) as server:
        usages = await converse(model_at(server.url), WORTH + 6)
        assert len(about(server, "POST")) == 1
        assert named(server).count(NAME) == 1
        assert sum(usage.kept_micro_usd for usage in usages) == round(TOKENS * 6.5)


async def test_one_that_served_and_is_gone_is_made_again_when_it_is_due(model_at):
    async with serving(*["ok"] * (WORTH + 1), GONE, *["ok"] * (WORTH + 1)) as server:
        model = model_at(server.url)
        following = await stored(model, uses=1)
        await converse(model, WORTH + 1, following)
        assert named(server)[-1] == NAME
        assert len(about(server, "POST")) == 2


async def test_other_refusals_are_what_they_are(model_at):
    no = status(403, "Your key may not ask this model.")
    async with serving(*["ok"] * (WORTH + 1), no, "ok") as server:
        model = model_at(server.url)
        following = await stored(model, uses=1)
        events = await ask(model, turn(following))
        assert isinstance(events[-1], Failed)
        assert events[-1].failure.kind is ErrorKind.PERMISSION
        await converse(model, 1, following)
        assert named(server)[-2:] == [NAME, NAME]


async def test_a_failure_that_passes_is_asked_again_with_the_same_name(model_at, clock):
    async with serving(*["ok"] * (WORTH + 1), status(503), "ok") as server:
        model = model_at(server.url)
        following = await stored(model, uses=1)
        events = await ask(model, turn(following))
        assert isinstance(events[-1], Completed)
        assert named(server)[-2:] == [NAME, NAME]
    assert clock.slept == [0.5]


async def test_what_storing_cost_is_said_by_the_next_answer_that_counts(model_at):
    no = status(403, "Your key may not ask this model.")
    async with serving(*["ok"] * WORTH, no, "ok") as server:
        model = model_at(server.url)
        await converse(model, WORTH)
        await ask(model, turn(WORTH + 1))
        usages = await converse(model, 1, WORTH + 1)
    assert usages[0].kept_micro_usd == round(TOKENS * 6.5)


async def test_questions_at_one_time_store_a_prefix_once(model_at):
    async with serving(*["ok"] * (WORTH + 3)) as server:
        model = model_at(server.url)
        await converse(model, WORTH)
        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(answered, model, turn(WORTH + 1, session=str(number)))
        assert len(about(server, "POST")) == 1


async def test_leaving_while_a_prefix_is_being_stored_leaves_nothing_behind(model_at):
    def silent(received: Received) -> Reply:
        return page(received) if received.method == "GET" else hang()

    async with serving(*["ok"] * (WORTH + 1), pages={CONTENTS: silent}) as server:
        model = model_at(server.url)
        await converse(model, WORTH)
        async with anyio.create_task_group() as group:
            group.start_soon(ask, model, turn(WORTH + 1))
            await server.arrived(WORTH + 2)
            group.cancel_scope.cancel()
        await server.over(WORTH + 2)
        assert server.requests[-1].abandoned
        await converse(model, 1, WORTH + 1)
        assert len(about(server, "POST")) == 1


# ---------------------------------------------------------------- what it costs


@pytest.mark.parametrize(
    ("price", "hour", "make", "keep"),
    [
        (Price(input=2.0, output=12.0, cache_read=0.2), 4.5, 4, 3),
        (Price(input=2.0, output=10.0, cache_read=0.1), 4.5, 4, 3),
        (Price(input=1.25, output=10.0, cache_read=0.125), 4.5, 6, 4),
        (Price(input=0.5, output=3.0, cache_read=0.05), 1.0, 4, 3),
        (Price(input=0.1, output=0.4, cache_read=0.01), 1.0, 13, 12),
    ],
)
def test_the_bargain_follows_from_the_prices(price, hour, make, keep):
    terms = StorageTerms(least_tokens=1, usd_per_hour=hour, vendors_own=True)
    found = bargain(replace(PRO, price=price), terms)
    assert found is not None
    assert (found.worth_making, found.worth_keeping) == (make, keep)
    vain = found.worth_making * (price.input - price.cache_read)
    assert price.input + hour <= vain < 2 * (price.input + hour)


# ---------------------------------------------------------------- letting go


async def test_what_is_stored_is_let_go_when_nobody_will_ask_again(model_at):
    async with serving(*["ok"] * (WORTH + 1)) as server:
        model = model_at(server.url)
        await model.release()
        await converse(model, WORTH + 1)
        assert about(server, "DELETE") == []
        await model.release()
        (gone,) = about(server, "DELETE")
        await model.release()
        assert len(about(server, "DELETE")) == 1
    assert gone.path == f"/v1beta/{NAME}"
    assert gone.headers["x-goog-api-key"] == "k"


async def test_what_has_ended_by_itself_is_not_asked_for(model_at, clock):
    async with serving(*["ok"] * (WORTH + 1)) as server:
        model = model_at(server.url)
        await converse(model, WORTH + 1)
        await clock.advance(3_700)
        await model.release()
    assert about(server, "DELETE") == []


async def test_a_server_that_does_not_answer_does_not_hold_up_the_end(model_at):
    def lost(received: Received) -> Reply:
        return hang() if received.method == "DELETE" else page(received)

    pages = {CONTENTS: page, f"/v1beta/{NAME}": lost}
    async with serving(*["ok"] * (WORTH + 1), pages=pages) as server:
        model = model_at(server.url, storing_s=0.2)
        await converse(model, WORTH + 1)
        with anyio.fail_after(5):
            await model.release()
