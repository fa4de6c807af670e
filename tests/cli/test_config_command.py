import json

import pytest

from hame.config.keys import keys


def test_every_key_is_explained(hame):
    text = hame("config").stdout
    for key in keys().values():
        assert f"{key.name}  " in text
    assert "What runs without a question" in text


def test_a_value_says_where_it_comes_from(hame, home):
    assert hame("config", "get", "max_steps").stdout == "100  (default)\n"
    path = home / ".config" / "hame" / "config.toml"
    assert hame("config", "set", "max_steps", "7").stdout == f"max_steps = 7  ({path})\n"
    assert hame("config", "get", "max_steps").stdout == f"7  ({path}:2)\n"
    assert hame("config", "get", "max_steps", HAME_MAX_STEPS="9").stdout == "9  (HAME_MAX_STEPS)\n"
    assert hame("config", "unset", "max_steps").returncode == 0
    assert hame("config", "get", "max_steps").stdout == "100  (default)\n"


def test_a_value_that_something_overrides_is_pointed_out_when_it_is_set(hame):
    ran = hame("config", "set", "mode", "plan", HAME_MODE="auto")
    assert ran.returncode == 0
    assert "HAME_MODE overrides it here: auto" in ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("get", "modell"), "modell is not a setting, did you mean model?"),
        (("set", "modell", "x"), "modell is not a setting, did you mean model?"),
        (("set", "mode", "yolo"), "mode should be one of ask, auto, plan"),
        (("unset", "mode"), "mode is not set in"),
        (("set", "mode"), "missing argument 'VALUE'"),
        (("frob",), "no such command 'frob'"),
    ],
)
def test_mistakes_are_usage_errors_with_a_remedy(hame, words, said):
    ran = hame("config", *words)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert ran.stdout == ""


def test_keys_are_never_shown(hame):
    for words in (
        ("set", "providers.mine.api_key", "sk-secret"),
        ("get", "providers.mine.api_key"),
        ("get", "providers.mine.api_key", "--json"),
        ("list",),
        ("list", "--json"),
    ):
        ran = hame("config", *words)
        assert ran.returncode == 0
        assert "(set)" in ran.stdout
        assert "sk-secret" not in ran.stdout + ran.stderr


def test_the_list_is_there_for_programs_too(hame):
    listed = json.loads(hame("config", "list", "--json", HAME_ACCENT="red").stdout)
    assert listed["accent"] == {"value": "red", "from": "environment", "where": "HAME_ACCENT"}
    assert listed["mode"]["value"] == "ask"


def test_what_runs_a_program_is_marked_in_every_list(hame):
    hame("config", "set", "providers.mine.api_key_cmd", "pass show key")
    row = next(line for line in hame("config", "list").stdout.splitlines() if "api_key_cmd" in line)
    assert row.endswith("[runs a program]")
    listed = json.loads(hame("config", "list", "--json").stdout)
    assert listed["providers.mine.api_key_cmd"]["executes"]
    assert listed["proxy"]["connects"]
    explained = hame("config").stdout
    assert "api_key_cmd  text\n    yours alone  [runs a program]\n" in explained
    assert "accent  text; cyan unless set\n    also a trusted project's" in explained


def test_the_places_of_the_files_are_told(hame, home, tmp_path):
    text = hame("config", "path").stdout
    assert f"settings  {home}/.config/hame/config.toml  (not there)" in text
    assert f"project   {tmp_path}/.hame/config.toml" in text
