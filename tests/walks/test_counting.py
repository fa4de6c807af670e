"""What fills the window, counted by whoever serves the model."""

import json

import pytest

from hame.testing import Reply, ScriptedServer, answer

PAGES = {
    "/v1/messages/count_tokens": {"input_tokens": 4_321},
    "/v1/responses/input_tokens": {"input_tokens": 4_321},
    "/v1beta/models/gemini-3-pro-preview:countTokens": {"totalTokens": 4_321},
}
COUNTING = {"anthropic_messages", "openai_responses", "gemini"}


async def test_the_window_is_what_the_provider_counts(house, wire, models, pages):
    counts = {path: Reply(body=json.dumps(found).encode()) for path, found in PAGES.items()}
    async with ScriptedServer(answer("Hello."), pages={**pages, **counts}) as server:
        runtime = await house.open(server.url, models[wire])
        await runtime.prompt("hi")
        report = await runtime.memory().report()
        counted = [each for each in server.requests if each.path in PAGES]
    assert (report.total == 4_321) is (wire in COUNTING)
    assert len(counted) == (wire in COUNTING)
    for each in counted:
        assert "Hello." in json.dumps(each.body), "the whole conversation is counted"


async def test_a_provider_that_does_not_answer_leaves_what_is_known(house, wire, models, pages):
    async with ScriptedServer(answer("Hello."), pages=pages) as server:
        runtime = await house.open(server.url, models[wire])
        await runtime.prompt("hi")
        report = await runtime.memory().report()
    assert 0 < report.total < 20_000


@pytest.mark.parametrize("wire", ["anthropic_messages"])
async def test_nothing_is_asked_before_there_is_anything_to_count(house, wire, models, pages):
    async with ScriptedServer(pages=pages) as server:
        runtime = await house.open(server.url, models[wire])
        report = await runtime.memory().report()
        assert server.requests == []
    assert report.total > 0
