"""The user's own rows of the catalogue."""

import tomllib
from functools import partial

import pytest

from hame.base.errors import ConfigError
from hame.base.model import Effort, Price, PriceTier
from hame.config.sources import line_at
from hame.llm.catalog import ShippedCatalogue
from hame.llm.catalog.overrides import Overrides


def catalogue(text: str) -> ShippedCatalogue:
    line = partial(line_at, text)
    return ShippedCatalogue(lambda: Overrides(tomllib.loads(text), "models.toml", line))


def facts(found: ShippedCatalogue, name: str):
    vendor_id, _, model = name.partition("/")
    vendor = found.vendor(vendor_id)
    assert vendor is not None
    return found.facts(vendor, model)


def test_a_vendor_of_the_users_is_a_row():
    found = catalogue("""
        [vendors.lab]
        base_url = "https://lab.test/v1"
        key_env = ["LAB_KEY"]
        [models."lab/big"]
        context_window = 9000
        efforts = ["low", "high"]
    """)
    assert "lab" in found.vendors()
    vendor = found.vendor("lab")
    assert vendor is not None
    assert (vendor.wire, vendor.needs_key, vendor.key_env) == ("openai_chat", True, ("LAB_KEY",))
    assert facts(found, "lab/big").context_window == 9000
    assert facts(found, "lab/big").efforts == {Effort.LOW, Effort.HIGH}
    assert facts(found, "lab/other").context_window is None
    assert [row.model for row in found.models("lab")] == ["big"]
    assert [one.id for one in found.listings("lab")] == ["big"]


def test_fields_are_laid_over_what_ships_and_the_rest_stays():
    shipped = facts(ShippedCatalogue(), "anthropic/claude-opus-5-5")
    found = catalogue("""
        [vendors.anthropic]
        base_url = "https://gateway.test"
        [models."anthropic/claude-opus-5-5"]
        price = {input = 1, output = 2, tiers = [{above = 1000, input = 3}]}
        [models."anthropic/claude-*"]
        max_output = 1234
    """)
    vendor = found.vendor("anthropic")
    assert vendor is not None
    assert vendor.base_url == "https://gateway.test"
    assert vendor.key_env == ("ANTHROPIC_API_KEY",)
    changed = facts(found, "anthropic/claude-opus-5-5")
    assert changed.price == Price(input=1, output=2, tiers=(PriceTier(above=1000, input=3),))
    assert changed.max_output == 1234
    assert changed.context_window == shipped.context_window
    assert changed.quirks == shipped.quirks
    assert facts(found, "anthropic/claude-new").max_output == 1234


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[vendor.x]\na = 1", "models.toml:1: vendor is not known there, did you mean vendors?"),
        ('[models."a/b"]\ncontext = 1', 'models.toml:2: [models."a/b"] context is not known'),
        ('[models."a/b"]\ncontext_window = "big"', "models.toml:2: "),
        ('\n\n[models."a/b"]\nprice = {input = "free"}', "models.toml:4: "),
        ('[models."a/b".price]\ninput = 1\noutput = "x"', "models.toml:3: "),
        ('[models."a/b"]\nprice = {inputt = 1}', "price.inputt is not known, did you mean input?"),
        (
            '[models."a/b"]\nmax_output = 9\nprice = {input = 1, tiers = [{abve = 3}]}',
            'models.toml:3: [models."a/b"] price.tiers.abve is not known, did you mean above?',
        ),
        ('[models."a/b"]\nefforts = ["huge"]', "models.toml:2: "),
        ('[models."a/b".timeouts]\nfirst = 1', "timeouts.first is not known"),
        ("[vendors.lab]\nurl = 1", "models.toml:2: [vendors.lab] url is not known"),
        ("models = 5", "models.toml:1: models holds tables"),
        ("\n[models]\nx = 5", "models.toml:3: models holds tables"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_table(text, said):
    with pytest.raises(ConfigError) as caught:
        catalogue(text).vendors()
    assert said in caught.value.message
    assert "models.toml" in caught.value.message
