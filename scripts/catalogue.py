"""Builds the catalogue's shards in `src/hame/llm/catalog/data` from public data and `scripts/vendors`.

    pip download --no-deps -d WHEELS genai-prices litellm
    python scripts/catalogue.py WHEELS [--day YYYY-MM-DD]

Of each wheel one file is read, and nothing of it is run: the prices of genai-prices (a Python file
of nothing but constructors and constants) and the JSON of litellm. Both are MIT; the README beside
the shards says so. What is known better stands in `scripts/vendors/ID.json`: the vendor's own row,
families of models that share their ways, single models. There a fact comes before the public one,
except a price that genai-prices knows.
"""

import argparse
import ast
import datetime as dt
import json
import re
import sys
import zipfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from hame.base.model import Vendor
from hame.llm.catalog.rows import VARIANT, Head, ModelRow

HERE = Path(__file__).resolve().parent
VENDORS = HERE / "vendors"
DATA = HERE.parent / "src" / "hame" / "llm" / "catalog" / "data"

Row = dict[str, Any]

SILENT = re.compile(
    r"embed|whisper|tts|audio|speech|transcri|realtime|live|dall-e|image|imagen|veo|sora|lyria|flux"
    r"|moderation|guard|rerank|ocr|clip|stable-diffusion|sdxl|video|safety|robotics|computer-use"
    r"|deep-research|search-preview|search-api|voxtral|container|music|bge-|banana|voice|multi-agent"
    r"|davinci|babbage|curie|^ada$|instruct$|^claude-(?:v1|2|instant)|extended$|\bft[:-]|-vision-preview",
    re.IGNORECASE,
)
"""Names of models that are no general model for a conversation with tools."""
TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
GENAI_PRICES = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "cache_write_long",
}
LITELLM_PRICES = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
    "cache_creation_input_token_cost_above_1hr": "cache_write_long",
}


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where public rows of a vendor come from."""

    genai: str = ""
    """Id of its provider in genai-prices."""
    litellm: tuple[str, ...] = ()
    """Its names in litellm; a model's name begins with one of them and a slash, or is bare."""
    bare: bool = False
    """Models without such a beginning count too."""
    prefix: str = ""
    """What stands before a model's name in genai-prices when the vendor is asked for it."""
    keep: str = ""
    """Only models whose name begins like this."""


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands in `scripts/vendors/ID.json`."""

    vendor: Vendor
    source: Source = Source()
    families: tuple[Row, ...] = ()
    models: tuple[Row, ...] = ()


# ---------------------------------------------------------------- genai-prices


def read_genai(wheel: Path, day: dt.date) -> dict[str, dict[str, Row]]:
    """Rows by provider and model."""
    text = _member(wheel, "genai_prices/data.py").decode()
    tree = ast.parse(text)
    values = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == "providers"
    )
    return {
        provider["id"]: {
            model["id"]: _genai_row(model, day)
            for model in provider.get("models", ())
            if not SILENT.search(model["id"])
        }
        for provider in _value(values)
    }


def _value(node: ast.expr | None) -> Any:
    """A constant, list, dict or constructor call as plain data; a call keeps its keywords.

    Raises:
        SystemExit: for anything else.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return dict(zip(map(_value, keys), map(_value, values), strict=True))
        case ast.Call(func=ast.Name(id="Decimal"), args=[ast.Constant(value=value)]):
            return float(str(value))
        case ast.Call(func=ast.Attribute(attr=attr), args=args) if attr in {"date", "time"}:
            return [_value(arg) for arg in args]
        case ast.Call(keywords=keywords):
            return {word.arg: _value(word.value) for word in keywords}
        case ast.Attribute():
            return None
        case _:
            raise SystemExit(f"genai-prices holds something new: {ast.dump(node)[:200]}")  # type: ignore[arg-type]


def _genai_row(model: Row, day: dt.date) -> Row:
    row: Row = {"display_name": model.get("name"), "context_window": model.get("context_window")}
    row["price"] = _genai_price(_standing(model.get("prices"), day))
    return _without_nothing(row)


