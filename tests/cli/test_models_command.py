"""`hame models` and `/model`: live lists with prices, windows and abilities; one choice for each backend."""

import json

import pytest

from hame.testing import Reply, ScriptedServer, answer

READY = r"^\u276f\s*$"
LISTED = {
    "data": [
        {"id": "deepseek/deepseek-v9", "name": "DeepSeek V9", "context_length": 200_000,
         "pricing": {"prompt": "0.0000005", "completion": "0.000002"},
         "architecture": {"input_modalities": ["text", "image"]},
         "supported_parameters": ["tools", "temperature"]},
        {"id": "nobody/weird-model", "context_length": 8_000,
         "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "anthropic/claude-opus-5.5"},
    ]
}  # fmt: skip


@pytest.fixture
def gateway():
    page = Reply(body=json.dumps(LISTED).encode())
    with ScriptedServer(
        answer("Hello."), answer("Hi again."), pages={"/api/v1/models": page}
    ) as server:
        yield server


@pytest.fixture
def own(gateway, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return {
        "OPENROUTER_API_KEY": "k",
        "OPENROUTER_BASE_URL": f"{gateway.url}/api/v1",
        "HOME": str(home),
    }


def test_a_gateways_list_is_live_and_whole(hame, own):
    text = hame("models", "openrouter", real=True, **own).stdout
    head, *rows = text.splitlines()
    assert head.split()[0] == "model"
    assert len(rows) == 3
    deepseek = next(row for row in rows if "deepseek-v9" in row)
    assert "200.0k" in deepseek
    assert "0.5 / 2" in deepseek
    assert "tools images" in deepseek
    weird = next(row for row in rows if "weird" in row)
    assert "?" in weird, "an unknown price is said to be unknown"
    found = json.loads(hame("models", "openrouter", "--json", real=True, **own).stdout)
    known = next(one for one in found if one["id"] == "anthropic/claude-opus-5.5")
    assert known["context_window"] == 1_000_000, "the catalogue adds what the server does not say"
    assert known["price"]["input"] > 0


def test_models_are_searched_over_all_providers(hame, own):
    found = json.loads(hame("models", "--search", "deep v9", "--json", real=True, **own).stdout)
    assert [one["name"] for one in found] == ["openrouter/deepseek/deepseek-v9"]
    none = hame("models", "--search", "no such model", real=True, **own)
    assert none.stdout == ""
    assert "no such models" in none.stderr


def test_a_model_is_found_by_words_chosen_and_remembered(terminal, hame, own, gateway):
    talk = terminal(real=True, **own)
    talk.wait_for(READY)
    talk.send("/model claude\r")
    talk.wait_for(r"model: openrouter/anthropic/claude-opus-5\.5")
    talk.wait_for(READY)
    talk.send("hi\r")
    talk.wait_for(r"^Hello\.$")
    talk.wait_for(READY)
    talk.send("/model e\r")
    talk.wait_for(r"openrouter/nobody/weird-model")
    talk.wait_for(READY)
    talk.send("\x04")
    talk.ended()
    assert gateway.questions[0].body["model"] == "anthropic/claude-opus-5.5"
    later = hame("-p", "hi", real=True, **own, MISTRAL_API_KEY="k")
    assert later.stdout == "Hi again.\n", later.stderr
    assert gateway.questions[1].body["model"] == "anthropic/claude-opus-5.5"


def test_several_providers_are_asked_about_once(terminal, own, gateway):
    talk = terminal(real=True, **own, MISTRAL_API_KEY="k")
    talk.wait_for(READY)
    talk.send("hi\r")
    talk.wait_for("several providers could be meant")
    talk.wait_for(r"2  openrouter")
    talk.send("2\r")
    talk.wait_for(r"^Hello\.$")
    talk.wait_for(READY)
    talk.send("more\r")
    talk.wait_for(r"^Hi again\.$")
    assert "anthropic/" in gateway.questions[0].body["model"]
