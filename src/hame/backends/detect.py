"""Model servers that run on this machine, known by what they answer and never by their port.

Fingerprints: Ollama answers `/api/version` and `/api/tags`; LM Studio lists models with a `state` or
with `loaded_instances` below `/api`; llama-server calls itself llama.cpp in its headers, or owner of
its models; vLLM owns its models and answers `/version`. Nothing is loaded or pulled by asking.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import anyio
import msgspec

from hame.base.errors import ModelError
from hame.base.json import JsonObject, as_list, get_list, get_objects, get_string, parse_object
from hame.base.model import ModelListing, Timeouts
from hame.base.ports import Http, HttpRequest

LOCAL_SERVERS: tuple[str, ...] = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Ids of the backends that are looked for, in order of preference."""
USUAL_PORTS: tuple[int, ...] = (11434, 1234, 8080, 8000)
"""Where they listen unless told otherwise."""
PATIENCE_S = 0.5
"""How long all of them together may take to answer."""

_SILENT = ("embed", "bge-", "rerank", "whisper", "clip-")
"""What the names of models have in them that cannot hold a conversation."""
_TIMEOUTS = Timeouts(connect_s=0.4, first_byte_s=0.4, idle_s=0.4, total_s=0.45)
"""Shorter than the whole look: one address that never comes to its end costs only itself."""
_MOST_BYTES = 1_000_000
_PATHS = (
    "/api/version", "/api/tags", "/api/ps", "/api/v1/models", "/api/v0/models", "/v1/models",
    "/version",
)  # fmt: skip


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A server that was recognised."""

    kind: str
    """Id of its backend."""
    root: str
    """`http://host:port`."""
    models: tuple[str, ...]
    """Those a person could talk to; loaded ones first."""


Loaded: TypeAlias = Callable[[JsonObject], bool]
"""Whether an entry of a list is of a model that is in memory."""


class _Page(msgspec.Struct, frozen=True):
    """What one address answered."""

    body: JsonObject
    named: str
    """What the server calls itself."""


def usual_roots(hosts: Sequence[str]) -> list[str]:
    """The addresses at which servers usually listen on these hosts."""
    return [f"http://{host}:{port}" for host in hosts for port in USUAL_PORTS]


async def look_around(
    roots: Sequence[str], http: Http, *, patience_s: float = PATIENCE_S
) -> list[Server]:
    """The servers at these addresses, by preference; all are asked at once."""
    found: list[Server] = []

    async def ask(root: str) -> None:
        server = await identify(root, http)
        if server is not None:
            found.append(server)

    with anyio.move_on_after(patience_s):
        async with anyio.create_task_group() as tasks:
            for root in dict.fromkeys(roots):
                tasks.start_soon(ask, root)
    order = {root: place for place, root in enumerate(roots)}
    return sorted(found, key=lambda one: (LOCAL_SERVERS.index(one.kind), order[one.root]))


async def identify(root: str, http: Http) -> Server | None:
    """What listens at an address; None for nothing, or for something else."""
    pages: dict[str, _Page] = {}

    async def ask(path: str) -> None:
        page = await _fetch(f"{root}{path}", http)
        if page is not None:
            pages[path] = page

    async with anyio.create_task_group() as tasks:
        for path in _PATHS:
            tasks.start_soon(ask, path)
    for kind, read in (
        ("ollama", _ollama), ("lmstudio", _lmstudio), ("llamacpp", _llamacpp), ("vllm", _vllm),
    ):  # fmt: skip
        models = read(pages)
        if models is not None:
            talking = [name for name in models if talks(name)]
            return Server(kind=kind, root=root, models=tuple(talking))
    return None


def talking_models(listed: Sequence[ModelListing]) -> list[str]:
    """The models a person could talk to: those that only embed or rank are left out."""
    return [model.id for model in listed if talks(model.id)]


def talks(name: str) -> bool:
    """Whether a model of that name may hold a conversation."""
    return not any(part in name.lower() for part in _SILENT)


# ---------------------------------------------------------------- fingerprints


def _ollama(pages: dict[str, _Page]) -> list[str] | None:
    version, tags = pages.get("/api/version"), pages.get("/api/tags")
    if version is None or tags is None or not get_string(version.body, "version"):
        return None
    if as_list(tags.body.get("models")) is None:
        return None
    names = [get_string(entry, "name") or "" for entry in get_objects(tags.body, "models")]
    loaded = pages.get("/api/ps")
    in_memory = get_objects(loaded.body, "models") if loaded is not None else []
    held = {get_string(entry, "name") for entry in in_memory}
    return sorted(filter(None, names), key=lambda name: name not in held)


def _lmstudio(pages: dict[str, _Page]) -> list[str] | None:
    new, old = pages.get("/api/v1/models"), pages.get("/api/v0/models")
    if new is not None:
        entries = get_objects(new.body, "models")
        if entries and all("loaded_instances" in entry and "key" in entry for entry in entries):
            return _loaded_first(entries, "key", lambda e: bool(get_list(e, "loaded_instances")))
    if old is not None:
        entries = get_objects(old.body, "data")
        if entries and all("state" in entry and "type" in entry for entry in entries):
            return _loaded_first(entries, "id", lambda e: get_string(e, "state") == "loaded")
    return None


def _loaded_first(entries: list[JsonObject], name: str, loaded: Loaded) -> list[str]:
    talking = [e for e in entries if not (get_string(e, "type") or "").startswith("embedding")]
    ordered = sorted(talking, key=lambda entry: not loaded(entry))
    return [found for entry in ordered if (found := get_string(entry, name))]


def _llamacpp(pages: dict[str, _Page]) -> list[str] | None:
    page = pages.get("/v1/models")
    if page is None:
        return None
    entries = get_objects(page.body, "data")
    owned = any(get_string(entry, "owned_by") == "llamacpp" for entry in entries)
    if not owned and not page.named.lower().startswith("llama.cpp"):
        return None
    return [name for entry in entries if (name := get_string(entry, "id"))]


def _vllm(pages: dict[str, _Page]) -> list[str] | None:
    page, version = pages.get("/v1/models"), pages.get("/version")
    if page is None or version is None or not get_string(version.body, "version"):
        return None
    entries = get_objects(page.body, "data")
    if not any(get_string(entry, "owned_by") == "vllm" for entry in entries):
        return None
    return [name for entry in entries if (name := get_string(entry, "id"))]


async def _fetch(url: str, http: Http) -> _Page | None:
    """A JSON object with status 200; None for anything else."""
    request = HttpRequest(method="GET", url=url, headers=(("accept", "application/json"),))
    body = b""
    try:
        async with http.send(request, _TIMEOUTS) as response:
            if response.status != 200:
                return None
            async for chunk in response.chunks():
                body += chunk
                if len(body) > _MOST_BYTES:
                    return None
            named = response.headers.get("server", "")
    except ModelError:
        return None
    found = parse_object(body)
    return _Page(found, named) if found is not None else None
