"""The shape of a vendor's file in `data/`, and how one row is found in it.

Line 1 is the vendor with its families of models; each further line is one model, its name first. A
model is found by its name among the bytes, so a file of a thousand rows costs no more than one of
ten. What a row does not say is unknown and stays unknown: no price, no window, no limit is guessed.
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from hame.base.model import (
    Constraint,
    Editing,
    Effort,
    ModelFacts,
    Price,
    Profile,
    Quirk,
    Timeouts,
    ToolSupport,
    Vendor,
)

VARIANT = re.compile(r"(.+?)[-@:](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3,4}|latest|preview|beta)")
"""A model's name with what may follow it without making it another model."""
_UNDATED = ("", "-latest", "-0")
"""How a name goes on in the catalogue where the user's has a date, or nothing: `claude-sonnet-4-0`."""


class ModelRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model, or a family of models that begin alike."""

    model: str
    """The server's name for it; for a family, how the names begin."""
    display_name: str = ""
    wire: str | None = None
    """In place of the vendor's."""
    context_window: int | None = None
    max_output: int | None = None
    images: bool | None = None
    """None: as the vendor's families say, else as `ModelFacts` does."""
    documents: bool = False
    tools: ToolSupport = ToolSupport.NATIVE
    constraint: Constraint | None = None
    profile: Profile = Profile.STANDARD
    efforts: frozenset[Effort] = frozenset()
    price: Price | None = None
    timeouts: Timeouts | None = None
    quirks: frozenset[Quirk] = frozenset()
    """Besides the vendor's."""


class Head(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first line of a vendor's file."""

    vendor: Vendor
    families: tuple[ModelRow, ...] = ()
    """Safe defaults for models without a row of their own; the first that fits counts."""


class Shard:
    """One vendor's file."""

    def __init__(self, data: bytes) -> None:
        """Read the first line; the others wait until they are asked for.

        Raises:
            msgspec.DecodeError: if it is not a vendor's file.
        """
        first, _, self._rows = data.partition(b"\n")
        self.head = msgspec.json.decode(first, type=Head)

    @property
    def models(self) -> Sequence[ModelRow]:
        """All models that have a row."""
        lines = [line for line in self._rows.split(b"\n") if line]
        return [msgspec.json.decode(line, type=ModelRow) for line in lines]

    def row(self, model: str) -> ModelRow | None:
        """The row of a model: its own, else that of the model it is a dated variant of, else a family."""
        found = self._find(model)
        if found is None:
            variant = VARIANT.fullmatch(model)
            name = variant[1] if variant else model
            others = (self._find(f"{name}{end}") for end in _UNDATED)
            found = next(filter(None, others), None)
        if found is not None:
            return found
        return next((row for row in self.head.families if model.startswith(row.model)), None)

    def _find(self, model: str) -> ModelRow | None:
        begun = b'{"model":' + msgspec.json.encode(model)
        start = self._rows.find(begun + b",")
        if start < 0:
            start = self._rows.find(begun + b"}")
        if start < 0:
            return None
        line = self._rows[start:].partition(b"\n")[0]
        return msgspec.json.decode(line, type=ModelRow)


_FREE = Price(input=0.0, output=0.0, cache_read=0.0, cache_write=0.0, cache_write_long=0.0)


def facts_from(row: ModelRow | None, vendor: Vendor, model: str) -> ModelFacts:
    """What is known of a model of a vendor."""
    if row is None:
        row = ModelRow(model=model)
    if vendor.free_ending and model.endswith(vendor.free_ending):
        row = replace(row, price=_FREE)
    return ModelFacts(
        backend=vendor.id,
        model=model,
        wire=row.wire or vendor.wire,
        display_name=row.display_name or model,
        vendor=vendor.display_name,
        context_window=row.context_window,
        max_output=row.max_output,
        images=True if row.images is None else row.images,
        documents=row.documents,
        tools=row.tools,
        constraint=row.constraint,
        profile=row.profile,
        editing=_editing(model),
        efforts=row.efforts,
        price=row.price,
        timeouts=row.timeouts or vendor.timeouts,
        quirks=vendor.quirks | row.quirks,
        local=vendor.local,
    )


_PATCHING = ("gpt-4.1", "gpt-5", "gpt-6", "o3", "o4", "codex")
"""How the names of the models begin that OpenAI taught to write patches (its cookbook on GPT-4.1)."""


def _editing(model: str) -> Editing:
    """By family, whoever serves it: `openai/gpt-5.5` and a deployment of that name are the same model."""
    name = model.rsplit("/", 1)[-1].lower()
    return "apply_patch" if name.startswith(_PATCHING) else "edit_file"
