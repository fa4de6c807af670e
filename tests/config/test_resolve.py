import os
import sys
from pathlib import Path

import pytest

from hame.base.errors import ConfigError
from hame.base.settings import Mode, ProviderSettings, Settings
from hame.config.environment import read_environment
from hame.config.places import Places, find_places
from hame.config.resolve import load_settings, settled_value
from hame.config.sources import Layer, line_of


class Machine:
    """A home and a project on a real disk."""

    def __init__(self, root: Path):
        self.project = root / "project"
        self.project.mkdir()
        self.places: Places = find_places({"HOME": str(root / "home")})

    def user_file(self, text: str) -> str:
        return self.write(Path(self.places.config_file), text)

    def project_file(self, text: str) -> str:
        return self.write(self.project / ".hame" / "config.toml", text)

    def write(self, path: Path, text: str) -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def load(self, environment=None, flags=None):
        return load_settings(environment or {}, self.places, str(self.project), flags)

    def refusal(self, environment=None, flags=None) -> ConfigError:
        with pytest.raises(ConfigError) as caught:
            self.load(environment, flags)
        assert caught.value.hint, "an error names the remedy"
        return caught.value


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_with_nothing_set_the_settings_are_the_defaults(machine):
    loaded = machine.load()
    assert loaded.settings == Settings()
    assert {value.layer for value in loaded.values.values()} == {Layer.DEFAULT}


def test_each_layer_overrides_the_one_below_and_says_where_it_stands(machine):
    path = machine.user_file(
        '# mine\nmodel = "a/one"\nmax_steps = 50\naccent = "red"\neffort = "low"\n'
    )
    project = machine.project_file('max_steps = 40\neffort = "high"\naccent = "blue"\n')
    loaded = machine.load(
        {"HAME_EFFORT": "max", "HAME_ACCENT": "pink", "HAME_UNUSED": ""}, {"accent": "teal"}
    )
    assert loaded.settings.model == "a/one"
    assert loaded.settings.max_steps == 40
    assert loaded.settings.effort == "max"
    assert loaded.settings.accent == "teal"
    assert loaded.values["model"].where == f"{path}:2"
    assert loaded.values["max_steps"].where == f"{project}:1"
    assert loaded.values["effort"].where == "HAME_EFFORT"
    assert loaded.values["accent"].where == "--accent"
    assert loaded.notices == ()


def test_providers_of_the_users_file_are_tables(machine):
    machine.user_file(
        '[providers.mine]\nbase_url = "http://localhost:1/v1"\n[providers."a.b"]\nmodel = "m"\n'
    )
    loaded = machine.load()
    assert loaded.settings.providers == {
        "mine": ProviderSettings(base_url="http://localhost:1/v1"),
        "a.b": ProviderSettings(model="m"),
    }
    value = settled_value(loaded, "providers.mine.base_url")
    assert value is not None
    assert value.where.endswith(":2")
    wire = settled_value(loaded, "providers.mine.wire")
    assert wire is not None
    assert wire.value == "openai_chat"
    assert settled_value(loaded, "nothing") is None


def test_the_address_of_ollama_has_an_option_and_a_variable(machine):
    flags = {"providers.ollama.base_url": "http://box:11434"}
    assert machine.load(None, flags).settings.providers["ollama"].base_url == "http://box:11434"
    loaded = machine.load({"HAME_OLLAMA_URL": "http://b:1"})
    assert loaded.settings.providers["ollama"].base_url == "http://b:1"
    error = machine.refusal(None, {"providers.ollama.base_url": "box"})
    assert error.message.startswith("--ollama-url should be a URL")


def test_a_flag_that_was_not_given_changes_nothing(machine):
    assert machine.load(None, {"model": None, "mode": None}).settings == Settings()


