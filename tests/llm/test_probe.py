"""Trying how a model calls tools, over real HTTP."""

import pytest

from hame.base.model import Endpoint, ModelFacts, ToolSupport
from hame.llm.asking import Line
from hame.llm.client import connect
from hame.llm.probe import WAYS, find_way
from hame.llm.retry import RetryPolicy
from hame.net.http import HttpClient
from hame.testing import FakeClock, ScriptedServer, answer, call
from hame.testing.reply import status

NATIVE = answer(call("note_word", word="pear"))
SCHEMA = answer('{"tool": "note_word", "arguments": {"word": "pear"}}')
TEXT = answer('<tool_call>{"name": "note_word", "arguments": {"word": "Pear"}}</tool_call>')
NO_TOOLS = status(400, "m does not support tools")


@pytest.fixture
async def way_of():
    http = HttpClient(user_agent="test")

    async def find(*steps, ways=WAYS):
        line = Line(http=http, clock=FakeClock(), retry=RetryPolicy(), draw=lambda: 1.0)
        async with ScriptedServer(*steps) as server:
            found = await find_way(
                lambda tools: connect(
                    ModelFacts(backend="b", model="m", wire="ollama", tools=tools),
                    Endpoint(base_url=server.url),
                    line,
                ),
                ways,
            )
            server.finish()
        return found

    yield find
    await http.aclose()


@pytest.mark.parametrize(
    ("steps", "way"),
    [
        ([NATIVE], ToolSupport.NATIVE),
        ([TEXT, SCHEMA], ToolSupport.SCHEMA),
        ([answer("Sure: pear."), answer('{"say": "pear"}'), TEXT], ToolSupport.TEXT),
        ([answer(call("note_word", word="apple")), SCHEMA], ToolSupport.SCHEMA),
        ([answer(call("other", word="pear")), SCHEMA], ToolSupport.SCHEMA),
        ([NO_TOOLS, TEXT, SCHEMA], ToolSupport.SCHEMA),
        ([answer("no"), answer("no"), answer("no")], ToolSupport.TEXT),
    ],
)
async def test_the_first_way_that_works_is_found(way_of, steps, way):
    assert await way_of(*steps) is way


async def test_a_model_whose_server_knows_it_has_no_tools_is_not_asked_for_them(way_of):
    assert await way_of(SCHEMA, ways=WAYS[1:]) is ToolSupport.SCHEMA


async def test_a_server_that_fails_says_nothing_about_its_model(way_of):
    assert await way_of(status(401, "no")) is None