def _standing(prices: Any, day: dt.date) -> Row:
    """The prices of a day; where they differ by the hour, the highest: a budget must hold."""
    if isinstance(prices, dict):
        return prices
    standing: Row = {}
    hourly: list[Row] = []
    for each in prices or ():
        condition = each.get("constraint") or {}
        if "start_time" in condition:
            hourly.append(each["prices"])
        elif "start_date" not in condition or dt.date(*condition["start_date"]) <= day:
            standing, hourly = each["prices"], []
    return max([standing, *hourly], key=lambda one: _base(one.get("output_mtok")))


def _base(rate: Any) -> float:
    return float(rate["base"] if isinstance(rate, dict) else rate or 0.0)


def _genai_price(prices: Row) -> Row | None:
    price: Row = {}
    tiers: dict[int, Row] = {}
    for name, ours in GENAI_PRICES.items():
        rate = prices.get(name)
        if rate is None:
            continue
        price[ours] = _base(rate)
        for tier in rate["tiers"] if isinstance(rate, dict) else ():
            tiers.setdefault(tier["start"], {"above": tier["start"]})[ours] = tier["price"]
    return _priced(price, tiers)


def _priced(price: Row, tiers: Mapping[int, Row]) -> Row | None:
    """A whole price; None where it lacks what every request has, or nobody is asked to pay."""
    if not price.get("input") or not price.get("output"):
        return None
    if tiers:
        price["tiers"] = [tiers[start] for start in sorted(tiers)]
    return price


# ---------------------------------------------------------------- litellm


def read_litellm(wheel: Path, day: dt.date) -> dict[str, Row]:
    """The entries that are models to talk to, by litellm's own name."""
    entries: dict[str, Row] = json.loads(
        _member(wheel, "litellm/model_prices_and_context_window_backup.json")
    )
    return {
        name: entry
        for name, entry in entries.items()
        if entry.get("mode") in {"chat", "responses"}
        and not SILENT.search(name)
        and str(entry.get("deprecation_date") or "9999") > day.isoformat()
    }


def litellm_rows(entries: Mapping[str, Row], source: Source) -> Iterator[tuple[str, Row]]:
    """The rows of one vendor, by the vendor's own name for each model."""
    for name, entry in entries.items():
        if entry.get("litellm_provider") not in source.litellm:
            continue
        own = next(
            (
                name.removeprefix(f"{each}/")
                for each in source.litellm
                if name.startswith(f"{each}/")
            ),
            name if source.bare else "",
        )
        if own and not own.startswith("ft:"):
            yield own, _litellm_row(entry)


def _litellm_row(entry: Row) -> Row:
    window, output = entry.get("max_input_tokens"), entry.get("max_output_tokens")
    row: Row = {
        "context_window": window if isinstance(window, int) else None,
        "max_output": output if isinstance(output, int) else None,
        "images": entry.get("supports_vision"),
        "documents": entry.get("supports_pdf_input") or None,
        "tools": "text" if entry.get("supports_function_calling") is False else None,
        "price": _litellm_price(entry),
        "efforts": _litellm_efforts(entry),
    }
    return _without_nothing(row)


def _litellm_price(entry: Row) -> Row | None:
    price = {
        ours: round(float(entry[name]) * 1e6, 6)
        for name, ours in LITELLM_PRICES.items()
        if isinstance(entry.get(name), float | int) and entry[name]
    }
    tiers: dict[int, Row] = {}
    for key in entry:
        if found := TIER.fullmatch(key):
            start = int(found[1]) * 1000
            rates = {
                ours: round(float(rate) * 1e6, 6)
                for name, ours in LITELLM_PRICES.items()
                if isinstance(rate := entry.get(f"{name}_above_{found[1]}k_tokens"), float | int)
            }
            tiers[start] = {"above": start} | rates
    return _priced(price, tiers)


