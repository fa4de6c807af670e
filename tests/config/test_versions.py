"""Files of every version load for ever, and a newer one is refused in words."""

import shutil
import tomllib
from pathlib import Path

import pytest
import tomlkit

from hame.app.models import own_rows
from hame.base.errors import ConfigError
from hame.base.model import Quirk, ToolSupport
from hame.base.settings import Effort, Mode, ProviderSettings
from hame.config.choices import read_choices
from hame.config.keystore import KeyStore
from hame.config.places import find_places
from hame.config.resolve import load_settings
from hame.config.versions import MODEL_STEPS, current, migrate, upgrade
from hame.config.write import set_value, unset_value
from hame.llm.catalog import ShippedCatalogue

GOLDEN = Path(__file__).with_name("golden")
VERSIONS = range(1, current() + 1)


@pytest.fixture
def places(tmp_path):
    found = find_places({"HOME": str(tmp_path)})
    Path(found.config_file).parent.mkdir(parents=True)
    return found


def renamed(table):
    """A step: `steps` has become `max_steps`."""
    rest = {name: value for name, value in table.items() if name != "steps"}
    return rest | {"max_steps": table["steps"]} if "steps" in table else rest


def nested(table):
    """A step: addresses of servers have become tables."""
    servers = table.pop("servers", {})
    return table | {"providers": {name: {"base_url": url} for name, url in servers.items()}}


STEPS = (renamed, nested)
OLD = """\
# mine
mode = "plan"   # careful
steps = 7

[servers]
box = "http://box:1/v1"
"""
NEW = {"mode": "plan", "max_steps": 7, "providers": {"box": {"base_url": "http://box:1/v1"}}}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_settings_file_of_every_version_loads_and_means_the_same(places, version, tmp_path):
    shutil.copy(GOLDEN / f"config-{version}.toml", places.config_file)
    settings = load_settings({}, places, "/", {}).settings
    assert settings.model == "mine/qwen3"
    assert settings.mode is Mode.AUTO
    assert settings.effort is Effort.HIGH
    assert settings.max_steps == 40
    assert settings.max_cost_usd == 1.5
    assert settings.show_thinking
    assert settings.accent == "#a0b1c2"
    assert settings.add_dirs == (str(tmp_path / "notes"), "/srv/data")
    assert settings.fallbacks == ("mistral/mistral-large-latest", "ollama/qwen3")
    assert settings.providers == {
        "mine": ProviderSettings(
            base_url="http://localhost:8080/v1", model="qwen3", api_key_env="MINE_KEY"
        ),
        "ollama": ProviderSettings(num_gpu=0, keep_alive="30m"),
    }


def test_files_of_keys_and_choices_of_every_version_load(tmp_path):
    choices = read_choices(str(GOLDEN / "choices-1.json"))
    assert choices.name == "mine/qwen3"
    assert choices.models["mistral"] == "mistral-large-latest"
    shutil.copy(GOLDEN / "keys-1.json", tmp_path / "keys.json")
    store = KeyStore(str(tmp_path / "keys.json"))
    assert store.providers() == ["mine", "mistral"]
    key = store.load("mine")
    assert key is not None
    assert key.secret == "sk-golden"
    assert store.origin("mistral") == "https://api.mistral.ai"


@pytest.mark.parametrize("head", ["", "version = 1\n"])
def test_an_old_file_goes_through_all_the_steps(head):
    assert migrate(tomllib.loads(head + OLD), "x", STEPS) == NEW
    later = {"version": 2, "servers": {}, "steps": 7}
    assert migrate(later, "x", STEPS) == {"steps": 7, "providers": {}}, "the first is behind it"


def test_migrating_changes_nothing_in_what_it_is_given():
    table = tomllib.loads(OLD)
    migrate(table, "x", STEPS)
    assert table == tomllib.loads(OLD)


