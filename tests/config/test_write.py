import multiprocessing
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.errors import ConfigError
from hame.config.places import find_places
from hame.config.resolve import load_settings
from hame.config.write import set_value, unset_value

TEXT = """\
# my settings
model = "a/one"   # the good one

[providers.mine]  # at home
base_url = "http://localhost:1/v1"
"""


@pytest.fixture
def places(tmp_path):
    return find_places({"HOME": str(tmp_path)})


def write(places, text):
    path = Path(places.config_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_first_setting_makes_a_private_file_in_a_private_folder(places):
    assert set_value(places, "max_steps", "5") == 5
    path = Path(places.config_file)
    assert path.read_text(encoding="utf-8") == "version = 1\nmax_steps = 5\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["config.toml"]


def test_comments_and_layout_stay(places):
    path = write(places, TEXT)
    set_value(places, "model", "b/two")
    assert path.read_text() == TEXT.replace("a/one", "b/two")


def test_a_new_key_of_the_top_level_does_not_slip_into_a_table(places):
    path = write(places, TEXT)
    set_value(places, "mode", "plan")
    table = tomllib.loads(path.read_text())
    assert table["mode"] == "plan"
    assert table["providers"] == {"mine": {"base_url": "http://localhost:1/v1"}}
    assert "# at home" in path.read_text()


def test_values_of_providers_make_their_tables(places):
    set_value(places, "providers.box.base_url", "http://box:1/v1")
    set_value(places, "providers.box.model", "qwen")
    text = Path(places.config_file).read_text(encoding="utf-8")
    assert text.startswith("version = 1\n\n[providers.box]\n")
    loaded = load_settings({}, places, "/", {})
    assert loaded.settings.providers["box"].model == "qwen"


def test_paths_are_written_whole_so_that_they_mean_the_same_everywhere(
    places, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    set_value(places, "add_dirs", "x:/y")
    assert load_settings({}, places, "/", {}).settings.add_dirs == (str(tmp_path / "x"), "/y")


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("modell", "x", "modell is not a setting, did you mean model?"),
        ("providers.m.base_ulr", "x", "did you mean base_url?"),
        ("max_steps", "x", "max_steps should be a whole number"),
    ],
)
def test_what_would_not_load_is_not_written(places, key, text, words):
    path = write(places, TEXT)
    with pytest.raises(ConfigError, match=r".") as caught:
        set_value(places, key, text)
    assert words in caught.value.message
    assert caught.value.hint
    assert path.read_text() == TEXT


def test_a_broken_file_is_left_alone(places):
    path = write(places, "model = \n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        set_value(places, "mode", "plan")
    assert path.read_text() == "model = \n"


def test_a_wrong_value_can_be_set_right_and_an_unknown_key_taken_out(places):
    path = write(places, 'max_steps = "ten"\nmodell = 1\n')
    set_value(places, "max_steps", "10")
    assert unset_value(places, "modell")
    assert path.read_text() == "max_steps = 10\n"


def test_unset_takes_out_a_key_a_value_of_a_provider_or_a_whole_provider(places):
    path = write(places, TEXT + 'model = "m"\n[providers.other]\nmodel = "x"\n')
    assert unset_value(places, "model")
    assert unset_value(places, "providers.other.model")
    assert tomllib.loads(path.read_text()) == {
        "providers": {"mine": {"base_url": "http://localhost:1/v1", "model": "m"}}
    }
    assert unset_value(places, "providers.mine")
    assert tomllib.loads(path.read_text()) == {}
    assert "# my settings" in path.read_text()


def test_unset_of_what_is_not_there_says_so(places):
    assert not unset_value(places, "model")
    write(places, TEXT)
    assert not unset_value(places, "mode")
    assert not unset_value(places, "providers.mine.model")


def test_a_file_that_is_a_link_stays_a_link(places, tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_text(TEXT)
    link = Path(places.config_file)
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    set_value(places, "model", "b/two")
    assert link.is_symlink()
    assert "b/two" in real.read_text()


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / ".config").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be written"):
        set_value(find_places({"HOME": str(tmp_path)}), "mode", "plan")


def _set_many(home, name):
    for number in range(10):
        set_value(find_places({"HOME": home}), f"providers.{name}.model", f"m{number}")


def test_two_writers_do_not_lose_each_others_values(tmp_path, places):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_set_many, args=(str(tmp_path), name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    table = tomllib.loads(Path(places.config_file).read_text(encoding="utf-8"))
    assert table["providers"] == {"a": {"model": "m9"}, "b": {"model": "m9"}}


STEPS = st.lists(
    st.tuples(
        st.sampled_from([
            "mode",
            "max_steps",
            "providers.a.model",
            "providers.b.c.model",
            "add_dirs",
        ]),
        st.booleans(),
    ),
    max_size=12,
)
VALUES = {"mode": "plan", "max_steps": "3", "add_dirs": "/x"}


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_after_any_sets_and_unsets_the_file_loads_and_holds_what_was_set(tmp_path_factory, steps):
    places = find_places({"HOME": str(tmp_path_factory.mktemp("home"))})
    write(places, TEXT)
    held = {"model", "providers.mine.base_url"}
    for key, on in steps:
        if on:
            set_value(places, key, VALUES.get(key, "m"))
            held.add(key)
        else:
            assert unset_value(places, key) == (key in held)
            held.discard(key)
    loaded = load_settings({}, places, "/", {})
    assert {name for name, value in loaded.values.items() if value.where} == held
    assert Path(places.config_file).read_text(encoding="utf-8").startswith("# my settings\n")
