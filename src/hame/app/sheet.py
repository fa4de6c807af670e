"""All that is known of one model, and what can be set for its backend, for people."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
import msgspec
from msgspec.structs import replace

from hame.app.models import Models
from hame.app.shelf import PATIENCE_S, Choice, choice_of
from hame.base.capability import BackendSetting, Configurable, LearnsModels
from hame.base.errors import ConfigError, HameError
from hame.base.model import Effort, ModelFacts, ModelListing, ToolSupport
from hame.base.ports import Backend, ListsModels
from hame.config.keys import find_key


class Sheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model."""

    model: Choice
    spoken_to: ToolSupport
    """How it is brought to call tools."""
    untried: bool = False
    """That is only what hame begins with; it is tried with the first question."""
    efforts: tuple[Effort, ...] = ()
    settings: tuple[BackendSetting, ...] = ()
    """Of its backend."""


def settings_of(models: Models, backend_id: str) -> tuple[BackendSetting, ...]:
    """What can be set for a backend, with what each setting does.

    Raises:
        ConfigError: if there is no such backend.
    """
    models.know_all()
    return _settings(models.registry.find(backend_id))


async def sheet_of(models: Models, name: str, tell: Callable[[str], None] | None = None) -> Sheet:
    """One model by `backend/model`; with `tell` it is tried how it calls tools, whatever is known.

    Raises:
        ConfigError: if there is no such backend, the model is none to talk to, or it is none that is tried.
    """
    models.know_all()
    backend_id, _, model = name.partition("/")
    await models.meet(backend_id)
    backend = models.registry.find(backend_id)
    if tell is not None:
        facts = await models.try_again(name, tell)
    else:
        facts = await _facts(models, backend, model)
    chosen = choice_of(backend, await _listing(backend, model), facts)
    if facts.local:
        chosen = replace(chosen, tools=facts.tools is ToolSupport.NATIVE)
    return Sheet(
        model=chosen,
        spoken_to=facts.tools,
        untried=facts.local and not facts.tools_told,
        efforts=tuple(level for level in Effort if level in facts.efforts),
        settings=_settings(backend),
    )


async def _listing(backend: Backend, model: str) -> ModelListing:
    """What its server lists of it, where that can be had."""
    found: Sequence[ModelListing] = ()
    if isinstance(backend, ListsModels) and backend.ready():
        with anyio.move_on_after(PATIENCE_S), suppress(HameError):
            found = await backend.list_models()
    return next((one for one in found if one.id == model), ModelListing(id=model))


async def _facts(models: Models, backend: Backend, model: str) -> ModelFacts:
    """What its server says; of one that cannot be asked, what the catalogue does.

    Raises:
        ConfigError: if nobody knows anything, or it is none to talk to.
    """
    vendor = models.catalogue.vendor(backend.id)
    if isinstance(backend, LearnsModels) and (backend.ready() or vendor is None):
        return await backend.learn(model)
    if vendor is None:
        raise ConfigError(f"nothing is known of {backend.id}/{model}")
    return models.facts(vendor, model)


def _settings(backend: Backend) -> tuple[BackendSetting, ...]:
    """A guest says itself what its settings do; hame's own are described where they are declared."""
    found: Sequence[BackendSetting] = (
        backend.settings() if isinstance(backend, Configurable) else ()
    )
    return tuple(one if one.about else replace(one, about=_about(one.name)) for one in found)


def _about(name: str) -> str:
    key = find_key(name)
    return key.meaning if key is not None else ""
