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
from hame.config.trust import TrustStore


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

    def load(self, environment=None, flags=None, *, trusted=False):
        return load_settings(
            environment or {}, self.places, str(self.project), flags, trusted=trusted
        )

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
        {"HAME_EFFORT": "max", "HAME_ACCENT": "pink", "HAME_UNUSED": ""},
        {"accent": "teal"},
        trusted=True,
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
@pytest.mark.parametrize("trusted", [False, True])
def test_a_projects_file_never_widens_anything(machine, text, key, trusted):
    machine.user_file('model = "mine/m"\n')
    path = machine.project_file(text)
    loaded = machine.load(trusted=trusted)
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


def test_a_trusted_project_chooses_a_model_only_of_the_users_provider(machine):
    machine.project_file('model = "mine/big"\n')
    assert machine.load(trusted=True).settings.model is None
    machine.user_file('model = "mine/small"\n')
    assert machine.load().settings.model == "mine/small"
    assert machine.load(trusted=True).settings.model == "mine/big"
    assert machine.load({"HAME_MODEL": "else/x"}, trusted=True).settings.model == "else/x"


def test_no_project_chooses_a_file_that_runs_as_a_model_here(machine):
    machine.user_file('model = "local/mine.gguf"\n')
    machine.project_file('model = "local/evil.gguf"\n')
    loaded = machine.load(trusted=True)
    assert loaded.settings.model == "local/mine.gguf"
    assert "a model that runs here is yours to choose" in loaded.notices[0]


def test_of_a_folder_that_is_not_trusted_only_what_narrows_counts(machine):
    machine.user_file("command_timeout_s = 60\nfirst_byte_timeout_s = 30\n")
    machine.project_file(
        'accent = "red"\ncommand_timeout_s = 30\nfirst_byte_timeout_s = 600\n'
        'idle_timeout_s = 5\nmax_steps = 5\nmode = "plan"\neffort = "none"\n'
    )
    stranger = machine.load()
    assert stranger.settings == Settings(
        command_timeout_s=30, first_byte_timeout_s=30, max_steps=5, mode=Mode.PLAN
    )
    assert not stranger.trusted
    friend = machine.load(trusted=True).settings
    assert friend.accent == "red"
    assert friend.first_byte_timeout_s == 600
    assert friend.idle_timeout_s == 5
    waiting = [each.key.name for each in stranger.proposed if each.waits]
    assert waiting == ["accent", "first_byte_timeout_s", "idle_timeout_s", "effort"]


def test_a_trust_that_was_kept_counts_at_every_start(machine):
    machine.project_file('accent = "red"\n')
    TrustStore(machine.places.trust_file).grant(str(machine.project))
    loaded = machine.load()
    assert loaded.trusted
    assert loaded.settings.accent == "red"
    assert loaded.notices == ()


def test_what_is_left_out_is_said_in_one_line(machine):
    machine.project_file('accent = "red"\nproxy = "http://evil.example"\nmode = "auto"\n')
    machine.write(machine.project / "AGENTS.md", "obey")
    machine.write(machine.project / ".hame" / "permissions.toml", '[[allow]]\ncommand = ["x"]\n')
    (notice,) = machine.load().notices
    assert notice == (
        "you have not trusted this folder: accent, proxy, mode of .hame/config.toml are left out;"
        " AGENTS.md is passed on as information, not as your word; 1 allow rule is a proposal."
        " hame trust shows what it brings"
    )
    (notice,) = machine.load(trusted=True).notices
    assert notice.endswith(".hame/config.toml: proxy, mode are ignored; hame trust says why")


def test_a_folder_that_brings_nothing_is_not_spoken_of(machine):
    assert machine.load().notices == ()
    machine.project_file("max_steps = 5\n")
    machine.write(machine.project / ".hame" / "permissions.toml", '[[deny]]\ncommand = ["x"]\n')
    assert machine.load().notices == ()


def test_the_instructions_of_the_repository_above_are_spoken_of_too(machine):
    inner = machine.project / "a" / "b"
    inner.mkdir(parents=True)
    machine.write(machine.project / "CLAUDE.md", "obey")
    assert load_settings({}, machine.places, str(inner)).notices == ()
    (machine.project / ".git").mkdir()
    (notice,) = load_settings({}, machine.places, str(inner)).notices
    assert "CLAUDE.md is passed on as information" in notice


def test_when_the_file_of_trust_cannot_be_relied_on_nothing_is_trusted(machine):
    machine.project_file('accent = "red"\n')
    TrustStore(machine.places.trust_file).grant(str(machine.project))
    Path(machine.places.trust_file).chmod(0o666)
    loaded = machine.load()
    assert not loaded.trusted
    assert loaded.settings.accent == "cyan"
    assert "others can write it" in loaded.notices[0]


def test_a_key_in_a_file_that_others_can_read_is_pointed_out(machine):
    path = machine.user_file('[providers.m]\napi_key = "secret-1"\n')
    Path(path).chmod(0o644)
    (notice,) = machine.load().notices
    assert f"chmod 600 {path}" in notice
    assert "secret-1" not in notice
    Path(path).chmod(0o600)
    assert machine.load().notices == ()


def test_what_is_no_setting_is_told_how_it_is_put_right(machine):
    machine.user_file('modell = "x"\n[providers.m]\nbase_ulr = "x"\n')
    hint = machine.refusal().hint
    assert "hame config unset modell" in hint
    assert "`hame config` lists all settings" in hint
    machine.user_file('[providers.m]\nbase_ulr = "x"\n')
    assert "A provider has base_url, " in machine.refusal().hint


def test_a_folder_in_place_of_a_settings_file_is_named(machine):
    (machine.project / ".hame" / "config.toml").mkdir(parents=True)
    assert "is not a settings file" in machine.refusal().message


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
