import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.model import Effort
from hame.base.settings import Mode
from hame.config.accents import ACCENTS, ALIASES, accent_code
from hame.config.keys import find_key, keys
from hame.config.values import Place, read_text, read_value

PLACE = Place("/projects/here", "/home/ana")


def value_of(name, text):
    key = find_key(name)
    assert key is not None
    return read_text(key, text, PLACE)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("model", "ollama/qwen3:8b", "ollama/qwen3:8b"),
        ("mode", "plan", Mode.PLAN),
        ("effort", "none", Effort.NONE),
        ("max_steps", "7", 7),
        ("max_cost_usd", "0.5", 0.5),
        ("max_time_s", "60", 60.0),
        ("max_retry_wait_s", "0", 0.0),
        ("color", "off", False),
        ("verbose", "YES", True),
        ("add_dirs", "a:/b:~/c", ("/projects/here/a", "/b", "/home/ana/c")),
        ("ca_file", "~/ca.pem", "/home/ana/ca.pem"),
        ("accent", "Verde", "Verde"),
        ("providers.mine.base_url", "http://localhost:1234/v1", "http://localhost:1234/v1"),
    ],
)
def test_text_becomes_a_value_of_the_keys_type(name, text, value):
    assert value_of(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("mode", "yolo", 'should be one of ask, auto, plan, not "yolo"'),
        ("max_steps", "many", 'should be a whole number, not "many"'),
        ("max_steps", "1.5", "should be a whole number, not 1.5"),
        ("max_steps", "0", "should be more than 0, not 0"),
        ("max_time_s", "nan", "should be more than 0, not nan"),
        ("max_time_s", "inf", "should be more than 0, not inf"),
        ("max_retry_wait_s", "-1", "should be 0 or more seconds, not -1"),
        ("color", "maybe", 'should be true or false, not "maybe"'),
        ("accent", "plaid", "should be one of red, green"),
        ("model", "two words", "should be a model's name"),
        ("proxy", "proxy.example", "should be a URL such as"),
        ("providers.mine.base_url", "localhost:1234", "should be a URL that starts with https://"),
        ("providers", "x", "is set value by value"),
    ],
)
def test_text_that_is_no_value_is_refused_with_what_is_allowed(name, text, words):
    with pytest.raises(ValueError, match=r".") as caught:
        value_of(name, text)
    assert words in str(caught.value)


def test_a_key_written_where_its_variables_name_belongs_is_not_repeated():
    with pytest.raises(ValueError, match="name of an environment variable") as caught:
        value_of("providers.mine.api_key_env", "sk-secret-123")
    assert "sk-secret" not in str(caught.value)


def test_toml_values_are_not_converted_across_types():
    for name, raw in (("max_steps", "3"), ("max_steps", True), ("color", 1), ("model", 4)):
        with pytest.raises(ValueError, match="should be"):
            read_value(keys()[name], raw, PLACE)


@given(st.sampled_from(sorted(set(keys()) - {"providers"})), st.text())
def test_any_text_is_a_value_or_a_clear_refusal(name, text):
    refusal = "should"
    try:
        value_of(name, text)
    except ValueError as error:
        refusal = str(error)
    assert refusal.startswith("should")


def test_colours_have_names_in_two_languages_and_numbers():
    assert accent_code("ciano") == accent_code("cyan") == "36"
    assert accent_code("#ff8000") == "38;2;255;128;0"
    assert accent_code("plaid") is None
    assert len(ACCENTS) == 12
    assert set(ALIASES.values()) <= set(ACCENTS)
