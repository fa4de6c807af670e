import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hame.testing import ScriptedServer, answer

SOURCE = str(Path(__file__).parents[2] / "src")


@pytest.mark.parametrize(
    ("shell", "mark"),
    [("bash", "complete -o nosort -F"), ("zsh", "#compdef hame"), ("fish", "complete --no-files")],
)
def test_each_shell_gets_its_script(hame, shell, mark):
    ran = hame("completion", shell)
    assert ran.returncode == 0
    assert mark in ran.stdout
    assert "_HAME_COMPLETE" in ran.stdout


def test_another_shell_is_a_usage_error(hame):
    assert hame("completion", "tcsh").returncode == 2


def completions(words, tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": SOURCE,
        "_HAME_COMPLETE": "bash_complete",
        "COMP_WORDS": f"hame {words}",
        "COMP_CWORD": str(len(words.split(" "))),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "hame"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    return {line.partition(",")[2] for line in ran.stdout.splitlines()}


def test_commands_options_and_choices_are_completed(tmp_path):
    assert "config" in completions("co", tmp_path)
    assert "--model" in completions("--mo", tmp_path)
    assert completions("--mode ", tmp_path) == {"ask", "auto", "plan"}
    assert completions("config se", tmp_path) == {"set"}


def test_settings_providers_models_and_sessions_are_completed(tmp_path, hame):
    assert "max_steps" in completions("config get max", tmp_path)
    assert completions("auth add anthr", tmp_path) == {"anthropic"}
    assert "anthropic" in completions("--model a", tmp_path)
    assert any(
        name.startswith("anthropic/claude") for name in completions("-m anthropic/c", tmp_path)
    )
    with ScriptedServer(answer("ok")) as server:
        own = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        ran = hame("-p", "x", "--output-format", "json", real=True, **own)
    session = json.loads(ran.stdout)["session_id"]
    assert completions("--resume ", tmp_path) == {session}
    assert completions("sessions show ", tmp_path) == {session}


def test_what_cannot_be_found_completes_to_nothing(tmp_path):
    assert not any(completions("--model nobody/x", tmp_path))
    assert not any(completions("--resume 2", tmp_path))
