import msgspec

from hame.base.settings import ProviderSettings, Settings
from hame.config.keys import find_key, keys, nearest, provider_keys


def test_every_field_of_the_settings_is_a_key_with_a_meaning():
    assert list(keys()) == [field.name for field in msgspec.structs.fields(Settings)]
    assert list(provider_keys()) == [
        field.name for field in msgspec.structs.fields(ProviderSettings)
    ]
    for key in (*keys().values(), *provider_keys().values()):
        assert key.meaning, f"{key.name} has no docstring"
        assert key.expects


def test_the_words_for_types_are_for_people():
    assert keys()["mode"].expects == "one of ask, auto, plan"
    assert keys()["effort"].expects == "one of none, minimal, low, medium, high, max"
    assert keys()["max_tokens"].expects == "a whole number"
    assert keys()["max_time_s"].expects == "a number"
    assert keys()["color"].expects == "true or false"
    assert keys()["add_dirs"].expects == "a list of paths"


def test_defaults_are_those_of_the_settings():
    defaults = Settings()
    for key in keys().values():
        assert key.default == getattr(defaults, key.name)


def test_a_key_has_the_variables_of_its_own_name_and_of_its_option():
    assert keys()["max_cost_usd"].variables == ("HAME_MAX_COST_USD", "HAME_MAX_COST")
    assert keys()["max_cost_usd"].option == "max-cost"
    assert keys()["add_dirs"].variables == ("HAME_ADD_DIRS", "HAME_ADD_DIR")
    assert keys()["model"].variables == ("HAME_MODEL",)


def test_a_providers_key_is_found_even_if_its_name_has_dots():
    key = find_key("providers.my.server.base_url")
    assert key is not None
    assert key.name == "providers.my.server.base_url"
    assert key.meaning == provider_keys()["base_url"].meaning


def test_what_is_no_key_is_not_found():
    for name in ("", "modell", "providers.x", "providers..base_url", "other.x.model", "model.x.y"):
        assert find_key(name) is None, name


def test_a_slip_of_the_pen_gets_the_nearest_name():
    assert nearest("modell", keys()) == ", did you mean model?"
    assert nearest("zzzzzz", keys()) == ""
