"""`hame debug`: recordings read, requests shown; nothing is asked of anybody."""

import json

from inline_snapshot import snapshot

from hame.testing import ScriptedServer, answer

BODY = '{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'
KEYS = {"OPENROUTER_API_KEY": "sk-or-v1-secret-secret"}


def test_a_recorded_response_is_one_object(hame, tmp_path):
    (tmp_path / "body").write_text(BODY)
    ran = hame("debug", "decode", "--api", "openai_chat", "body")
    assert json.loads(ran.stdout)["text"] == "hi"
    assert ran.stdout == hame("debug", "decode", "--api", "openai_chat", stdin=BODY).stdout


def test_status_and_headers_tell_what_a_body_cannot(hame, tmp_path):
    (tmp_path / "headers").write_text("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\n")
    told = hame("debug", "decode", "--api", "anthropic", "--headers", "headers", stdin="")
    error = json.loads(told.stdout)["error"]
    assert (error["category"], error["retry_after_s"]) == ("rate_limit", 5)
    said = hame(
        "debug",
        "decode",
        "--api",
        "anthropic",
        "--headers",
        "headers",
        "--status",
        "401",
        stdin="x",
    )
    assert json.loads(said.stdout)["error"]["category"] == "auth"


def test_a_folder_is_a_line_for_each_case(hame, tmp_path):
    (tmp_path / "index.json").write_text('[{"id":"a","api":"openai_chat"},{"id":"b"}]')
    (tmp_path / "openai_chat").mkdir()
    (tmp_path / "openai_chat" / "a.json").write_text(BODY)
    ran = hame("debug", "decode", "--index", ".")
    good, bad = map(json.loads, ran.stdout.splitlines())
    assert (good["id"], good["text"]) == ("a", "hi")
    assert bad["error_reading"]
    assert ran.stderr == "hame: 1 of 2 cases could not be read\n"
    assert ran.returncode == 1


def test_what_cannot_be_decoded_says_what_to_name(hame):
    assert "which api" in hame("debug", "decode", "x").stderr
    missing = hame("debug", "decode", "--api", "gemini", "nowhere")
    assert "cannot read nowhere" in missing.stderr
    assert missing.returncode == 2
    assert "smoke" in hame("debug", "decode", "--api", "smoke", "x").stderr


def test_a_request_is_shown_whole_with_its_keys_masked(hame):
    words = ("debug", "request", "say", "hi", "--model", "openrouter/a/b", "--effort", "low")
    ran = hame(*words, real=True, **KEYS)
    shown = json.loads(ran.stdout)
    assert {**shown["headers"], "content-length": "N"} == snapshot({
        "host": "openrouter.ai",
        "user-agent": "hame/0.1.0",
        "accept-encoding": "identity",
        "accept": "text/event-stream",
        "content-type": "application/json",
        "authorization": "Bearer ***",
        "x-title": "hame",
        "content-length": "N",
    })
    assert (shown["method"], shown["url"]) == snapshot((
        "POST",
        "https://openrouter.ai/api/v1/chat/completions",
    ))
    body = shown["body"]
    assert body["model"] == "a/b"
    assert body["messages"][-1]["content"].endswith("say hi")
    assert "secret" not in ran.stdout
    assert hame("sessions", real=True).stdout == ""


def test_what_is_shown_is_what_is_sent(hame):
    with ScriptedServer(answer("one"), answer("two")) as server:
        keys = {**KEYS, "OPENROUTER_BASE_URL": f"{server.url}/v1"}
        first = hame("debug", "request", "go", "--model", "openrouter/m", real=True, **keys)
        assert not server.requests
        hame("-p", "go", "--model", "openrouter/m", real=True, **keys)
        second = hame("debug", "request", "on", "--continue", real=True, **keys)
        assert len(server.requests) == 1
        hame("-p", "on", "--continue", real=True, **keys)
    for shown, sent in zip(
        map(json.loads, (first.stdout, second.stdout)), server.questions, strict=True
    ):
        assert shown["body"] == sent.body
        assert shown["url"] == f"{server.url}{sent.path}"
        masked = {**sent.headers, "authorization": "Bearer ***"}
        assert {**shown["headers"]} == masked


def test_no_model_is_asked_not_even_to_try_how_it_calls_tools(hame):
    with ScriptedServer() as server:
        keys = {"OLLAMA_HOST": server.url}
        ran = hame("debug", "request", "go", "--model", "ollama/q", real=True, **keys)
        assert json.loads(ran.stdout)["url"] == f"{server.url}/api/chat"
        assert not server.questions


def test_the_built_in_model_is_not_asked_over_http(hame):
    ran = hame("debug", "request", "go", "--model", "local", real=True)
    assert ran.returncode == 2