def test_options_shorter_names_work_as_variables_too(machine):
    settings = machine.load({"HAME_MAX_COST": "0.25", "HAME_ADD_DIR": "/x:/y"}).settings
    assert settings.max_cost_usd == 0.25
    assert settings.add_dirs == ("/x", "/y")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('model = "x/y"\nmodell = 3\n', ":2: modell is not a setting, did you mean model?"),
        (
            'model = "x/y"\n\n# c\nmax_steps = "ten"\n',
            ':4: max_steps should be a whole number, not "ten"',
        ),
        (
            "[providers.m]\nbase_ulr = 'http://x'\n",
            ":2: base_ulr is not a setting, did you mean base_url?",
        ),
        ("[mode]\nx = 1\n", ":1: mode should be one of ask, auto, plan, not a table"),
        ("providers = 3\n", ":1: providers should be tables"),
        ("[providers]\nm = 3\n", ":2: providers.m should be a table"),
        ("model = \n", "not valid TOML"),
        ('add_dirs = [\n "a",\n 3,\n]\n', ":1: add_dirs should be a list of paths"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_file_line_and_key(machine, text, words):
    path = machine.user_file(text)
    error = machine.refusal()
    assert error.message.startswith(path)
    assert words in error.message


def test_a_key_mentioned_inside_a_long_text_is_not_taken_for_its_line():
    text = 'accent = """\nmode = "x"\n"""\n# note\nmode = "bad"\n'
    assert line_of(text, "mode") == 5


def test_wrong_variables_and_flags_are_named(machine):
    assert machine.refusal({"HAME_MODE": "yolo"}).message.startswith("HAME_MODE should be one of")
    assert machine.refusal(None, {"max_cost_usd": "free"}).message.startswith(
        "--max-cost should be"
    )


def test_an_unknown_variable_is_a_notice_with_the_nearest_name(machine):
    loaded = machine.load({"HAME_MODELL": "x"})
    assert loaded.notices == (
        "HAME_MODELL in the environment is not a setting of hame, did you mean HAME_MODEL?",
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('mode = "auto"', "mode"),
        ('[providers.x]\nbase_url = "http://evil.example"', "providers.x.base_url"),
        ('[providers.anthropic]\napi_key = "k"', "providers.anthropic.api_key"),
        ('add_dirs = ["/"]', "add_dirs"),
        ('proxy = "http://evil.example:1"', "proxy"),
        ('ca_file = "evil.pem"', "ca_file"),
        ("verbose = true", "verbose"),
        ('model = "other/m"', "model"),
        ("max_steps = 100000", "max_steps"),
        ("max_retry_wait_s = 9999", "max_retry_wait_s"),
    ],
)
def test_a_projects_file_never_widens_anything(machine, text, key):
    machine.user_file('model = "mine/m"\n')
    path = machine.project_file(text)
    loaded = machine.load()
    assert loaded.settings == Settings(model="mine/m")
    (notice,) = loaded.notices
    assert notice.startswith(f"{path}:")
    assert f": {key} is ignored: " in notice


def test_a_project_may_only_make_the_mode_stricter(machine):
    machine.user_file('mode = "plan"\n')
    machine.project_file('mode = "ask"\n')
    assert machine.load().settings.mode is Mode.PLAN
    machine.user_file('mode = "auto"\n')
    assert machine.load().settings.mode is Mode.ASK


def test_a_project_may_set_a_limit_where_the_user_has_none_but_not_lift_one(machine):
    machine.project_file("max_cost_usd = 2\n")
    assert machine.load().settings.max_cost_usd == 2
    machine.user_file("max_cost_usd = 1\n")
    assert machine.load().settings.max_cost_usd == 1


def test_a_project_chooses_a_model_only_of_the_users_provider(machine):
    machine.project_file('model = "mine/big"\n')
    assert machine.load().settings.model is None
    machine.user_file('model = "mine/small"\n')
    assert machine.load().settings.model == "mine/big"
    assert machine.load({"HAME_MODEL": "else/x"}).settings.model == "else/x"


def test_a_key_in_a_file_that_others_can_read_is_pointed_out(machine):
    path = machine.user_file('[providers.m]\napi_key = "secret-1"\n')
    Path(path).chmod(0o644)
    (notice,) = machine.load().notices
    assert f"chmod 600 {path}" in notice
    assert "secret-1" not in notice
    Path(path).chmod(0o600)
    assert machine.load().notices == ()


def test_a_pipe_in_place_of_a_settings_file_does_not_hold_up_the_start(machine):
    folder = machine.project / ".hame"
    folder.mkdir()
    os.mkfifo(folder / "config.toml")
    assert "is not a settings file" in machine.refusal().message


def test_a_file_that_is_not_utf8_is_refused(machine):
    path = Path(machine.user_file(""))
    path.write_bytes(b'model = "\xff"')
    with pytest.raises(ConfigError, match="is not UTF-8"):
        machine.load()


def test_a_byte_order_mark_is_no_obstacle(machine):
    Path(machine.user_file("")).write_bytes(b'\xef\xbb\xbfmodel = "a/b"\n')
    assert machine.load().settings.model == "a/b"


def test_the_environment_is_a_snapshot(monkeypatch):
    monkeypatch.setenv("HAME_MODEL", "a/b")
    environment = read_environment()
    monkeypatch.setenv("HAME_MODEL", "c/d")
    assert environment["HAME_MODEL"] == "a/b"


def test_without_a_file_the_toml_reader_is_not_imported(tmp_path):
    import subprocess

    code = (
        "import sys; from hame.config.places import find_places\n"
        "from hame.config.resolve import load_settings\n"
        f"load_settings({{}}, find_places({{'HOME': {str(tmp_path)!r}}}), {str(tmp_path)!r}, {{}})\n"
        "print(sorted({'tomllib', 'tomlkit', 'pathlib', 'difflib', 'asyncio'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert ran.stdout == "[]\n"
