"""Implements `hame.base.ports.Catalogue` with the rows that ship with hame.

A vendor's file is opened when that vendor is asked for, and no other.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from hame.base.model import ModelFacts, Vendor
from hame.llm.catalog.rows import ModelRow, Shard, facts_from

VENDORS: tuple[str, ...] = (
    "anthropic",
    "openai",
    "openai-chat",
    "gemini",
    "openrouter",
    "deepseek",
    "mistral",
    "groq",
    "xai",
    "together",
    "cerebras",
    "fireworks",
    "moonshot",
    "zai",
    "azure",
    "github",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
)
"""Ids of all vendors, each with a file of that name in `data/`."""


_DATA = Path(__file__).parent / "data"


class ShippedCatalogue:
    """The catalogue, read shard by shard."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._shards: dict[str, Shard] = {}

    def vendors(self) -> Sequence[str]:
        """Ids of all vendors."""
        return VENDORS

    def vendor(self, vendor_id: str) -> Vendor | None:
        """One vendor's row."""
        shard = self._shard(vendor_id)
        return shard.vendor if shard is not None else None

    def models(self, vendor_id: str) -> Sequence[ModelRow]:
        """The models that have a row."""
        shard = self._shard(vendor_id)
        return shard.models if shard is not None else ()

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        """What is known of a model; a server of the user's own is known by its row alone."""
        shard = self._shard(vendor.id)
        return facts_from(shard.row(model) if shard is not None else None, vendor, model)

    def _shard(self, vendor_id: str) -> Shard | None:
        if vendor_id not in VENDORS:
            return None
        shard = self._shards.get(vendor_id)
        if shard is None:
            path = _DATA / f"{vendor_id}.json"
            shard = msgspec.json.decode(path.read_bytes(), type=Shard)
            self._shards[vendor_id] = shard
        return shard