def _litellm_efforts(entry: Row) -> list[str] | None:
    if not entry.get("supports_reasoning"):
        return None
    given = entry.get("reasoning_effort_levels")
    if isinstance(given, list):
        ours = {"xhigh": "max"}
        return sorted({ours.get(str(each), str(each)) for each in given})
    flags = ("supports_none_reasoning_effort", "supports_xhigh_reasoning_effort")
    if all(entry.get(flag) is None for flag in flags):
        return None
    efforts = ["low", "medium", "high"]
    efforts += ["minimal"] * bool(entry.get("supports_minimal_reasoning_effort"))
    efforts += ["none"] * bool(entry.get(flags[0]))
    highest = (flags[1], "supports_max_reasoning_effort")
    efforts += ["max"] * any(entry.get(flag) for flag in highest)
    return sorted(efforts)


# ---------------------------------------------------------------- shards


def build_shard(known: Known, genai: Mapping[str, Row], litellm: Mapping[str, Row]) -> list[Row]:
    """All rows of one vendor, by name; the more a source is trusted the later it is laid on top."""
    own = {row["model"]: row for row in known.models}
    genai = {f"{known.source.prefix}{name}": row for name, row in _cased(genai, litellm).items()}
    public = {name for name in (*genai, *litellm) if name.startswith(known.source.keep)}
    names = {name for name in public if not _is_variant(name, public | set(own))} | set(own)
    rows: list[Row] = []
    for name in sorted(names):
        row = _family(name, known.families) | {"model": name}
        row |= litellm.get(name, {}) | genai.get(name, {}) | own.get(name, {})
        if price := genai.get(name, {}).get("price"):
            row["price"] = price
        rows.append(_sound(row))
    return rows


def _cased(genai: Mapping[str, Row], litellm: Mapping[str, Row]) -> Mapping[str, Row]:
    """The rows of genai-prices under the names that litellm writes otherwise."""
    written = {name.lower(): name for name in litellm}
    return {written.get(name.lower(), name): row for name, row in genai.items()}


def _is_variant(name: str, names: Container[str]) -> bool:
    """Whether a name is another's with a date: it is found by that one."""
    found = VARIANT.fullmatch(name)
    return found is not None and found[1] in names


def _family(name: str, families: Iterable[Row]) -> Row:
    found = next((row for row in families if name.startswith(row["model"])), {})
    return {key: value for key, value in found.items() if key != "price"}


def _sound(row: Row) -> Row:
    """The row without limits that cannot be meant."""
    window, output = row.get("context_window"), row.get("max_output")
    if window is not None and window < 4_000:
        del row["context_window"]
    if output is not None and ((window and output > window) or output < 256):
        del row["max_output"]
    return row


def write_shard(known: Known, rows: Sequence[Row]) -> None:
    """One line for the vendor and its families, one for each model."""
    head = Head(vendor=known.vendor, families=msgspec.convert(known.families, tuple[ModelRow, ...]))
    lines = [msgspec.json.encode(head, order="deterministic")]
    encoder = msgspec.json.Encoder(order="deterministic")
    for row in rows:
        fields = msgspec.json.decode(encoder.encode(msgspec.convert(row, ModelRow)))
        # Its name comes first: that is how a row is found without reading the others.
        lines.append(msgspec.json.encode({"model": fields.pop("model")} | fields))
    (DATA / f"{known.vendor.id}.jsonl").write_bytes(b"\n".join(lines) + b"\n")


def _member(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(name)


def _without_nothing(row: Row) -> Row:
    return {key: value for key, value in row.items() if value is not None}


def main() -> None:
    """Build all shards."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("wheels", type=Path, help="folder with the two wheels")
    parser.add_argument("--day", type=dt.date.fromisoformat, required=True)
    given = parser.parse_args()
    genai = read_genai(next(given.wheels.glob("genai_prices-*.whl")), given.day)
    litellm = read_litellm(next(given.wheels.glob("litellm-*.whl")), given.day)
    total = 0
    for path in sorted(VENDORS.glob("*.json")):
        known = msgspec.json.decode(path.read_bytes(), type=Known)
        public = dict(litellm_rows(litellm, known.source))
        rows = build_shard(known, genai.get(known.source.genai, {}), public)
        write_shard(known, rows)
        total += len(rows)
        sys.stdout.write(f"{known.vendor.id:<12} {len(rows):>5} models\n")
    sys.stdout.write(f"{total} models\n")


if __name__ == "__main__":
    main()
