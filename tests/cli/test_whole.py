"""The real hame, from the keys to the wire and back, against a scripted server."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hame.testing import Reply, ScriptedServer, answer, call

READY = r"^\u276f\s*$"
SOURCE = str(Path(__file__).parents[2] / "src")


def keys(server):
    return {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}


def test_an_answer_is_streamed_to_standard_output(hame):
    with ScriptedServer(answer("Four, I think.")) as server:
        ran = hame("-p", "2+2?", real=True, **keys(server))
    assert (ran.stdout, ran.stderr, ran.returncode) == ("Four, I think.\n", "", 0)
    server.finish()


def test_what_is_piped_in_reaches_the_model(hame):
    with ScriptedServer(answer("ok")) as server:
        hame("-p", "explain", stdin="PIPED TEXT", real=True, **keys(server))
    assert b"PIPED TEXT" in server.questions[0].raw


def test_a_tool_runs_and_its_call_is_in_the_stream(hame, tmp_path):
    (tmp_path / "a.txt").write_text("hello from a file\n")
    with ScriptedServer(
        answer(call("read_file", path="a.txt")), answer("It says hello.")
    ) as server:
        ran = hame("-p", "read", "--output-format", "stream-json", real=True, **keys(server))
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    types = [line["type"] for line in lines]
    assert types.index("call_started") < types.index("call_settled") < types.index("result")
    assert lines[-1]["text"] == "It says hello."
    assert b"hello from a file" in server.questions[1].raw


def test_what_would_have_to_be_asked_is_refused_when_nobody_is_there(hame, tmp_path):
    write = call("write_file", path="b.txt", content="x")
    with ScriptedServer(answer(write), answer("I may not.")) as server:
        ran = hame("-p", "write", real=True, **keys(server))
    assert ran.returncode == 3
    assert "nobody to ask" in ran.stderr
    assert not (tmp_path / "b.txt").exists()


@pytest.mark.sandboxes
def test_what_a_command_planted_is_put_back_and_told_to_model_and_user(hame, tmp_path):
    """Level B, where no mount keeps it from being planted."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "build.sh").write_text(
        "git config core.fsmonitor ./evil; echo evil > .git/hooks/pre-commit; echo done > out"
    )
    run = call("run_command", command="sh build.sh")
    with ScriptedServer(answer(run), answer("Done.")) as server:
        options = ("--mode", "auto", "--sandbox", "landlock", "--verbose")
        ran = hame("-p", "plant", *options, real=True, **keys(server))
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out").read_text() == "done\n"
    assert not (tmp_path / ".git/hooks/pre-commit").exists()
    assert "fsmonitor" not in (tmp_path / ".git/config").read_text()
    told = server.questions[1].raw.decode()
    for words in ("put back as they were", ".git/config", "set aside", ".git/hooks/pre-commit"):
        assert words in told
        assert words in ran.stderr


def test_a_key_that_is_refused_is_said_with_the_remedy(hame):
    with ScriptedServer(Reply(status=401, message="invalid x-api-key")) as server:
        ran = hame("-p", "hi", real=True, **keys(server))
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "did not accept the API key" in ran.stderr
    assert "Check the key" in ran.stderr


def test_without_any_model_the_ways_to_one_are_named(hame):
    ran = hame("-p", "hi", real=True)
    assert ran.returncode == 2
    assert "hame local setup" in ran.stderr


def test_a_conversation_asks_before_it_writes_and_remembers_what_was_said(terminal, tmp_path):
    write = call("write_file", path="b.txt", content="written\n")
    with ScriptedServer(
        answer("I will write it.", write), answer("**Written.**"), answer("You asked for b.txt.")
    ) as server:
        hame = terminal(real=True, **keys(server))
        hame.wait_for(READY)
        hame.send("write b\r")
        text = hame.wait_for("y  yes, once")
        assert "1 + written" in text
        assert not (tmp_path / "b.txt").exists()
        hame.send("y\r")
        hame.wait_for(r"^✓ Write  b.txt  created \+1 -0")
        hame.wait_for(r"^Written\.$")
        hame.wait_for(READY)
        assert (tmp_path / "b.txt").read_text() == "written\n"
        hame.send("what did I ask?\r")
        hame.wait_for(r"^You asked for b\.txt\.$")
        hame.wait_for(READY)
        hame.send("\x04")
        assert hame.ended() == 0
        server.finish()
    assert b"write b" in server.questions[2].raw


