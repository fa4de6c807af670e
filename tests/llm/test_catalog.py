"""The shipped catalogue: every row is sound, and what it does not know it does not invent."""

import json
from pathlib import Path

import pytest

import hame.llm.catalog
from hame.base.model import Effort, Quirk, Vendor
from hame.llm.catalog import ShippedCatalogue
from hame.llm.catalog.rows import ModelRow, Shard
from hame.llm.codecs import WIRES, codec

DATA = Path(hame.llm.catalog.__file__).parent / "data"
VENDORS = ShippedCatalogue().vendors()


def vendor_of(vendor_id: str) -> Vendor:
    vendor = ShippedCatalogue().vendor(vendor_id)
    assert vendor is not None
    return vendor


def test_every_file_is_a_vendor_and_the_vendors_of_the_design_are_among_them():
    assert {path.stem for path in DATA.glob("*.jsonl")} == set(VENDORS)
    assert set(VENDORS) >= {
        *("anthropic", "openai", "gemini", "vertex", "openrouter", "deepseek", "mistral", "groq"),
        *("xai", "together", "cerebras", "fireworks", "moonshot", "zai", "azure", "github"),
        *("ollama", "lmstudio", "llamacpp", "vllm"),
    }


def test_there_are_thousands_of_models():
    catalogue = ShippedCatalogue()
    assert sum(len(catalogue.models(vendor)) for vendor in VENDORS) > 2_000


@pytest.mark.parametrize("vendor_id", VENDORS)
def test_a_vendors_row_is_sound(vendor_id):
    catalogue = ShippedCatalogue()
    vendor = vendor_of(vendor_id)
    assert vendor.id == vendor_id
    assert vendor.wire in WIRES
    assert codec(vendor.wire).name == vendor.wire
    assert vendor.base_url == "" or vendor.base_url.startswith(("https://", "http://127.0.0.1:"))
    assert not vendor.base_url.endswith("/")
    assert vendor.base_url.endswith(vendor.base_path) or not vendor.base_url
    assert vendor.key_env
    assert vendor.base_url_env
    assert vendor.needs_key or vendor.local
    if vendor.default_model and catalogue.models(vendor_id):
        assert any(row.model == vendor.default_model for row in catalogue.models(vendor_id))


@pytest.mark.parametrize("vendor_id", VENDORS)
def test_a_models_row_is_sound(vendor_id):
    catalogue = ShippedCatalogue()
    rows = catalogue.models(vendor_id)
    assert len({row.model for row in rows}) == len(rows)
    for row in rows:
        assert row.wire is None or row.wire in WIRES
        assert row.context_window is None or row.context_window >= 4_000
        if row.max_output and row.context_window:
            assert row.max_output <= row.context_window
        price = row.price
        if price is not None:
            assert price.input
            assert price.output
            assert price.input > 0
            assert price.cache_read is None or price.cache_read <= price.input * 1.1
            bounds = [tier.above for tier in price.tiers]
            assert bounds == sorted(set(bounds))


def test_a_file_says_nothing_that_is_not_read():
    for path in DATA.glob("*.jsonl"):
        head, *rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert set(head) <= {"vendor", "families"}
        assert set(head["vendor"]) <= set(Vendor.__struct_fields__)
        assert all(set(row) <= set(ModelRow.__struct_fields__) for row in rows)


def test_a_row_is_found_by_its_whole_name_only():
    shard = Shard((DATA / "openrouter.jsonl").read_bytes())
    for row in shard.models:
        assert shard.row(row.model) == row
    assert shard.row('x","y') is None
    assert shard.row("") is None


def test_only_the_vendor_that_is_asked_for_is_opened():
    catalogue = ShippedCatalogue()
    catalogue.vendors()
    assert catalogue._shards == {}
    catalogue.vendor("groq")
    assert list(catalogue._shards) == ["groq"]


def test_a_known_model_has_its_facts():
    facts = ShippedCatalogue().facts(vendor_of("anthropic"), "claude-opus-5")
    assert facts.name == "anthropic/claude-opus-5"
    assert facts.vendor == "Anthropic"
    assert facts.context_window == 1_000_000
    assert facts.price is not None
    assert facts.price.input == 5.0
    assert Quirk.ADAPTIVE_THINKING in facts.quirks
    assert Effort.MAX in facts.efforts


