import os
import pwd

from hypothesis import given
from hypothesis import strategies as st

from hame.config.places import find_places, project_file


def test_without_xdg_variables_the_files_lie_in_the_usual_folders_of_the_home():
    places = find_places({"HOME": "/home/ana"})
    assert places.config_file == "/home/ana/.config/hame/config.toml"
    assert places.sessions == "/home/ana/.local/share/hame/sessions"
    assert places.log == "/home/ana/.local/state/hame/log"
    assert places.cache == "/home/ana/.cache/hame"


def test_xdg_variables_move_the_folders():
    places = find_places({
        "HOME": "/h",
        "XDG_CONFIG_HOME": "/c",
        "XDG_DATA_HOME": "/d/",
        "XDG_STATE_HOME": "/s",
        "XDG_CACHE_HOME": "/x",
    })
    assert (places.config, places.data, places.state, places.cache) == (
        "/c/hame",
        "/d/hame",
        "/s/hame",
        "/x/hame",
    )


def test_a_relative_or_empty_xdg_variable_counts_as_unset():
    places = find_places({"HOME": "/h", "XDG_CONFIG_HOME": "rel", "XDG_DATA_HOME": ""})
    assert places.config == "/h/.config/hame"
    assert places.data == "/h/.local/share/hame"


def test_without_a_home_the_account_says_where_it_is():
    assert find_places({}).home == pwd.getpwuid(os.getuid()).pw_dir


@given(st.dictionaries(st.sampled_from(["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"]), st.text()))
def test_every_place_is_absolute_whatever_the_environment_holds(environment):
    places = find_places(environment)
    for path in (places.config, places.data, places.state, places.cache, places.history):
        assert path.startswith("/")


def test_the_file_of_a_project_lies_in_its_own_folder():
    assert project_file("/p/") == "/p/.hame/config.toml"
