"""Trying how a model calls tools, over real HTTP: two steps, the first way that works, nothing believed."""

from collections.abc import Callable

import anyio
import pytest

from hame.base.json import dump, get_list, get_object, get_objects
from hame.base.model import Constraint, Endpoint, ModelFacts, ToolSupport
from hame.llm.asking import Line
from hame.llm.client import connect
from hame.llm.probe import Way, find_way
from hame.llm.retry import RetryPolicy
from hame.net.http import HttpClient
from hame.testing import FakeClock, ScriptedServer, answer, call
from hame.testing.reply import Received, hang, slow, status

CALL = answer(call("read_note", name="pear"))
TOLD = answer("The word is Marzipan.")
SCHEMA = answer('{"tool": "read_note", "arguments": {"name": "pear"}}')
SAID = answer('{"say": "marzipan"}')
TEXT = answer('<tool_call>{"name": "read_note", "arguments": {"name": "Pear"}}</tool_call>')
NO = answer("no")
NO_TOOLS = status(400, "m does not support tools")


@pytest.fixture
async def way_of():
    http = HttpClient(user_agent="test")

    async def find(*steps, wire="ollama", **more):
        line = Line(http=http, clock=FakeClock(), retry=RetryPolicy(), draw=lambda: 1.0)
        async with ScriptedServer(*steps) as server:
            base = server.url if wire == "ollama" else f"{server.url}/v1"

            def open_as(way: Way):
                facts = ModelFacts(
                    backend="b", model="m", wire=wire, tools=way.tools, constraint=way.constraint
                )
                return connect(facts, Endpoint(base_url=base), line)

            found = await find_way(open_as, **more)
            server.finish()
        return found

    yield find
    await http.aclose()


@pytest.mark.parametrize(
    ("steps", "way"),
    [
        ([CALL, TOLD], ToolSupport.NATIVE),
        ([TEXT, SCHEMA, SAID], ToolSupport.SCHEMA),
        ([answer("Sure: pear."), answer('{"say": "pear"}')], ToolSupport.TEXT),
        ([answer(call("read_note", name="apple")), SCHEMA, SAID], ToolSupport.SCHEMA),
        ([answer(call("other", name="pear")), SCHEMA, SAID], ToolSupport.SCHEMA),
        ([NO_TOOLS, TEXT, SCHEMA, SAID], ToolSupport.SCHEMA),
        ([NO, NO], ToolSupport.TEXT),
    ],
)
async def test_the_first_way_that_works_is_found(way_of, steps, way):
    assert await way_of(*steps) == Way(way)


@pytest.mark.parametrize(
    "second",
    [
        CALL,
        answer("I called the tool."),
        answer(""),
        answer("marzipan", call("read_note", name="pear")),
        *[status(code, "after user must come assistant") for code in (400, 422)],
    ],
)
async def test_a_model_that_calls_and_cannot_go_on_is_taken_one_step_down(way_of, second):
    assert await way_of(CALL, second, SCHEMA, SAID) == Way(ToolSupport.SCHEMA)
    assert await way_of(CALL, second, SCHEMA, answer('{"say": "?"}')) == Way(ToolSupport.TEXT)


async def test_the_second_question_holds_the_call_and_its_result(way_of):
    bodies = []

    def keep(then):
        def reply(received: Received):
            bodies.append(received.body)
            return then

        return reply

    await way_of(keep(CALL), keep(TOLD), wire="openai_chat")
    first, second = bodies
    said = get_objects(second, "messages")
    assert said[: len(get_list(first, "messages"))] == first["messages"]
    assert [message["role"] for message in said[-2:]] == ["assistant", "tool"]
    assert said[-1]["content"] == "marzipan"
    assert first["tools"] == second["tools"]
    assert first["temperature"] == 0.0


async def test_a_model_whose_server_knows_it_has_no_tools_is_not_asked_for_them(way_of):
    assert await way_of(SCHEMA, SAID, native=False) == Way(ToolSupport.SCHEMA)


async def test_a_server_that_fails_says_nothing_about_its_model(way_of):
    assert await way_of(status(401, "no")) is None
    assert await way_of(CALL, status(401, "no")) is None
    assert await way_of(*[status(404, "no such model")]) is None


async def test_a_server_that_answers_to_nothing_says_nothing_about_its_model(way_of):
    assert await way_of(*[status(400, "broken")] * 2) is None


