"""The ledger knows what should have come from the cache, and why what did not come did not."""

from msgspec.structs import replace

from agent.conftest import Stage, echo
from hame.agent.cache import CacheLedger
from hame.base.entry import CacheRead, Entry
from hame.base.event import Notice
from hame.base.memory import CacheReading
from hame.base.message import Assistant, Message, Text, User
from hame.base.model import ModelFacts, Price, Usage
from hame.base.ports import ModelRequest
from hame.base.tool import Effect, ToolSpec
from hame.testing import ScriptedModel, answer, call

FACTS = ModelFacts(
    backend="b", model="m", wire="openai_chat", price=Price(input=3.0, output=15.0, cache_read=0.3)
)
TOOL = ToolSpec(name="read_file", description="Read.", effect=Effect.READ)


def said(*words: str) -> tuple[Message, ...]:
    return tuple(
        User((Text(text),)) if place % 2 == 0 else Assistant((Text(text),))
        for place, text in enumerate(words)
    )


def ask(ledger: CacheLedger, *messages: Message, at: float = 0.0, **changes: object) -> None:
    request = ModelRequest(system="s", messages=messages, tools=(TOOL,))
    ledger.asked(replace(request, **changes), FACTS, 1_000.0 + at)


def hear(ledger: CacheLedger, total: int, cached: int = 0) -> CacheReading:
    usage = Usage(input_uncached=total - cached, cache_read=cached)
    reading = ledger.answered(usage, FACTS)
    assert reading is not None
    return reading


def test_the_first_request_expects_nothing() -> None:
    ledger = CacheLedger()
    ask(ledger, *said("go"))
    reading = hear(ledger, 5_000)
    assert (reading.expected, reading.why, reading.broke, reading.messages) == (0, "", "", 1)


def test_a_request_that_begins_with_the_last_one_expects_all_of_it() -> None:
    ledger = CacheLedger()
    history = said("go", "yes", "on")
    ask(ledger, *history[:1])
    first = hear(ledger, 5_000)
    ask(ledger, *history)
    second = hear(ledger, 6_000, 4_900)
    assert second.kept == first.size
    assert (second.expected, second.got, second.why) == (5_000, 4_900, "")
    assert second.digest != first.digest


def test_what_the_provider_failed_to_serve_is_named_and_priced() -> None:
    ledger = CacheLedger()
    history = said("go", "yes", "on", "yes", "on")
    ask(ledger, *history[:1])
    hear(ledger, 100_000)
    ask(ledger, *history[:3])
    assert "has not reported any use" in hear(ledger, 110_000).why
    ask(ledger, *history)
    hear(ledger, 120_000, 110_000)
    ask(ledger, *history)
    reading = hear(ledger, 120_000, 20_000)
    assert reading.why == "the provider did not serve what it should have had"
    assert reading.lost_usd is not None
    assert abs(reading.lost_usd - 100_000 * 2.7 / 1e6) < 1e-9


def test_a_changed_message_is_named_with_its_first_byte() -> None:
    ledger = CacheLedger()
    history = said("go", "the answer", "on")
    ask(ledger, *history)
    first = hear(ledger, 5_000)
    ask(ledger, history[0], Assistant((Text("the other"),)), history[2])
    reading = hear(ledger, 5_000, 2_000)
    assert reading.broke.startswith("message 2 (answer) changed at byte ")
    assert reading.why == reading.broke
    assert 0 < reading.kept < first.size
    assert 0 < reading.expected < 5_000


def test_equal_messages_that_are_other_objects_are_the_same() -> None:
    ledger = CacheLedger()
    ask(ledger, *said("go", "yes", "on"))
    hear(ledger, 5_000)
    ask(ledger, *said("go", "yes", "on", "yes", "on"))
    assert hear(ledger, 5_000, 5_000).broke == ""


def test_a_shorter_history_is_a_break_where_it_ends() -> None:
    ledger = CacheLedger()
    history = said("go", "yes", "on")
    ask(ledger, *history)
    hear(ledger, 5_000)
    ask(ledger, *history[:1])
    assert hear(ledger, 2_000).broke.startswith("message 2 (answer) changed at byte 0")


def test_system_prompt_and_tools_are_named_when_they_change() -> None:
    ledger = CacheLedger()
    ask(ledger, *said("go"))
    hear(ledger, 5_000)
    ask(ledger, *said("go"), system="other")
    assert hear(ledger, 5_000).why == "the system prompt changed"
    ask(ledger, *said("go"), system="other", tools=(replace(TOOL, description="Look."),))
    assert hear(ledger, 5_000).why == "the tools changed: read_file"


def test_time_and_another_model_are_reasons_too_and_said_beforehand() -> None:
    ledger = CacheLedger()
    ask(ledger, *said("go"))
    hear(ledger, 50_000)
    assert ledger.lapsed(FACTS, 1_060.0) == (0, None)
    tokens, price = ledger.lapsed(FACTS, 1_900.0)
    assert tokens == 50_000
    assert price is not None
    assert ledger.lapsed(replace(FACTS, model="other"), 1_001.0)[0] == 50_000
    ask(ledger, *said("go"), at=900.0)
    assert hear(ledger, 50_000).why == "15 minutes passed since the request before"
    request = ModelRequest(system="s", messages=said("go"), tools=(TOOL,))
    ledger.asked(request, replace(FACTS, model="other"), 1_901.0)
    assert hear(ledger, 50_000).why == "b/m was asked before"


def test_a_small_miss_and_a_small_prompt_are_not_worth_a_reason() -> None:
    ledger = CacheLedger()
    for total, cached in ((900, 0), (950, 0), (9_000, 0), (9_100, 8_600)):
        ask(ledger, *said("go"))
        assert hear(ledger, total, cached).why == ""


def test_a_provider_that_does_not_count_leaves_no_reading() -> None:
    ledger = CacheLedger()
    ask(ledger, *said("go"))
    assert ledger.answered(None, FACTS) is None
    assert ledger.answered(Usage(), FACTS) is None


def test_a_session_that_is_opened_again_knows_whether_it_begins_as_it_did() -> None:
    ledger = CacheLedger()
    history = said("go", "yes", "on")
    ask(ledger, *history[:1])
    entries: list[Entry] = [CacheRead(reading=hear(ledger, 5_000))]
    again = CacheLedger(entries)
    ask(again, *said("go", "yes", "on"))
    assert hear(again, 5_500, 5_000).broke == ""
    other = CacheLedger(entries)
    ask(other, *said("stop", "yes", "on"))
    assert "is not what it was" in hear(other, 5_500).why


async def test_a_run_puts_a_reading_on_record_for_each_answer(stage: Stage) -> None:
    stage.add("read_file", echo)
    usage = Usage(input_uncached=2_000)
    model = ScriptedModel(
        answer(call("read_file", path="a"), usage=usage), answer("Done.", usage=usage), facts=FACTS
    )
    await stage.make(model).run(User((Text("go"),)))
    found = [entry.reading for entry in stage.journal.entries if isinstance(entry, CacheRead)]
    assert [each.messages for each in found] == [1, 3]
    assert found[1].kept == found[0].size


async def test_a_dear_miss_is_shown(stage: Stage) -> None:
    served = Usage(cache_read=400_000, input_uncached=10)
    missed = Usage(input_uncached=400_000)
    model = ScriptedModel(
        *(answer(call("read_file", path=f"{n}"), usage=served) for n in range(3)),
        answer("Done.", usage=missed),
        facts=replace(FACTS, context_window=1_000_000),
    )
    await stage.make(model).run(User((Text("go"),)))
    assert any("cache missed" in notice.text for notice in stage.seen(Notice))
