"""Settings and the limits they set."""

import msgspec
import pytest

from hame.base.model import Effort
from hame.base.process import Exit
from hame.base.run import Limits
from hame.base.settings import Mode, ProviderSettings, Settings


def test_nothing_set_means_the_defaults() -> None:
    settings = Settings()
    assert settings.mode is Mode.ASK
    assert settings.limits() == Limits(steps=100)


def test_each_limit_of_a_run_comes_from_its_setting() -> None:
    settings = Settings(
        max_steps=7, max_output_tokens=1000, max_tokens=50_000, max_time_s=60.5, max_cost_usd=2.5
    )
    assert settings.limits() == Limits(
        steps=7, output_tokens=1000, total_tokens=50_000, seconds=60.5, cost_usd=2.5
    )


def test_settings_are_read_from_plain_data() -> None:
    plain = {
        "model": "a/b",
        "mode": "auto",
        "effort": "high",
        "add_dirs": ["/x"],
        "providers": {"mine": {"base_url": "http://localhost/v1"}},
    }
    settings = msgspec.convert(plain, Settings)
    assert (settings.mode, settings.effort, settings.add_dirs) == (Mode.AUTO, Effort.HIGH, ("/x",))
    assert settings.providers == {"mine": ProviderSettings(base_url="http://localhost/v1")}
    assert settings.providers["mine"].wire == "openai_chat"


@pytest.mark.parametrize(
    "plain", [{"mode": "yolo"}, {"effort": "extreme"}, {"max_steps": "many"}, {"providers": []}]
)
def test_settings_that_are_none_are_refused(plain: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(plain, Settings)


@pytest.mark.parametrize(
    ("exit_", "ok"),
    [(Exit(code=0), True), (Exit(code=1), False), (Exit(code=None, signal=9), False)],
)
def test_a_program_did_well_when_it_ended_with_zero_by_itself(exit_: Exit, ok: bool) -> None:
    assert exit_.ok is ok
