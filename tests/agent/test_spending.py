"""What a run costs: each answer by its own rates, unknown as unknown, and no step beyond the limit."""

from agent.conftest import Stage
from hame.agent.spending import Spending
from hame.base.model import ModelFacts, Price, PriceTier, Usage
from hame.base.run import Allowance, BudgetSpent
from hame.testing import answer, call

PRICE = Price(
    input=1.0, output=10.0, cache_read=0.1, tiers=(PriceTier(above=1_000, input=2.0, output=20.0),)
)


def facts(price: Price | None, *, local: bool = False) -> ModelFacts:
    return ModelFacts(backend="b", model="m", wire="w", price=price, local=local)


def test_each_answer_is_priced_by_its_own_prompt():
    spending = Spending(lambda: facts(PRICE))
    short, long = Usage(input_uncached=1_000), Usage(input_uncached=1_001)
    assert spending.add(short, 1_000) == 0.001
    assert spending.add(long, 1_001) == 0.002002
    assert spending.cost_usd == 0.001 + 0.002002
    assert spending.usage == short + long


def test_what_a_tier_leaves_out_stays_as_it_was():
    assert PRICE.cost(Usage(cache_read=2_000)) == 0.1 * 2_000 / 1e6


def test_unknown_is_unknown_and_stays_so():
    spending = Spending(lambda: facts(None))
    assert spending.cost_usd is None
    assert spending.add(Usage(output=5), 5) is None
    assert spending.cost_usd is None
    assert not spending.reaches(0.0)


def test_what_runs_here_costs_nothing():
    spending = Spending(lambda: facts(None, local=True))
    assert spending.add(Usage(output=5), 5) == 0.0
    assert not spending.reaches(0.01)


def test_the_next_request_is_not_sent_when_it_must_cost_more_than_is_left():
    spending = Spending(lambda: facts(PRICE))
    assert not spending.reaches(0.001)
    spending.add(Usage(input_uncached=900), 1_000)
    # 0.0009 are spent; 1,000 tokens more cost 0.0001 at least.
    assert not spending.reaches(0.001)
    assert spending.reaches(0.00099)
    assert spending.reaches(0.0009)


def test_an_answer_beside_the_conversation_leaves_its_length_as_it_was():
    spending = Spending(lambda: facts(PRICE))
    spending.add(Usage(input_uncached=900), 1_000)
    spending.add(Usage(input_uncached=10), None)
    assert spending.reaches(0.00100)


async def test_the_day_s_limit_stops_before_the_next_request(stage: Stage) -> None:
    stage.today = lambda: Allowance(steps=10, used_steps=8)
    ended = await stage.play(*(answer(call("read_file", path=f"{n}")) for n in range(2)))
    assert ended.result == BudgetSpent(what="steps today", limit=10)
    assert ended.steps == 2


async def test_what_others_use_meanwhile_counts_for_the_day_s_limit(stage: Stage) -> None:
    used = iter((0, 3, 8, 9, 9))
    stage.today = lambda: Allowance(steps=10, used_steps=next(used))
    ended = await stage.play(*(answer(call("read_file", path=f"{n}")) for n in range(2)))
    assert ended.result == BudgetSpent(what="steps today", limit=10)
    assert ended.steps == 2
