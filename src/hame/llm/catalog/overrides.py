"""The user's own rows: `models.toml`, laid over what ships.

[vendors.lab]                    # a vendor that ships, or a new one
base_url = "https://lab.example/v1"
key_env = ["LAB_KEY"]

[models."lab/big"]               # backend/model; "lab/big-*" is all that begin so
context_window = 131072
price = {input = 1.0, output = 3.0}
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

import msgspec

from hame.base.errors import ConfigError
from hame.base.json import JsonObject, as_object
from hame.base.model import Constraint, Vendor
from hame.llm.catalog.rows import ModelRow

Fields = TypeVar("Fields", Vendor, ModelRow)


class Overrides:
    """Fields that come before those of the shipped rows."""

    def __init__(self, tables: JsonObject, where: str) -> None:
        """Take the tables of the file `where`, and check all of them.

        Raises:
            ConfigError: naming the table that cannot be used.
        """
        self._where = where
        self.vendors = self._tables(tables, "vendors")
        self._models = self._tables(tables, "models")
        strange = sorted(set(tables) - {"vendors", "models"})
        if strange:
            raise ConfigError(
                f"{where}: [{strange[0]}] is not known there",
                hint='It has tables [vendors.NAME] and [models."NAME/MODEL"].',
            )
        for vendor_id in self.vendors:
            self.vendor(vendor_id, None)
        for name, fields in self._models.items():
            self._laid_over(name, ModelRow(model=name), fields)

    def vendor(self, vendor_id: str, shipped: Vendor | None) -> Vendor | None:
        """A vendor's row with the user's fields."""
        fields = self.vendors.get(vendor_id)
        if fields is None:
            return shipped
        new: JsonObject = {
            "display_name": vendor_id,
            "wire": "openai_chat",
            "base_url": "",
            "needs_key": "key_env" in fields,
            "constraints": list(Constraint),
        }
        below = new if shipped is None else as_object(msgspec.to_builtins(shipped)) or {}
        self._know_fields(f'vendors."{vendor_id}"', fields, Vendor.__struct_fields__)
        return self._convert(f"vendors.{vendor_id}", below | fields | {"id": vendor_id}, Vendor)

    def named(self, vendor_id: str) -> Sequence[str]:
        """The models of a vendor that have a table of their own."""
        start = f"{vendor_id}/"
        names = [name for name in self._models if name.startswith(start) and name[-1] != "*"]
        return [name.removeprefix(start) for name in names]

    def row(self, vendor_id: str, model: str, shipped: ModelRow | None) -> ModelRow | None:
        """A model's row with the user's fields; those of its own table come last."""
        full = f"{vendor_id}/{model}"
        for name, fields in self._models.items():
            if name[-1] == "*" and full.startswith(name[:-1]):
                shipped = self._laid_over(name, shipped or ModelRow(model=model), fields)
        own = self._models.get(full)
        if own is not None:
            shipped = self._laid_over(full, shipped or ModelRow(model=model), own)
        return shipped

    def _laid_over(self, name: str, row: ModelRow, fields: JsonObject) -> ModelRow:
        self._know_fields(f'models."{name}"', fields, ModelRow.__struct_fields__)
        below = as_object(msgspec.to_builtins(row)) or {}
        return self._convert(f'models."{name}"', below | fields | {"model": row.model}, ModelRow)

    def _know_fields(self, table: str, fields: JsonObject, known: Sequence[str]) -> None:
        strange = sorted(set(fields) - set(known))
        if strange:
            raise ConfigError(
                f"{self._where}: [{table}] {strange[0]} is not known",
                hint=f"Known are: {', '.join(known)}.",
            )

    def _convert(self, table: str, fields: JsonObject, kind: type[Fields]) -> Fields:
        try:
            return msgspec.convert(fields, kind)
        except msgspec.ValidationError as error:
            raise ConfigError(f"{self._where}: [{table}] {error}") from error

    def _tables(self, tables: JsonObject, name: str) -> Mapping[str, JsonObject]:
        found = tables.get(name, {})
        inner = as_object(found)
        if inner is None or not all(isinstance(each, dict) for each in inner.values()):
            raise ConfigError(f"{self._where}: {name} holds tables, one for each name")
        return cast("dict[str, JsonObject]", inner)
