"""What a server of the user's own says about one of its models, where no catalogue can know it.

Ollama: https://docs.ollama.com/api/show; llama-server: `/props`
(https://github.com/ggml-org/llama.cpp/tree/master/tools/server); LM Studio:
https://lmstudio.ai/docs/developer/rest/endpoints; vLLM and others: `max_model_len` and its like in
the list of models. A server that does not answer in time leaves the facts as they are.
"""

from collections.abc import Awaitable, Callable
from urllib.parse import quote, urlsplit

import anyio
from msgspec.structs import replace

from hame.base.errors import ConfigError, ModelError
from hame.base.json import (
    JsonObject,
    dump_bytes,
    get_bool,
    get_int,
    get_list,
    get_object,
    get_objects,
    get_string,
    parse_object,
)
from hame.base.model import (
    Effort,
    Endpoint,
    ModelFacts,
    ModelListing,
    Quirk,
    Timeouts,
    ToolSupport,
)
from hame.base.ports import Http, HttpRequest
from hame.llm.openai_server import read_listings

WINDOW = 32_768
"""Tokens that Ollama is asked to hold, unless the model or the user says otherwise: what agents need
and most machines can carry."""
_LEAST_WINDOW = 8_192
"""A loaded model with less than this is loaded again, with more."""
_PATIENCE_S = 3.0
_MOST_BYTES = 4_000_000
_TIMEOUTS = Timeouts(connect_s=1.0, first_byte_s=_PATIENCE_S, idle_s=_PATIENCE_S, total_s=5.0)


async def ask_about(facts: ModelFacts, endpoint: Endpoint, http: Http) -> ModelFacts:
    """The facts, with what the server says.

    Raises:
        ConfigError: if the model is none that can hold a conversation.
    """
    asked = _Server(endpoint, http)
    kinds: dict[str, Callable[[ModelFacts, _Server], Awaitable[ModelFacts]]] = {
        "ollama": _ask_ollama,
        "openai_chat": _ask_openai_like,
        "openai_responses": _ask_openai_like,
    }
    ask = kinds.get(facts.wire)
    if ask is not None:
        with anyio.move_on_after(_PATIENCE_S):
            return await ask(facts, asked)
    return facts


class _Server:
    """Small questions to one server; whatever goes wrong with one is no answer."""

    def __init__(self, endpoint: Endpoint, http: Http) -> None:
        self._endpoint = endpoint
        self._http = http
        parts = urlsplit(endpoint.base_url)
        self._root = f"{parts.scheme}://{parts.netloc}"

    async def ask(
        self, path: str, body: bytes = b"", *, below_base: bool = False
    ) -> tuple[bytes, str]:
        """What it answers, and what it calls itself in its headers; empty without an answer."""
        headers = [("accept", "application/json")]
        if self._endpoint.api_key:
            headers.append(("authorization", f"Bearer {self._endpoint.api_key}"))
        if body:
            headers.append(("content-type", "application/json"))
        request = HttpRequest(
            method="POST" if body else "GET",
            url=f"{self._endpoint.base_url if below_base else self._root}{path}",
            headers=(*headers, *self._endpoint.headers),
            body=body,
        )
        try:
            async with self._http.send(request, _TIMEOUTS) as response:
                data = b""
                async for chunk in response.chunks():
                    data += chunk
                    if len(data) > _MOST_BYTES:
                        return b"", ""
                named = response.headers.get("server", "")
                return (data, named) if response.status == 200 else (b"", named)
        except ModelError:
            return b"", ""

    async def object(self, path: str, body: bytes = b"") -> JsonObject:
        """The object it answers; an empty one without an answer."""
        data, _ = await self.ask(path, body)
        return parse_object(data) or {}

    async def objects(self, *questions: tuple[str, bytes]) -> list[JsonObject]:
        """What it answers to several questions, asked at once; in their order."""
        answers: list[JsonObject] = [{} for _ in questions]

        async def keep(place: int, path: str, body: bytes) -> None:
            answers[place] = await self.object(path, body)

        async with anyio.create_task_group() as tasks:
            for place, (path, body) in enumerate(questions):
                tasks.start_soon(keep, place, path, body)
        return answers


# ---------------------------------------------------------------- Ollama


