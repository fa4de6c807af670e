"""The user's own rows: `models.toml`, laid over what ships.

version = 1                      # of the file's form; without it 1

[vendors.lab]                    # a vendor that ships, or a new one
base_url = "https://lab.example/v1"
key_env = ["LAB_KEY"]

[models."lab/big"]               # backend/model; "lab/big-*" is all that begin so
context_window = 131072
price = {input = 1.0, output = 3.0}
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeGuard, TypeVar, cast, get_args

import msgspec

from hame.base.errors import ConfigError
from hame.base.json import JsonObject, as_list, as_object
from hame.base.model import Constraint, Vendor
from hame.llm.catalog.rows import ModelRow

Fields = TypeVar("Fields", Vendor, ModelRow)
Place: TypeAlias = tuple[str, str]
"""`vendors` or `models`, and the name of a table in it."""
Line: TypeAlias = Callable[[Sequence[str]], int]
"""The line of the file on which that begins which these names lead to."""

_TABLES = ("vendors", "models")
_NAMES = re.compile(r"\w+")
_BARE = re.compile(r"[\w-]+")


class Overrides:
    """Fields that come before those of the shipped rows."""

    def __init__(self, tables: JsonObject, where: str, line: Line) -> None:
        """Take the tables of the file `where`, and check all of them.

        Raises:
            ConfigError: naming the line and the table that cannot be used.
        """
        self._where = where
        self._line = line
        self.vendors = self._tables(tables, "vendors")
        self._models = self._tables(tables, "models")
        strange = sorted(set(tables) - set(_TABLES))
        if strange:
            raise ConfigError(
                f"{self._at(strange[0])}: {strange[0]} is not known there{_near(strange[0], _TABLES)}",
                hint='It has tables [vendors.NAME] and [models."NAME/MODEL"], and version.',
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
        place = ("vendors", vendor_id)
        self._know_fields(place, fields, Vendor)
        return self._convert(place, below | fields | {"id": vendor_id}, Vendor)

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
        place = ("models", name)
        self._know_fields(place, fields, ModelRow)
        below = as_object(msgspec.to_builtins(row)) or {}
        return self._convert(place, below | fields | {"model": row.model}, ModelRow)

    def _know_fields(self, place: Place, fields: JsonObject, kind: type[msgspec.Struct]) -> None:
        found = _strange(fields, kind)
        if found is not None:
            names, known = found
            said = f"{'.'.join(names)} is not known{_near(names[-1], known)}"
            raise ConfigError(
                f"{self._at(*place, *names)}: {_named(place)} {said}",
                hint=f"Known are: {', '.join(known)}.",
            )

    def _convert(self, place: Place, fields: JsonObject, kind: type[Fields]) -> Fields:
        try:
            return msgspec.convert(fields, kind)
        except msgspec.ValidationError as error:
            said, _, inner = str(error).partition(" - at `$.")
            names = _NAMES.findall(inner.partition("[")[0])
            where, field = self._at(*place, *names), ".".join(names)
            raise ConfigError(
                f"{where}: {_named(place)} {field}: {said[:1].lower()}{said[1:]}",
                hint=f"Correct {self._where}.",
            ) from error

    def _tables(self, tables: JsonObject, name: str) -> Mapping[str, JsonObject]:
        found = tables.get(name, {})
        inner = as_object(found)
        wrong = [each for each, table in (inner or {}).items() if not isinstance(table, dict)]
        if inner is None or wrong:
            where = self._at(name, *wrong[:1])
            raise ConfigError(
                f"{where}: {name} holds tables, one for each name",
                hint=f"Write [{name}.NAME] and its fields below it.",
            )
        return cast("dict[str, JsonObject]", inner)

    def _at(self, *names: str) -> str:
        return f"{self._where}:{self._line(names)}"


def _strange(value: object, kind: object) -> tuple[list[str], Sequence[str]] | None:
    """The way to the first member that a value of this type cannot have, and those it can."""
    items = as_list(value)
    if items is not None:
        inner = (_strange(each, part) for each in items for part in get_args(kind))
        return next(filter(None, inner), None)
    struct = next((one for one in (kind, *get_args(kind)) if _is_struct(one)), None)
    members = as_object(value)
    if members is None or struct is None:
        return None
    fields = {field.name: field.type for field in msgspec.structs.fields(struct)}
    for name, inner in members.items():
        if name not in fields:
            return [name], tuple(fields)
        found = _strange(inner, fields[name])
        if found is not None:
            return [name, *found[0]], found[1]
    return None


def _is_struct(kind: object) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _named(place: Place) -> str:
    """A table as it is written."""
    kind, name = place
    return f"[{kind}.{name}]" if _BARE.fullmatch(name) else f'[{kind}."{name}"]'


def _near(name: str, known: Sequence[str]) -> str:
    """`, did you mean ...?` for a name that is almost one of the known."""
    import difflib

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f", did you mean {close[0]}?" if close else ""