def test_ctrl_c_stops_a_command_and_the_session_goes_on(terminal):
    run = call("run_command", command="touch made; echo begun; sleep 60")
    with ScriptedServer(answer(run), answer("Still here.")) as server:
        hame = terminal(real=True, **keys(server))
        hame.wait_for(READY)
        hame.send("run it\r")
        hame.wait_for("y  yes, once")
        hame.send("y\r")
        hame.wait_for(r"^  │ begun")
        hame.send("\x03")
        hame.wait_for(r"■ Run .* stopped by the user")
        hame.wait_for(READY)
        hame.send("and now?\r")
        hame.wait_for(r"^Still here\.$")


def test_a_session_is_listed_shown_and_continued(hame):
    with ScriptedServer(answer("First."), answer("Second.")) as server:
        hame("-p", "the first words", real=True, **keys(server))
        (listed,) = json.loads(hame("sessions", "--json", real=True).stdout)
        assert listed["title"] == "the first words"
        assert listed["id"] in hame("sessions", "list", real=True).stdout
        shown = hame("sessions", "show", listed["id"][:12], real=True).stdout
        assert shown == "> the first words\n\nFirst.\n\n"
        ran = hame("-p", "-c", "more", "--output-format", "json", real=True, **keys(server))
    assert json.loads(ran.stdout)["session_id"] == listed["id"]
    assert b"the first words" in server.questions[1].raw
    assert hame("sessions", "show", "nope", real=True).returncode == 2


def test_without_sessions_the_list_says_so(hame):
    ran = hame("sessions", real=True)
    assert (ran.stdout, ran.returncode) == ("", 0)
    assert "there are no sessions of" in ran.stderr


def test_providers_are_listed_with_what_they_need(hame):
    text = hame("models", real=True, MISTRAL_API_KEY="k").stdout
    assert re.match(r"mistral +Mistral +ready", text)
    assert re.search(r"^anthropic +Anthropic +needs ANTHROPIC_API_KEY", text, re.MULTILINE)
    assert re.search(r"^local ", text, re.MULTILINE)
    offers = json.loads(hame("models", "--json", real=True, MISTRAL_API_KEY="k").stdout)
    assert [offer["id"] for offer in offers if offer["chosen"]] == ["mistral"]
    assert all(set(offer) >= {"id", "name", "ready", "model", "needs"} for offer in offers)


def test_the_models_of_a_provider_are_asked_for(hame):
    with ScriptedServer() as server:
        text = hame("models", "anthropic", real=True, **keys(server)).stdout
    assert text.splitlines()[1].startswith("anthropic/scripted-model")
    ran = hame("models", "nowhere", real=True)
    assert ran.returncode == 2
    assert "nowhere" in ran.stderr
    assert hame("models", "local", real=True).stdout.splitlines()[1].startswith("local/")


def test_the_doctor_finds_a_model_that_answers(hame):
    with ScriptedServer() as server:
        ran = hame("doctor", real=True, **keys(server))
    assert ran.returncode == 0
    assert re.search(r"✓ model +anthropic/\S+ of Anthropic, which answers", ran.stdout)


@pytest.mark.sandboxes
def test_the_doctor_tries_the_sandbox_and_says_how_well_it_holds(hame):
    ran = hame("doctor", "--json", real=True, HAME_SANDBOX="landlock")
    findings = {finding["what"].strip(): finding for finding in json.loads(ran.stdout)}
    assert findings["sandbox"]["state"] == "note"
    assert findings["sandbox"]["said"].startswith("level B: Landlock ABI ")
    assert "no network" in findings["sandbox"]["hint"]
    for tried in ("write outside", "write home", "read a secret", "connect", "write while reading"):
        assert (findings[tried]["state"], findings[tried]["said"]) == ("ok", "kept from it")
    assert findings["write the project"]["said"] == "works"
    ran = hame("doctor", real=True)
    assert re.search(r"✓ sandbox +level A: bubblewrap [\d.]+ \+ seccomp", ran.stdout)


