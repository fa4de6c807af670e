import msgspec

from hame.base.model import Effort
from hame.base.settings import Mode, OutputFormat, Settings
from hame.cli.options import EFFORTS, FORMATS, MODES, SETTINGS
from hame.config.keys import find_key


def test_the_choices_are_those_of_the_enumerations():
    assert tuple(Mode) == MODES
    assert tuple(Effort) == EFFORTS
    assert tuple(OutputFormat) == FORMATS


def test_every_option_that_is_a_setting_is_called_like_its_key():
    for names, _ in SETTINGS:
        key = find_key(names[-1])
        assert key is not None, names
        assert f"--{key.option}" in names[0].split("/"), names


def test_settings_without_an_option_are_those_meant_for_a_file():
    options = {names[-1] for names, _ in SETTINGS}
    left = {field.name for field in msgspec.structs.fields(Settings)} - options
    assert left == {
        "ask_timeout_s", "ca_file", "cache_lifetime", "command_timeout_s", "fallbacks", "max_output_tokens", "max_retry_wait_s", "providers",
        "proxy", "show_thinking", "web_search", "max_tokens_per_day", "max_steps_per_day",
        "max_cost_per_day_usd", "max_time_per_day_s",
    }  # fmt: skip
