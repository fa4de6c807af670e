"""Other models are asked only when the user listed them, and only when a server fails."""

import pytest

from hame.backends.fallback import PASSED_ON, FallbackModel
from hame.base.errors import ConfigError, ErrorKind, Failure
from hame.base.fold import Fold
from hame.base.message import StopReason, Text, User
from hame.base.ports import HttpRequest, ModelRequest
from hame.base.stream import Completed, Failed, TextDelta
from hame.testing import ScriptedModel, answer

ASKED = ModelRequest(system="", messages=(User((Text("hi"),)),))


class Shelf:
    def __init__(self, *steps) -> None:
        self.models = {name: ScriptedModel(*script) for name, *script in steps}
        self.told: list[str] = []

    async def open(self, name: str):
        if name not in self.models:
            raise ConfigError(f"no key for {name}")
        return self.models[name]

    def model(self, chosen: str, *listed: str) -> FallbackModel:
        return FallbackModel(self.models[chosen], listed, self.open, self.told.append)


def failing(kind: ErrorKind):
    return [Failed(Failure(kind=kind, message="It broke."))]


async def said(model) -> Fold:
    fold = Fold()
    async with model.stream(ASKED) as events:
        async for event in events:
            fold.add(event)
    return fold


@pytest.mark.parametrize("kind", sorted(PASSED_ON))
async def test_the_next_in_the_list_answers_and_stays(kind):
    shelf = Shelf(("a", failing(kind)), ("b", answer("one"), answer("two")))
    model = shelf.model("a", "missing", "b")
    assert (await said(model)).message().text == "one"
    assert (await said(model)).message().text == "two"
    assert shelf.told[0] == "missing cannot be asked either: no key for missing"
    assert "It broke. Asking" in shelf.told[1]


@pytest.mark.parametrize("kind", sorted(set(ErrorKind) - PASSED_ON))
async def test_what_is_the_chosen_models_own_moves_nothing(kind):
    shelf = Shelf(("a", failing(kind)), ("b", answer("never")))
    fold = await said(shelf.model("a", "b"))
    assert fold.failure is not None
    assert shelf.told == []


async def test_what_would_be_sent_is_shown_as_the_one_that_is_asked_now_has_it():
    class Writing(ScriptedModel):
        def encode(self, request: ModelRequest) -> HttpRequest:
            return HttpRequest(method="POST", url="http://b", body=request.system.encode())

    shelf = Shelf(("a", failing(ErrorKind.NETWORK)))
    shelf.models["b"] = Writing(answer("one"))
    model = shelf.model("a", "b")
    with pytest.raises(ConfigError, match="not asked over HTTP"):
        model.encode(ASKED)
    await said(model)
    assert model.encode(ASKED).url == "http://b"


async def test_without_a_list_nobody_else_is_asked():
    shelf = Shelf(("a", failing(ErrorKind.OVERLOADED)), ("b", answer("never")))
    assert (await said(shelf.model("a"))).failure is not None


async def test_an_answer_that_broke_midway_is_not_handed_on():
    broken = [TextDelta("half"), *failing(ErrorKind.NETWORK)]
    shelf = Shelf(("a", broken), ("b", answer("never")))
    fold = await said(shelf.model("a", "b"))
    assert fold.failure is not None
    assert fold.message().text == "half"


async def test_an_answer_is_passed_on_as_it_is():
    shelf = Shelf(("a", [TextDelta("fine"), Completed(StopReason.END_TURN)]))
    assert (await said(shelf.model("a", "b"))).message().text == "fine"
