"""The models that can be asked here, for the commands that list and check them."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import msgspec

from hame.app.build import Launchpad
from hame.app.clock import SystemClock
from hame.app.models import Models
from hame.base.ports import Backend
from hame.llm.catalog import ShippedCatalogue
from hame.workspace.index import LocalIndex
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A backend as a list shows it."""

    id: str
    name: str
    ready: bool
    """It could be asked: a key is set, or none is needed."""
    chosen: bool
    """The user set it up."""
    model: str
    """Its default model; empty where its server decides."""
    needs: str
    """The variables that may hold its key; empty where it needs none."""
    local: bool


@asynccontextmanager
async def open_models(pad: Launchpad) -> AsyncGenerator[Models]:
    """All models; closed at the end."""
    workspace = open_workspace(
        pad.project,
        added=(),
        home=pad.places.home,
        results=pad.places.results,
        config=pad.places.config,
    )
    models = Models(
        pad.settings,
        pad.environment,
        pad.places,
        index=LocalIndex(workspace),
        processes=LocalProcesses(
            pad.environment,
            without=(workspace.paths.root, *map(os.path.realpath, pad.settings.add_dirs)),
        ),
        clock=SystemClock(),
    )
    try:
        yield models
    finally:
        with anyio.CancelScope(shield=True):
            await models.close()


def offers(models: Models) -> list[Offer]:
    """All backends, those that the user set up first, then those that could be asked."""
    models.know_all()
    found = [_offer(backend, models.catalogue) for backend in models.registry]
    return sorted(found, key=lambda offer: (not offer.chosen, not offer.ready, offer.local))


def _offer(backend: Backend, catalogue: ShippedCatalogue) -> Offer:
    vendor = catalogue.vendor(backend.id)
    needs = vendor.key_env if vendor is not None and vendor.needs_key else ()
    return Offer(
        id=backend.id,
        name=backend.display_name,
        ready=backend.ready(),
        chosen=backend.chosen(),
        model=backend.default_model() or "",
        needs=" or ".join(needs),
        local=vendor.local if vendor is not None else backend.id == "local",
    )
