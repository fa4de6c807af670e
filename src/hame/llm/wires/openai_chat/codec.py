"""The codec of chat completions.

The body begins with what does not change within a conversation and ends with the messages, so two
requests of one conversation share all bytes up to what is new.
"""

from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlencode

from hame.base.json import (
    JsonObject,
    as_list,
    as_object,
    dump_bytes,
    get_int,
    get_object,
    get_string,
    parse,
    parse_object,
)
from hame.base.model import Effort, Endpoint, ModelFacts, ModelListing, Quirk
from hame.base.ports import Decoder, HttpRequest, ModelRequest
from hame.base.stream import Failed, StreamEvent
from hame.llm.classify import classify_error
from hame.llm.limits import effort_for, output_limit
from hame.llm.wires.openai_chat.decode import WIRE, ChatDecoder
from hame.llm.wires.openai_chat.messages import ChatPage
from hame.llm.wires.openai_chat.tools import declare
from hame.llm.written import Written

_EFFORTS = {Effort.MAX: "xhigh"}
_WINDOW_KEYS = ("context_length", "context_window", "max_model_len", "max_context_length")
_OUTPUT_KEYS = ("max_completion_tokens", "max_output_tokens", "max_output_length")


class ChatCodec:
    """Implements `hame.base.ports.Codec`."""

    __slots__ = ("_written",)

    def __init__(self) -> None:
        """Start with nothing written."""
        self._written = Written(ChatPage)

    @property
    def name(self) -> str:
        """`openai_chat`."""
        return WIRE

    @property
    def framing(self) -> Literal["sse", "ndjson"]:
        """Server-sent events."""
        return "sse"

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request."""
        head = dump_bytes(_head(request, facts))
        messages = self._written.page(request, facts).pieces
        if request.system:
            role = "developer" if Quirk.DEVELOPER_ROLE in facts.quirks else "system"
            system = dump_bytes({"role": role, "content": request.system})
            messages = [system, *messages]
        body = b"".join((head[:-1], b',"messages":[', b",".join(messages), b"]}"))
        return _request("POST", endpoint, "chat/completions", body)

    def decoder(self, facts: ModelFacts) -> Decoder:
        """A decoder for one streamed answer."""
        return ChatDecoder(facts)

    def decode_body(self, body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
        """Read an answer that came whole."""
        answer = parse_object(body)
        if answer is None:
            return [Failed(classify_error(parse(body), facts.vendor))]
        return ChatDecoder(facts).whole(answer)

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the server's models."""
        return _request("GET", endpoint, "models", b"")

    def decode_list(self, body: bytes) -> Sequence[ModelListing]:
        """Read a list of models: under `data`, under `models`, or bare.

        Raises:
            ValueError: if the body is no such list.
        """
        answer = parse(body)
        found = as_object(answer)
        items = as_list(answer)
        if found is not None:
            items = as_list(found.get("data", found.get("models")))
        if items is None:
            raise ValueError("the answer holds no list of models")
        listed = [_listing(entry) for item in items if (entry := as_object(item)) is not None]
        return [listing for listing in listed if listing.id]


def _head(request: ModelRequest, facts: ModelFacts) -> JsonObject:
    head: JsonObject = {"model": facts.model, "stream": True}
    if Quirk.NO_STREAM_USAGE not in facts.quirks:
        head["stream_options"] = {"include_usage": True}
    limit = output_limit(request, facts)
    if limit is not None:
        capped = Quirk.MAX_COMPLETION_TOKENS in facts.quirks
        head["max_completion_tokens" if capped else "max_tokens"] = limit
    effort = effort_for(request, facts)
    if effort is not None:
        head["reasoning_effort"] = _EFFORTS.get(effort, effort.value)
    if request.session and Quirk.PROMPT_CACHE_KEY in facts.quirks:
        head["prompt_cache_key"] = request.session
    if request.tools:
        head["tools"] = [declare(spec, facts) for spec in request.tools]
        if Quirk.NO_PARALLEL_CALLS in facts.quirks:
            head["parallel_tool_calls"] = False
    return head


def _request(method: str, endpoint: Endpoint, path: str, body: bytes) -> HttpRequest:
    headers: list[tuple[str, str]] = [
        ("accept", "text/event-stream" if body else "application/json")
    ]
    if body:
        headers.append(("content-type", "application/json"))
    if endpoint.api_key:
        headers.append(("authorization", f"Bearer {endpoint.api_key}"))
    query = f"?{urlencode(endpoint.query)}" if endpoint.query else ""
    return HttpRequest(
        method=method,
        url=f"{endpoint.base_url}/{path}{query}",
        headers=(*headers, *endpoint.headers),
        body=body,
    )


def _listing(entry: JsonObject) -> ModelListing:
    provider = get_object(entry, "top_provider")
    windows = [found for key in _WINDOW_KEYS if (found := get_int(entry, key))]
    outputs = [found for key in _OUTPUT_KEYS if (found := get_int(entry, key))]
    outputs += [found for key in _OUTPUT_KEYS if (found := get_int(provider, key))]
    meta = get_object(entry, "meta")
    trained = [found] if (found := get_int(meta, "n_ctx_train")) else []
    return ModelListing(
        id=get_string(entry, "id") or get_string(entry, "name") or "",
        display_name=get_string(entry, "name") or get_string(entry, "display_name") or "",
        context_window=next(iter([*windows, *trained]), None),
        max_output=next(iter(outputs), None),
        owned_by=get_string(entry, "owned_by") or "",
    )