@pytest.mark.parametrize(
    ("vendor_id", "asked", "row"),
    [
        ("anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4-0"),
        ("anthropic", "claude-sonnet-4", "claude-sonnet-4-0"),
        ("anthropic", "claude-3-5-haiku-20241022", "claude-3-5-haiku-latest"),
        ("gemini", "gemini-2.0-flash-001", "gemini-2.0-flash"),
    ],
)
def test_a_model_is_found_by_the_name_that_its_vendor_dates(vendor_id, asked, row):
    catalogue, vendor = ShippedCatalogue(), vendor_of(vendor_id)
    facts, meant = catalogue.facts(vendor, asked), catalogue.facts(vendor, row)
    assert facts.price == meant.price
    assert facts.price is not None
    assert facts.context_window == meant.context_window
    assert facts.model == asked


@pytest.mark.parametrize("suffix", ["-20250929", "-2025-09-29", "-latest", "@20250929"])
def test_a_dated_variant_has_the_facts_of_its_model(suffix):
    facts = ShippedCatalogue().facts(vendor_of("anthropic"), f"claude-sonnet-4-5{suffix}")
    assert facts.model == f"claude-sonnet-4-5{suffix}"
    assert facts.price is not None


def test_another_model_that_begins_alike_is_not_the_same():
    facts = ShippedCatalogue().facts(vendor_of("openai"), "gpt-5-turbo")
    assert facts.price is None
    assert facts.context_window is None
    assert facts.efforts


def test_of_an_unknown_model_nothing_is_invented():
    facts = ShippedCatalogue().facts(vendor_of("ollama"), "nobody-knows:7b")
    assert facts.price is None
    assert facts.context_window is None
    assert facts.max_output is None
    assert facts.efforts == frozenset()
    assert not facts.images
    assert facts.local
    assert facts.timeouts.first_byte_s == 300


def test_a_vendor_that_is_not_in_the_catalogue_is_known_by_its_row():
    catalogue = ShippedCatalogue()
    assert catalogue.vendor("lab") is None
    assert not catalogue.models("lab")
    own = Vendor(id="lab", display_name="Lab", wire="openai_chat", base_url="http://lab/v1")
    facts = catalogue.facts(own, "m")
    assert (facts.backend, facts.model, facts.wire, facts.vendor) == (
        *("lab", "m", "openai_chat", "Lab"),
    )


def test_a_model_may_speak_another_wire_than_its_vendor():
    facts = ShippedCatalogue().facts(vendor_of("azure"), "gpt-5-mini")
    assert facts.wire == "openai_responses"


@pytest.mark.parametrize(
    ("name", "editing"),
    [
        ("gpt-5.5", "apply_patch"),
        ("openai/gpt-6.1-sol", "apply_patch"),
        ("o4-mini", "apply_patch"),
        ("gpt-oss-120b", "edit_file"),
        ("claude-sonnet-4-5", "edit_file"),
        ("mock-model", "edit_file"),
    ],
)
def test_models_of_the_gpt_family_edit_with_patches_whoever_serves_them(
    name: str, editing: str
) -> None:
    catalogue = ShippedCatalogue()
    vendor = catalogue.vendor("openrouter")
    assert vendor is not None
    assert catalogue.facts(vendor, name).editing == editing


def test_a_free_model_of_a_gateway_is_free_and_otherwise_like_the_one_that_is_not():
    catalogue, vendor = ShippedCatalogue(), vendor_of("openrouter")
    paid = next(
        row for row in catalogue.models("openrouter") if row.context_window and row.price
    ).model
    free, whole = (catalogue.facts(vendor, name) for name in (f"{paid}:free", paid))
    assert free.price is not None
    assert (free.price.input, free.price.output) == (0.0, 0.0)
    assert free.context_window == whole.context_window
    assert free.model == f"{paid}:free"
    new = catalogue.facts(vendor, "somebody/new:free")
    assert new.price == free.price
    assert catalogue.facts(vendor, "somebody/new").price is None
    other = vendor_of("groq")
    assert ShippedCatalogue().facts(other, "somebody/new:free").price is None