def test_a_file_that_is_brought_up_keeps_its_comments():
    document = tomlkit.parse(OLD)
    upgrade(document, tomllib.loads(OLD), "x", STEPS)
    text = tomlkit.dumps(document)
    assert tomllib.loads(text) == {"version": 3, **NEW}
    assert text.startswith('# mine\nmode = "plan"   # careful\n')
    upgrade(document, tomllib.loads(text), "x", STEPS)
    assert tomlkit.dumps(document) == text


def test_a_file_of_the_current_version_is_not_touched():
    document = tomlkit.parse(OLD)
    upgrade(document, tomllib.loads(OLD), "x")
    assert tomlkit.dumps(document) == OLD


def test_a_newer_file_is_refused_and_left_as_it_is(places):
    path = Path(places.config_file)
    text = f"version = {current() + 1}\nunheard_of = 1\n"
    path.write_text(text, encoding="utf-8")
    for use in (
        lambda: load_settings({}, places, "/", {}),
        lambda: set_value(places, "mode", "plan"),
        lambda: unset_value(places, "unheard_of"),
    ):
        with pytest.raises(ConfigError, match="newer hame") as caught:
            use()
        assert str(path) in caught.value.message
        assert caught.value.hint.startswith("Update hame")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("version", ["0", "-1", "true", '"1"', "1.0", "[1]"])
def test_what_is_no_version_is_said(places, version):
    Path(places.config_file).write_text(f"version = {version}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="version should be a whole number") as caught:
        load_settings({}, places, "/", {})
    assert "version = 1" in caught.value.hint


def test_the_version_is_not_a_setting(places):
    set_value(places, "mode", "plan")
    assert "version" not in load_settings({}, places, "/", {}).values
    with pytest.raises(ConfigError, match="not a setting"):
        set_value(places, "version", "7")
    with pytest.raises(ConfigError, match="not a setting"):
        unset_value(places, "version")
    text = Path(places.config_file).read_text(encoding="utf-8")
    assert tomllib.loads(text)["version"] == 1


# ---------------------------------------------------------------- models.toml

MODELS = range(1, current(MODEL_STEPS) + 1)


@pytest.mark.parametrize("version", MODELS)
def test_a_file_of_rows_of_every_version_loads_and_means_the_same(places, version):
    shutil.copy(GOLDEN / f"models-{version}.toml", places.models_file)
    catalogue = ShippedCatalogue(lambda: own_rows(places))
    lab, anthropic = catalogue.vendor("lab"), catalogue.vendor("anthropic")
    assert lab is not None
    assert anthropic is not None
    assert (lab.base_url, lab.key_env, lab.default_model) == (
        "https://lab.test/v1", ("LAB_KEY",), "big-2",
    )  # fmt: skip
    assert lab.quirks == {Quirk.MAX_COMPLETION_TOKENS}
    assert anthropic.base_url == "https://gateway.test"
    facts = catalogue.facts(lab, "big-2")
    assert (facts.context_window, facts.max_output, facts.images) == (131_072, 4_096, False)
    assert facts.tools is ToolSupport.SCHEMA
    assert facts.efforts == {Effort.LOW, Effort.HIGH}
    assert facts.price is not None
    assert facts.price.rates(200_001).input == 2.0
    assert facts.price.rates(1).output == 3.0


def test_a_file_of_rows_without_a_version_is_of_the_first(places):
    text = (GOLDEN / "models-1.toml").read_text(encoding="utf-8").replace("version = 1\n", "")
    Path(places.models_file).write_text(text, encoding="utf-8")
    rows = own_rows(places)
    assert rows is not None
    assert set(rows.vendors) == {"lab", "anthropic"}


def test_a_newer_file_of_rows_is_refused_in_words(places):
    Path(places.models_file).write_text("version = 99\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="newer hame"):
        own_rows(places)


def test_a_mistake_in_a_file_of_rows_is_named_by_its_line(places):
    text = "version = 1\n\n[vendors.lab]\nbase_urll = 'x'\n"
    Path(places.models_file).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        own_rows(places)
    assert f"{places.models_file}:4: [vendors.lab] base_urll" in caught.value.message
    assert "did you mean base_url?" in caught.value.message