def test_the_doctor_names_a_sandbox_that_was_asked_for_and_does_not_work(hame, tmp_path):
    ran = hame("--sandbox", "bubblewrap", "doctor", "--json", real=True, PATH=str(tmp_path))
    findings = {finding["what"]: finding for finding in json.loads(ran.stdout)}
    assert ran.returncode == 1
    assert findings["sandbox"]["state"] == "broken"
    assert "bubblewrap" in findings["sandbox"]["said"]
    assert "Install bubblewrap" in findings["sandbox"]["hint"]


def test_the_doctor_names_settings_that_cannot_be_used(hame, tmp_path):
    (tmp_path / "hame").mkdir()
    (tmp_path / "hame" / "config.toml").write_text("modell = 3\n")
    ran = hame("doctor", real=True, XDG_CONFIG_HOME=str(tmp_path))
    assert ran.returncode == 1
    assert "\u2717 settings" in ran.stdout
    assert "did you mean model?" in ran.stdout
    assert "hame config unset modell" in ran.stdout


def test_the_doctor_says_what_is_missing_and_how_to_get_it(hame, tmp_path):
    (tmp_path / ".hame").mkdir()
    (tmp_path / ".hame" / "config.toml").write_text('mode = "auto"\n')
    ran = hame(
        "doctor",
        "--json",
        real=True,
        ANTHROPIC_API_KEY="k",
        ANTHROPIC_BASE_URL="http://127.0.0.1:1",
    )
    assert ran.returncode == 1
    findings = {finding["what"]: finding for finding in json.loads(ran.stdout)}
    assert findings["model"]["state"] == "broken"
    assert findings["model"]["hint"]
    assert "mode is ignored" in findings["settings"]["said"]
    assert findings["built-in model"]["hint"]


def test_the_built_in_model_says_what_is_missing(hame):
    ran = hame("local", "status", real=True)
    assert ran.returncode == 1
    assert "weights    not here: hame local setup" in ran.stdout
    assert hame("local", "remove", real=True).stdout == "There were none of hame's own.\n"


def test_the_demo_without_a_model_names_the_remedy(hame):
    ran = hame("demo", real=True)
    assert ran.returncode == 2
    assert "hame local setup" in ran.stderr or "hame[local]" in ran.stderr


def test_the_demo_checks_what_a_model_did_and_leaves_no_session(hame):
    edit = call("edit_file", path="settings.ini", old_string="8080", new_string="9090")
    steps = [
        answer(call("list_dir", path="src")), answer("teas.py and labels.py"),
        answer("It is in labels.py."),
        answer(edit), answer("Done."),
        answer(call("write_file", path="notes.txt", content="buy more sencha")), answer("Done."),
        answer("They pass."),
    ]  # fmt: skip
    with ScriptedServer(*steps) as server:
        ran = hame("demo", "--help", real=True, **keys(server))
        assert "sample project" in ran.stdout
        ran = hame("-m", "anthropic/claude", "demo", real=True, **keys(server))
    assert "✗ it answered without looking" in ran.stdout
    assert ran.stdout.count("✓ done, and checked") == 3
    assert "3 of 5 tasks done." in ran.stdout
    assert ran.returncode == 1
    assert hame("sessions", "--all", "--json", real=True).stdout == "[]\n"


def test_a_reader_that_leaves_ends_the_run_quietly(tmp_path, home):
    with ScriptedServer(answer("word " * 5000)) as server:
        script = f"{sys.executable} -m hame -p hi --output-format stream-json </dev/null | head -1"
        ran = subprocess.run(
            ["bash", "-c", f"{script}; echo ${{PIPESTATUS[0]}}"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPATH": SOURCE, **keys(server)},
            timeout=30,
            check=True,
        )
    first, code = ran.stdout.splitlines()
    assert json.loads(first)["type"] == "run_started"
    assert code == "141"
    assert ran.stderr == ""
