"""`hame models` and `/model`: live lists with prices, windows and abilities; one choice for each backend."""

import json

import pytest

from hame.testing import Reply, ScriptedServer, answer, call

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
    assert "serves such a model" in none.stderr


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


# ---------------------------------------------------------------- one model


def test_what_is_known_of_one_model_is_told(hame, own):
    told = hame("models", "openrouter/deepseek/deepseek-v9", real=True, **own).stdout
    assert told.splitlines()[0] == "openrouter/deepseek/deepseek-v9  DeepSeek V9"
    assert "200,000 tokens" in told
    assert "$0.5 in, $2 out" in told
    known = hame("models", "anthropic/claude-opus-5", real=True, HOME=own["HOME"])
    assert "1,000,000 tokens" in known.stdout, "the catalogue tells without a key"
    assert known.returncode == 0
    for name in ("nobody/at-all", "openrouterr/x"):
        assert hame("models", name, real=True, **own).returncode == 2


def ollama(*steps, tells: bool = True) -> ScriptedServer:
    able = {"capabilities": ["completion", "tools"]} if tells else {}
    shown = {**able, "model_info": {"general.architecture": "q", "q.context_length": 40_960}}
    pages = {
        "/api/show": shown,
        "/api/tags": {"models": [{"name": "q:8b", "digest": "d1"}]},
        "/api/ps": {"models": []},
    }
    bodies = {path: Reply(body=json.dumps(page).encode()) for path, page in pages.items()}
    return ScriptedServer(*steps, pages=bodies)


def test_a_local_model_is_tried_on_demand_whatever_its_server_says(hame, own):
    call_once = answer(call("read_note", name="pear"))
    held = answer('{"tool": "read_note", "arguments": {"name": "pear"}}')
    steps = (call_once, call_once, held, answer('{"say": "marzipan"}'), answer('{"say": "Hi."}'))
    with ollama(*steps) as server:
        named = {"HOME": own["HOME"], "OLLAMA_HOST": server.url}
        told = hame("models", "ollama/q:8b", real=True, **named)
        assert "it calls them by itself" in told.stdout
        assert server.questions == []
        tried = hame("models", "ollama/q:8b", "--try", real=True, **named)
        assert tried.returncode == 0
        assert "trying once how ollama/q:8b calls tools" in tried.stderr
        assert "held to a JSON schema" in tried.stdout
        assert "held to a JSON schema" in hame("models", "ollama/q:8b", real=True, **named).stdout
        # What was found is what counts from then on.
        assert hame("-p", "hi", "--model", "ollama/q:8b", real=True, **named).stdout == "Hi.\n"
        server.finish()
        assert server.questions[-1].body["format"]


def test_what_cannot_be_tried_says_why(hame, own):
    for arguments, words in [
        (("models", "--try"), "no model is named"),
        (("models", "openrouter", "--try"), "no model is named"),
        (("models", "openrouter/anthropic/claude-opus-5.5", "--try"), "does not run here"),
        (("--no-tools", "models", "ollama/q:8b", "--try"), "`tools` says how"),
    ]:
        refused = hame(*arguments, real=True, **own)
        assert refused.returncode == 2, arguments
        assert words in refused.stderr, arguments
    nobody = {"HOME": own["HOME"], "OLLAMA_HOST": "http://127.0.0.1:9"}
    failed = hame("models", "ollama/q:8b", "--try", real=True, **nobody)
    assert failed.returncode == 1
    assert "could not be tried" in failed.stderr
    assert "not tried yet" in failed.stdout


def test_what_can_be_set_is_shown_and_keys_are_masked(hame, own):
    key = "sk-or-1234567890abcdef"
    shown = hame(
        "models", "openrouter", "--settings", real=True, **{**own, "OPENROUTER_API_KEY": key}
    )
    assert "providers.openrouter.base_url" in shown.stdout
    assert own["OPENROUTER_BASE_URL"] in shown.stdout
    assert "OPENROUTER_API_KEY" in shown.stdout
    assert key not in shown.stdout
    found = json.loads(
        hame("models", "ollama", "--settings", "--json", real=True, HOME=own["HOME"]).stdout
    )
    assert {"providers.ollama.num_gpu", "providers.ollama.keep_alive"} <= {
        one["name"] for one in found
    }
    assert hame("models", "--settings", real=True, **own).returncode == 2


def test_without_a_key_the_catalogue_is_listed_and_that_is_said(hame, own):
    shown = hame("models", "anthropic", real=True, HOME=own["HOME"])
    assert shown.returncode == 0
    assert "anthropic/claude-opus-5" in shown.stdout
    assert "no key for Anthropic is set" in shown.stderr
    assert "catalogue" in shown.stderr
    assert hame("models", "huggingface", real=True, HOME=own["HOME"]).returncode in {0, 2}


def test_the_table_of_providers_is_narrow_and_names_one_key_for_each(hame):
    rows = hame("models", real=True).stdout.partition("\n\n")[0].splitlines()
    assert len(rows) > 20
    assert not [row for row in rows if " or " in row or len(row) > 120]
    (gemini,) = (row for row in rows if row.startswith("gemini "))
    assert "needs GEMINI_API_KEY  " in gemini
