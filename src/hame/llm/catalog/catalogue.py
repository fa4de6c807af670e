"""Implements `hame.base.ports.Catalogue` with the rows that ship with hame and the user's own.

A vendor's file is opened when that vendor is asked for, and no other.
"""

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hame.base.model import ModelFacts, ModelListing, Vendor
from hame.llm.catalog.rows import ModelRow, Shard, facts_from

if TYPE_CHECKING:
    from hame.llm.catalog.overrides import Overrides

_DATA = f"{os.path.dirname(__file__)}/data"  # noqa: PTH120 - pathlib is 8 ms of start
_END = ".jsonl"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")


def no_overrides() -> "Overrides | None":
    """The user has no rows."""
    return None


class ShippedCatalogue:
    """The catalogue, read shard by shard."""

    def __init__(
        self, own: Callable[[], "Overrides | None"] = no_overrides, folder: str = _DATA
    ) -> None:
        """Nothing is read yet; `own` gives the user's rows when the first vendor is asked for."""
        self._folder = folder
        self._shards: dict[str, Shard | None] = {}
        self._read_own = own
        self._own: Overrides | None = None
        self._asked = False

    def vendors(self) -> Sequence[str]:
        """Ids of all vendors, those of the user's own included."""
        names = os.listdir(self._folder)  # noqa: PTH208 - pathlib is 8 ms of start
        shipped = {name.removesuffix(_END) for name in names if name.endswith(_END)}
        own = self._overrides()
        return sorted(shipped | set(own.vendors if own is not None else ()))

    def vendor(self, vendor_id: str) -> Vendor | None:
        """One vendor's row."""
        own, shard = self._overrides(), self._shard(vendor_id)
        shipped = shard.head.vendor if shard is not None else None
        return own.vendor(vendor_id, shipped) if own is not None else shipped

    def models(self, vendor_id: str) -> Sequence[ModelRow]:
        """The models that have a row."""
        shard, own = self._shard(vendor_id), self._overrides()
        shipped = {row.model: row for row in (shard.models if shard is not None else ())}
        if own is not None:
            for model in own.named(vendor_id):
                shipped.setdefault(model, ModelRow(model=model))
            changed = {name: own.row(vendor_id, name, row) for name, row in shipped.items()}
            return [row for row in changed.values() if row is not None]
        return list(shipped.values())

    def listings(self, vendor_id: str) -> Sequence[ModelListing]:
        """The models that have a row, as a server would list them."""
        return [
            ModelListing(
                id=row.model,
                display_name=row.display_name,
                context_window=row.context_window,
                max_output=row.max_output,
            )
            for row in self.models(vendor_id)
        ]

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        """What is known of a model; a server of the user's own is known by its row alone."""
        shard, own = self._shard(vendor.id), self._overrides()
        row = _row(shard, vendor, model) if shard is not None else None
        if own is not None:
            row = own.row(vendor.id, model, row)
        return facts_from(row, vendor, model)

    def _overrides(self) -> "Overrides | None":
        if not self._asked:
            self._own, self._asked = self._read_own(), True
        return self._own

    def _shard(self, vendor_id: str) -> Shard | None:
        if vendor_id not in self._shards:
            self._shards[vendor_id] = self._open(vendor_id)
        return self._shards[vendor_id]

    def _open(self, vendor_id: str) -> Shard | None:
        if not _NAME.fullmatch(vendor_id):
            return None
        try:
            with open(f"{self._folder}/{vendor_id}{_END}", "rb") as file:  # noqa: PTH123 - as above
                return Shard(file.read())
        except FileNotFoundError:
            return None


def _row(shard: Shard, vendor: Vendor, model: str) -> ModelRow | None:
    """The row of a model; a free one of which nothing is said is like the one that costs something."""
    row = shard.row(model)
    paid = model.removesuffix(vendor.free_ending) if vendor.free_ending else model
    said = row is not None and row.model == model and row.context_window is not None
    return row if said or paid == model else shard.row(paid) or row
