"""`hame usage`, `/cost` and `--max-cost`, on real sessions against a scripted server."""

import json
import re

import pytest

from hame.base.model import Usage
from hame.testing import ScriptedServer, answer, call

READY = r"^\u276f\s*$"
COUNT = Usage(input_uncached=10_000, output=1_000)


@pytest.fixture
def prices(tmp_path):
    home = tmp_path / "home"
    (home / ".config/hame").mkdir(parents=True)
    (home / ".config/hame/models.toml").write_text(
        '[models."mine/m"]\nprice = {input = 1.0, output = 10.0}\n'
    )
    return {"HOME": str(home)}


def test_what_was_used_is_added_up_by_anything(hame, prices):
    said = answer("one", call("list_dir"), usage=COUNT), answer("two", usage=COUNT)
    with ScriptedServer(*said, answer("x", usage=COUNT)) as server:
        own = {"MINE_BASE_URL": f"{server.url}/v1", "OTHER_BASE_URL": f"{server.url}/v1", **prices}
        hame("-p", "hi", "--model", "mine/m", real=True, **own)
        hame("-p", "hi", "--model", "other/m", real=True, **own)
    by_model = json.loads(hame("usage", "--by", "model", "--json", real=True, **prices).stdout)
    mine, other = sorted(by_model["bills"], key=lambda bill: bill["name"])
    assert (mine["name"], mine["answers"], mine["cost_usd"]) == ("mine/m", 2, pytest.approx(0.04))
    assert (other["name"], other["unpriced"]) == ("other/m", 1)
    assert by_model["total"]["answers"] == 3
    text = hame("usage", real=True, **prices).stdout
    assert re.search(r"\d{4}-\d\d-\d\d +3 answers +30\.0k in +3\.0k out", text)
    assert "1 answer of unknown cost" in text
    steps = hame("usage", "--by", "step", "--json", real=True, **prices).stdout
    assert [bill["answers"] for bill in json.loads(steps)["bills"]] == [1, 1, 1]
    session = json.loads(hame("sessions", "--json", real=True, **prices).stdout)[0]["id"]
    one = hame("usage", "--session", session, "--by", "session", "--json", real=True, **prices)
    assert json.loads(one.stdout)["total"]["answers"] in {1, 2}


def test_nothing_used_is_said(hame, prices):
    ran = hame("usage", real=True, **prices)
    assert (ran.stdout, ran.returncode) == ("", 0)
    assert "nothing was used" in ran.stderr


def test_the_limit_of_money_stops_before_the_next_request(hame, prices):
    looking = answer(call("list_dir"), usage=COUNT)
    with ScriptedServer(looking, looking, looking) as server:
        own = {"MINE_BASE_URL": f"{server.url}/v1", **prices}
        ran = hame("-p", "hi", "--model", "mine/m", "--max-cost", "0.05", real=True, **own)
        # Two cost 0.04; a third would cost 0.011 at least.
        assert len(server.questions) == 2
    assert ran.returncode == 4
    assert "limit of $0.0500" in ran.stderr


def test_a_limit_of_money_needs_a_price(hame, prices):
    with ScriptedServer(answer("never")) as server:
        own = {"OTHER_BASE_URL": f"{server.url}/v1", **prices}
        ran = hame("-p", "hi", "--model", "other/m", "--max-cost", "1", real=True, **own)
        assert server.questions == []
    assert ran.returncode == 2
    assert "models.toml" in ran.stderr


def test_the_cost_of_a_conversation_is_shown_on_demand(terminal, prices):
    with ScriptedServer(answer("Hello.", usage=COUNT)) as server:
        own = {"MINE_BASE_URL": f"{server.url}/v1", **prices}
        hame = terminal("--model", "mine/m", real=True, **own)
        hame.wait_for(READY)
        hame.send("/cost\r")
        hame.wait_for("nothing was used")
        hame.send("hi\r")
        hame.wait_for(r"^Hello\.$")
        hame.wait_for(READY)
        hame.send("/cost\r")
        hame.wait_for(r"mine/m +1 answer +10\.0k in +1\.0k out +\$0\.0200")
        hame.wait_for(r"^session +1 answer")


def test_a_mistake_in_the_users_rows_is_named(hame, prices, tmp_path):
    rows = tmp_path / "home/.config/hame/models.toml"
    rows.write_text('[models."mine/m"]\ncontext = 5\n')
    ran = hame("models", real=True, **prices)
    assert ran.returncode == 2
    assert "models.toml" in ran.stderr
    assert "context is not known" in ran.stderr


# ---------------------------------------------------------------- what the provider itself took


def billed(nano: int) -> Usage:
    return Usage(input_uncached=10_000, output=1_000, paid_nano_usd=nano)


def test_the_price_paid_is_shown_as_such_and_not_computed(hame, prices):
    """Also of a model whose price nobody knows."""
    said = [answer("one", usage=billed(12_300_000)), answer("two", usage=billed(0))]
    with ScriptedServer(*said, answer("three", usage=COUNT)) as server:
        own = {
            "OPENROUTER_API_KEY": "k", "OPENROUTER_BASE_URL": f"{server.url}/api/v1",
            "MINE_BASE_URL": f"{server.url}/v1", **prices,
        }  # fmt: skip
        ran = hame("-p", "hi", "--model", "openrouter/new/model", real=True, **own)
        assert server.questions[0].body["usage"] == {"include": True}
        assert "cost unknown" not in ran.stderr
        hame("-p", "hi", "--model", "openrouter/new/model:free", real=True, **own)
        by_model = hame("usage", "--by", "model", real=True, **prices).stdout
        assert "$0.0123 as billed" in by_model
        hame("-p", "hi", "--model", "mine/m", real=True, **own)
        assert "usage" not in server.questions[2].body
    told = hame("usage", real=True, **prices).stdout
    assert "$0.0323 ($0.0123 of it as billed)" in told
    bills = json.loads(hame("usage", "--by", "model", "--json", real=True, **prices).stdout)[
        "bills"
    ]
    costs = {bill["name"]: (bill.get("cost_usd"), bill.get("billed_usd")) for bill in bills}
    assert costs["openrouter/new/model"] == (pytest.approx(0.0123), pytest.approx(0.0123))
    assert costs["openrouter/new/model:free"][0] in {0, None}
    assert not any(bill.get("unpriced") for bill in bills)


def test_a_limit_of_money_holds_by_what_is_billed(hame, prices):
    looking = answer(call("list_dir"), usage=billed(30_000_000))
    with ScriptedServer(*[looking] * 3) as server:
        own = {"OPENROUTER_API_KEY": "k", "OPENROUTER_BASE_URL": f"{server.url}/api/v1", **prices}
        model = ("--model", "openrouter/new/model")
        ran = hame("-p", "hi", *model, "--max-cost", "0.05", real=True, **own)
        assert len(server.questions) == 2
    assert ran.returncode == 4
    assert "limit of $0.0500" in ran.stderr


def test_a_free_model_costs_nothing_whatever_its_server_says_of_it(hame, prices):
    with ScriptedServer(answer("one", usage=COUNT)) as server:
        own = {"OPENROUTER_API_KEY": "k", "OPENROUTER_BASE_URL": f"{server.url}/api/v1", **prices}
        name = "openrouter/deepseek/deepseek-r1:free"
        ran = hame("-p", "hi", "--model", name, "--output-format", "json", real=True, **own)
    assert json.loads(ran.stdout)["cost_usd"] == 0
    assert "free" in hame("models", name, real=True, **prices).stdout
