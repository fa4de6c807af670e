"""Model servers that run on this machine."""

from collections.abc import Sequence

import anyio

from hame.base.errors import HameError
from hame.base.model import ModelListing
from hame.base.ports import Backend, ListsModels

LOCAL_SERVERS: tuple[str, ...] = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Ids of the backends that are looked for, in order of preference."""
PATIENCE_S = 0.5
"""How long all of them together may take to answer."""

_SILENT = ("embed", "bge-", "rerank", "whisper", "clip-")
"""What the names of models have in them that cannot hold a conversation."""


async def find_running(
    backends: Sequence[Backend], *, patience_s: float = PATIENCE_S
) -> str | None:
    """The first server that answers and serves a model, as `backend/model`; asked all at once."""
    found: dict[str, str] = {}

    async def ask(backend: Backend) -> None:
        if not isinstance(backend, ListsModels):
            return
        try:
            listed = await backend.list_models()
        except HameError:
            # Nothing listens there, or it is something else: no server of ours.
            return
        for model in talking_models(listed)[:1]:
            found[backend.id] = f"{backend.id}/{model}"

    candidates = [backend for backend in backends if backend.id in LOCAL_SERVERS]
    with anyio.move_on_after(patience_s):
        async with anyio.create_task_group() as tasks:
            for backend in candidates:
                tasks.start_soon(ask, backend)
    return next((found[name] for name in LOCAL_SERVERS if name in found), None)


def talking_models(listed: Sequence[ModelListing]) -> list[str]:
    """The models a person could talk to: those that only embed or rank are left out."""
    return [model.id for model in listed if not any(part in model.id.lower() for part in _SILENT)]