async def test_an_answer_that_runs_on_is_not_waited_for():
    """Each word takes a while; all of them would take minutes."""
    http = HttpClient(user_agent="test")
    long = slow(answer("word " * 5_000), 0.001)
    async with ScriptedServer(long, SCHEMA, SAID) as server:
        line = Line(http=http, clock=FakeClock())

        def open_as(way: Way):
            facts = ModelFacts(backend="b", model="m", wire="ollama", tools=way.tools)
            return connect(facts, Endpoint(base_url=server.url), line)

        assert await find_way(open_as) == Way(ToolSupport.SCHEMA)
        await server.over(3)
        assert server.requests[0].abandoned
    await http.aclose()


async def test_who_cancels_hangs_up():
    http = HttpClient(user_agent="test")
    async with ScriptedServer(CALL, hang()) as server:
        line = Line(http=http, clock=FakeClock())

        def open_as(way: Way):
            facts = ModelFacts(backend="b", model="m", wire="ollama", tools=way.tools)
            return connect(facts, Endpoint(base_url=server.url), line)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(find_way, open_as)
            await server.arrived(2)
            tasks.cancel_scope.cancel()
        await server.over(2)
        assert server.requests[1].abandoned
    await http.aclose()


# ---------------------------------------------------------------- lines


def holds(**obeyed: Callable[[object], str]):
    """A model that says nothing of use, behind a server that holds it to what it is told in these members."""

    def reply(received: Received):
        for name, say in obeyed.items():
            if name in received.body:
                return answer(say(received.body[name]))
        return answer("I would rather talk about horses.")

    return reply


def first_of_grammar(grammar: object) -> str:
    return str(grammar).split('"')[1]


def schemas(told: object) -> str:
    inner = get_object(get_object(told, "json_schema"), "schema") or told
    step = get_object(get_object(inner, "properties"), "step")
    return dump({"step": get_list(step, "enum")[0]} if step else {"say": "horses"})


HELD = {
    Constraint.GBNF: holds(grammar=first_of_grammar, response_format=schemas),
    Constraint.CHOICE: holds(
        structured_outputs=lambda told: str(get_list(told, "choice")[0]), response_format=schemas
    ),
    Constraint.GUIDED_CHOICE: holds(guided_choice=lambda told: told[0], response_format=schemas),
    Constraint.REGEX: holds(regex=lambda told: str(told).strip("()"), response_format=schemas),
    Constraint.SCHEMA: holds(response_format=schemas),
}


@pytest.mark.parametrize(("constraint", "server"), HELD.items())
async def test_a_model_that_fails_although_it_is_held_is_spoken_to_in_lines(
    way_of, constraint, server
):
    canaries = [each for each in Constraint if each not in {constraint, Constraint.SCHEMA}]
    canaries += [constraint] * (constraint is not Constraint.SCHEMA)
    # Calls, a call held to a schema; then the canaries, the schema's first.
    steps = [server] * (2 + 1 + len(canaries))
    constraints = (*canaries, Constraint.SCHEMA)
    found = await way_of(*steps, wire="openai_chat", constraints=constraints)
    assert found == Way(ToolSupport.MASKED, constraint)


async def test_a_model_that_only_answers_under_a_grammar_is_spoken_to_in_lines(way_of):
    """Its server passes over schemas, so calls in words are tried first: they could say more."""
    only = holds(grammar=first_of_grammar)
    llama = (Constraint.GBNF, Constraint.SCHEMA)
    found = await way_of(*[only] * 5, wire="openai_chat", constraints=llama)
    assert found == Way(ToolSupport.MASKED, Constraint.GBNF)


async def test_a_good_model_whose_server_takes_no_schema_is_spoken_to_in_words(way_of):
    only = holds(grammar=first_of_grammar)
    llama = (Constraint.GBNF, Constraint.SCHEMA)
    steps = [*[only] * 4, TEXT, TOLD]
    assert await way_of(*steps, wire="openai_chat", constraints=llama) == Way(ToolSupport.TEXT)


async def test_a_server_that_passes_over_what_it_does_not_know_is_not_believed(way_of):
    steps = [NO] * 7
    found = await way_of(*steps, wire="openai_chat", constraints=tuple(Constraint))
    assert found == Way(ToolSupport.TEXT)


async def test_a_server_that_refuses_what_it_does_not_know_is_not_asked_in_lines(way_of):
    refused = status(400, "unknown field")
    steps = [NO, NO, *[refused] * 5]
    found = await way_of(*steps, wire="openai_chat", constraints=tuple(Constraint))
    assert found == Way(ToolSupport.TEXT)