async def _ask_ollama(facts: ModelFacts, server: _Server) -> ModelFacts:
    show = ("/api/show", dump_bytes({"model": facts.model}))
    shown, tags, loaded = await server.objects(show, ("/api/tags", b""), ("/api/ps", b""))
    if not shown:
        return facts
    able = {item for item in get_list(shown, "capabilities") if isinstance(item, str)}
    if able and "completion" not in able:
        raise _no_talker(facts)
    info = get_object(shown, "model_info")
    architecture = get_string(info, "general.architecture") or ""
    trained = get_int(info, f"{architecture}.context_length")
    facts = replace(
        facts,
        context_window=_ollama_window(facts, trained, _named(loaded, facts.model)),
        digest=get_string(_named(tags, facts.model), "digest") or "",
    )
    if not able:
        return facts
    thinks = frozenset({Effort.NONE, Effort.MEDIUM}) if "thinking" in able else frozenset[Effort]()
    return replace(
        facts,
        images="vision" in able,
        tools=ToolSupport.NATIVE if "tools" in able else ToolSupport.TEXT,
        tools_told=True,
        efforts=facts.efforts or thinks,
    )


def _ollama_window(facts: ModelFacts, trained: int | None, loaded: JsonObject) -> int:
    """The window to ask for: the user's, else what is loaded already, else the usual one."""
    most = trained or WINDOW
    if facts.context_window is not None:
        return min(facts.context_window, trained or facts.context_window)
    held = get_int(loaded, "context_length") or 0
    return held if held >= _LEAST_WINDOW else min(most, WINDOW)


def _named(answer: JsonObject, model: str) -> JsonObject:
    """The entry of a model; without a tag it is the latest."""
    names = {model, model if ":" in model else f"{model}:latest"}
    for entry in get_objects(answer, "models"):
        if get_string(entry, "name") in names:
            return entry
    return {}


# ---------------------------------------------------------------- servers that follow OpenAI


async def _ask_openai_like(facts: ModelFacts, server: _Server) -> ModelFacts:
    listed, named = await server.ask("/models", below_base=True)
    try:
        entries = {entry.id: entry for entry in read_listings(listed)}
    except ValueError:
        return facts
    entry = entries.get(facts.model)
    if entry is None:
        return facts
    if named.lower().startswith("llama.cpp") or entry.owned_by == "llamacpp":
        facts = _with_quirk(_with_listing(facts, entry), Quirk.RENDERS_PROMPTS)
        return _with_props(facts, await server.object("/props"))
    if entry.owned_by == "vllm":
        return _with_quirk(_with_listing(facts, entry), Quirk.SPLITS_MESSAGES)
    if facts.local and not entry.context_window:
        shown = await server.object(f"/api/v0/models/{quote(facts.model, safe='/@:')}")
        return _with_lmstudio(facts, shown)
    return _with_listing(facts, entry)


def _with_quirk(facts: ModelFacts, quirk: Quirk) -> ModelFacts:
    return replace(facts, quirks=facts.quirks | {quirk})


def _with_listing(facts: ModelFacts, entry: ModelListing) -> ModelFacts:
    return replace(
        facts,
        context_window=facts.context_window or entry.context_window,
        max_output=facts.max_output or entry.max_output,
        images=facts.images if entry.images is None else entry.images,
    )


def _with_props(facts: ModelFacts, props: JsonObject) -> ModelFacts:
    """What llama-server says of the one model it serves; its window is that of one slot."""
    if not props:
        return facts
    held = get_int(get_object(props, "default_generation_settings"), "n_ctx")
    takes_tools = get_bool(get_object(props, "chat_template_caps"), "supports_tools")
    sees = get_bool(get_object(props, "modalities"), "vision")
    return replace(
        facts,
        context_window=held or facts.context_window,
        images=facts.images if sees is None else sees,
        tools=ToolSupport.TEXT if takes_tools is False else facts.tools,
        digest=get_string(props, "model_path") or "",
    )


def _with_lmstudio(facts: ModelFacts, shown: JsonObject) -> ModelFacts:
    if not shown:
        return facts
    kind = get_string(shown, "type") or "llm"
    if kind == "embeddings":
        raise _no_talker(facts)
    held = get_int(shown, "loaded_context_length") or get_int(shown, "max_context_length")
    return replace(
        facts,
        context_window=facts.context_window or held,
        images=kind == "vlm",
        digest=f"{get_string(shown, 'id')} {get_string(shown, 'quantization')}",
    )


def _no_talker(facts: ModelFacts) -> ConfigError:
    return ConfigError(
        f"{facts.name} makes embeddings; it cannot hold a conversation",
        hint=f"`hame models {facts.backend}` lists the others.",
    )
