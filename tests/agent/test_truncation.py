"""Noticing a prompt that was cut silently, and never a prompt that was not."""

import pytest

from hame.agent.truncation import was_cut
from hame.base.message import (
    Assistant,
    Image,
    Text,
    Thinking,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import ModelFacts, Quirk, Usage
from hame.base.ports import ModelRequest


def facts(**more) -> ModelFacts:
    given = {"context_window": 1000, "quirks": frozenset({Quirk.CUTS_SILENTLY}), **more}
    return ModelFacts(backend="ollama", model="m", wire="ollama", vendor="Ollama", **given)


def asked(letters: int, *more) -> ModelRequest:
    return ModelRequest(system="", messages=(User((Text("x" * letters), *more)),))


@pytest.mark.parametrize(
    ("letters", "read"),
    [(9_000, 1000), (20_000, 999), (6_000, 300)],
)
def test_a_prompt_that_cannot_have_been_read_whole_is_told_with_the_remedy(letters, read):
    told = was_cut(asked(letters), Usage(input_uncached=read), facts())
    assert f"{read:,}" in told
    assert "providers.ollama.context_window" in told


@pytest.mark.parametrize(
    ("letters", "read"),
    [(3_000, 900), (7_900, 998), (2_000, 10), (9_000, 0), (4_000, 1000)],
)
def test_a_prompt_that_may_have_been_read_whole_is_not_doubted(letters, read):
    assert was_cut(asked(letters), Usage(input_uncached=read), facts()) == ""


def test_pictures_are_no_letters():
    picture = Image("image/png", b"x" * 100_000)
    assert was_cut(asked(10, picture), Usage(input_uncached=600), facts()) == ""


def test_only_servers_that_do_so_are_doubted():
    usage = Usage(input_uncached=1000)
    assert was_cut(asked(90_000), usage, facts(quirks=frozenset())) == ""
    assert was_cut(asked(90_000), usage, facts(context_window=None)) == ""
    assert was_cut(asked(90_000), None, facts()) == ""


def test_answers_and_results_are_letters_too():
    answer = Assistant((Text("x" * 4_000), Thinking("y" * 90_000)))
    results = ToolResults((ToolResult("c", "read", (Text("z" * 5_000),)),))
    request = ModelRequest(system="", messages=(answer, results))
    assert "of at least 1,125" in was_cut(request, Usage(input_uncached=1000), facts())
