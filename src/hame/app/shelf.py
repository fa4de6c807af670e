"""Models to choose from: what servers list now, with what the catalogue knows of each."""

from collections.abc import Sequence

import anyio
import msgspec

from hame.app.models import Models
from hame.base.errors import ConfigError, HameError
from hame.base.model import Effort, ModelFacts, ModelListing, Price, ToolSupport
from hame.base.ports import Backend, ListsModels

PATIENCE_S = 20.0


class Choice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model as a list shows it."""

    name: str
    """`backend/model`, what it is chosen by."""
    id: str
    """As its server knows it."""
    display_name: str = ""
    context_window: int | None = None
    max_output: int | None = None
    price: Price | None = None
    """None: unknown. What runs here costs nothing."""
    tools: bool | None = None
    """Whether it takes tools natively; None: nobody says."""
    images: bool | None = None
    thinks: bool = False
    """It takes levels of effort."""
    local: bool = False
    owned_by: str = ""


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, and what could not be looked at."""

    choices: tuple[Choice, ...]
    failed: tuple[str, ...] = ()
    """One line for each server that did not answer."""


async def look_at(models: Models, backend_id: str) -> list[Choice]:
    """All models of one backend, unfiltered and in its server's order.

    Raises:
        ConfigError: if there is no such backend, or it cannot be asked.
        ModelError: if it did not answer.
    """
    models.know_all()
    await models.meet(backend_id)
    return await _choices(models, models.registry.find(backend_id))


async def shelf_of(models: Models, backend_id: str) -> Shelf:
    """The models of one backend; without a key for it, what the catalogue knows of them, and that it is so.

    Raises:
        ConfigError: if there is no such backend, or nothing is known.
        ModelError: if it did not answer.
    """
    try:
        return Shelf(choices=tuple(await look_at(models, backend_id)))
    except ConfigError as error:
        backend = models.registry.find(backend_id)
        vendor = models.catalogue.vendor(backend_id)
        listed = models.catalogue.listings(backend_id) if not backend.ready() else ()
        if vendor is None or not listed:
            raise
        choices = [choice_of(backend, one, models.facts(vendor, one.id)) for one in listed]
        note = f"{error.message}; this is what the catalogue knows ({error.hint})"
        return Shelf(choices=tuple(choices), failed=(note,))


async def search(models: Models, words: str) -> Shelf:
    """The models whose name holds all the words, of every backend that the user set up or that runs here."""
    await models.meet_all()
    found: dict[str, list[Choice]] = {}
    failed: list[str] = []

    async def ask(backend: Backend) -> None:
        try:
            with anyio.fail_after(PATIENCE_S):
                found[backend.id] = await _choices(models, backend)
        except TimeoutError:
            failed.append(f"{backend.display_name}: no answer within {PATIENCE_S:.0f} s")
        except HameError as error:
            # A local server that does not run is no fault.
            failed.extend([f"{backend.display_name}: {error.message}"] * backend.chosen())

    asked = [b for b in models.registry if b.ready() and (b.chosen() or _is_here(models, b))]
    async with anyio.create_task_group() as tasks:
        for backend in asked:
            tasks.start_soon(ask, backend)
    parts = words.lower().split()
    choices = [
        choice
        for backend in asked
        for choice in found.get(backend.id, ())
        if all(part in f"{choice.name} {choice.display_name}".lower() for part in parts)
    ]
    return Shelf(choices=tuple(choices), failed=tuple(failed))


def _is_here(models: Models, backend: Backend) -> bool:
    vendor = models.catalogue.vendor(backend.id)
    return vendor.local if vendor is not None else backend.id == "local"


async def _choices(models: Models, backend: Backend) -> list[Choice]:
    if isinstance(backend, ListsModels):
        listed: Sequence[ModelListing] = await backend.list_models()
    else:
        model = backend.default_model()
        listed = [ModelListing(id=model)] if model else []
    vendor = models.catalogue.vendor(backend.id)
    facts = [models.catalogue.facts(vendor, one.id) if vendor else None for one in listed]
    return [choice_of(backend, one, known) for one, known in zip(listed, facts, strict=True)]


def choice_of(backend: Backend, listed: ModelListing, known: ModelFacts | None) -> Choice:
    """A model as a list shows it. What the server says comes first: it knows best what it serves."""
    facts = known or ModelFacts(backend=backend.id, model=listed.id, wire="")
    native = facts.tools is ToolSupport.NATIVE if known is not None and known.price else None
    named = facts.display_name if facts.display_name != listed.id else ""
    return Choice(
        name=f"{backend.id}/{listed.id}",
        id=listed.id,
        display_name=listed.display_name or named,
        context_window=listed.context_window or facts.context_window,
        max_output=listed.max_output or facts.max_output,
        price=listed.price or facts.price,
        tools=native if listed.tools is None else listed.tools,
        images=(facts.images if known else None) if listed.images is None else listed.images,
        thinks=bool(facts.efforts - {Effort.NONE}),
        local=facts.local,
        owned_by=listed.owned_by,
    )
