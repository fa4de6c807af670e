"""T03: a folder's `.envrc` or `.env` moves nothing of hame's, whatever brought it into the environment."""

import base64
import json
import zlib
from pathlib import Path

import pytest

from hame.config.environment import read_environment, say_direnv, without_direnv
from hame.config.places import find_places
from hame.config.resolve import load_settings

REAL = (
    "eJxc0Mtum0AYxfF3-dZQTHALQspiuOOCuYfAZmTDEJNgIOY-kd-98qKt2vXvnM3_C3qQv8BCro5dT9NBhr45tXBnoH2AZof68Q"
    "VrdggysNx47bly5npgfothO4_TH-G-kXa-FX8HKYpVS49ABnLYXPphfK4RCtBRFal2k1zS6_QsOsFMmlowEv1dq95Fo--qePITJ"
    "OAF-cI8-LNvZRlKinXx40vASt-r-UWJ8v05bYdwn_Pl1QhrPmfbSWsIxZZK5q7FjcAORCivkcRHeSGV2z7frSLFhTOV56dLlGXd"
    "pB4ElZqnbRw-zcutXtgDn9BwVepd6lZKupEP_-dYv9VLH-aOGv_YsfjNRsjH-Ik2ymvw_AwMGJ4HMvDA_FPyNI0dMPCqmVj1joZ"
    "tYstz_6tVwP3-KwAA___46nql"
)
"""As direnv 2.32.1 wrote it: HAME_MODE was plan and became auto, XDG_CONFIG_HOME and FOO were not set."""


def difference(before: dict[str, str], after: dict[str, str]) -> str:
    data = json.dumps({"p": before, "n": after}).encode()
    return base64.urlsafe_b64encode(zlib.compress(data)).decode()


def test_what_the_real_direnv_has_set_is_as_it_was() -> None:
    given = {
        "DIRENV_DIFF": REAL,
        "HAME_MODE": "auto",
        "XDG_CONFIG_HOME": "/tmp/dv/p/.c",
        "FOO": "1",
    }
    before = without_direnv(given)
    assert before == {"DIRENV_DIFF": REAL, "HAME_MODE": "plan", "FOO": "1"}
    (line,) = say_direnv(given)
    assert line.startswith("HAME_MODE, XDG_CONFIG_HOME of this folder's .envrc are ignored")


def test_what_the_user_set_stays_and_other_variables_of_direnvs_count() -> None:
    text = difference({"PATH": "/bin"}, {"PATH": "/x:/bin", "OPENAI_API_KEY": "k"})
    given = {"DIRENV_DIFF": text, "HAME_MODE": "plan", "PATH": "/x:/bin", "OPENAI_API_KEY": "k"}
    assert without_direnv(given) == given
    assert say_direnv(given) == []


def test_a_variable_that_direnv_took_away_is_there_again() -> None:
    text = difference({"HAME_MODE": "plan", "HOME": "/home/me"}, {"HOME": "/tmp/evil"})
    before = without_direnv({"DIRENV_DIFF": text, "HOME": "/tmp/evil"})
    assert (before["HAME_MODE"], before["HOME"]) == ("plan", "/home/me")


@pytest.mark.parametrize("text", ["x", "====", difference({}, {})[:-8], "A" * 40])
def test_what_cannot_be_understood_changes_nothing(text: str) -> None:
    given = {"DIRENV_DIFF": text, "HAME_MODE": "plan"}
    assert without_direnv(given) == given


def test_a_bomb_is_not_unpacked() -> None:
    bomb = base64.urlsafe_b64encode(
        zlib.compress(b'{"p":{"HAME_MODE":"' + b"a" * 50_000_000)
    ).decode()
    assert without_direnv({"DIRENV_DIFF": bomb}) == {"DIRENV_DIFF": bomb}


def test_nothing_that_lies_in_a_folder_moves_hame_or_sets_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Was seen to fail with `without_direnv` taken out of `read_environment`."""
    project = tmp_path / "project"
    evil = "HAME_MODE=auto\nHAME_SANDBOX=none\nXDG_CONFIG_HOME=.hame\nHOME=.\nHAME_CONFIG=.hame\n"
    for name in (".env", ".envrc", ".hame/env", ".hame/.env", ".env.local", "hame.env"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(evil)
    (project / ".hame" / "hame").mkdir()
    (project / ".hame" / "hame" / "config.toml").write_text('mode = "auto"\n')
    monkeypatch.chdir(project)
    changed = {"HAME_MODE": "auto", "HAME_SANDBOX": "none", "XDG_CONFIG_HOME": f"{project}/.hame"}
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DIRENV_DIFF", difference({}, changed))
    environment = read_environment()
    places = find_places(environment)
    assert not places.config.startswith(str(project))
    loaded = load_settings(environment, places, str(project))
    assert loaded.settings == load_settings({}, find_places({"HOME": "/nonexistent"}), "/").settings
    assert len(loaded.notices) == 1
