"""The shape of a vendor's file in `data/`.

What a row does not say is unknown and stays unknown: no price, no window, no limit is guessed.
"""

import re

import msgspec

from hame.base.model import Effort, ModelFacts, Price, Profile, Quirk, Timeouts, ToolSupport, Vendor

_VARIANT = re.compile(r"[-@:](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|latest|preview|beta)")
"""What may follow a model's name without making it another model."""


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
    profile: Profile = Profile.STANDARD
    efforts: frozenset[Effort] = frozenset()
    price: Price | None = None
    timeouts: Timeouts | None = None
    quirks: frozenset[Quirk] = frozenset()
    """Besides the vendor's."""


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """One vendor's file."""

    vendor: Vendor
    models: tuple[ModelRow, ...] = ()
    families: tuple[ModelRow, ...] = ()
    """Safe defaults for models without a row of their own; the first that fits counts."""

    def row(self, model: str) -> ModelRow | None:
        """The row of a model: its own, else that of the model it is a dated variant of, else a family."""
        for row in self.models:
            if row.model == model:
                return row
        for row in self.models:
            variant = model.removeprefix(row.model)
            if variant != model and _VARIANT.fullmatch(variant):
                return row
        return next((row for row in self.families if model.startswith(row.model)), None)


def facts_from(row: ModelRow | None, vendor: Vendor, model: str) -> ModelFacts:
    """What is known of a model of a vendor."""
    if row is None:
        row = ModelRow(model=model)
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
        profile=row.profile,
        efforts=row.efforts,
        price=row.price,
        timeouts=row.timeouts or vendor.timeouts,
        quirks=vendor.quirks | row.quirks,
        local=vendor.local,
    )
