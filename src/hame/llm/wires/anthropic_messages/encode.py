"""A request in the words of Messages: https://docs.anthropic.com/en/api/messages.

The body begins with what does not change within a conversation and ends with its turns. Tools, system
prompt and conversation are cached by marks, four at most, of which two move with the conversation, for
five minutes or for an hour: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
"""

from urllib.parse import urlencode

from hame.base.json import JsonObject, dump, dump_bytes, get_list, get_object, get_objects
from hame.base.model import CacheLifetime, Effort, Endpoint, ModelFacts, Quirk
from hame.base.ports import HttpRequest, ModelRequest
from hame.llm.limits import effort_for, output_limit
from hame.llm.references import inline_references, with_note
from hame.llm.wires.anthropic_messages.messages import MessagesPage, mark

VERSION = "2023-06-01"
INTERLEAVED = "interleaved-thinking-2025-05-14"

_UNKNOWN_OUTPUT = 8192
"""The wire demands a limit; every model of the last years can write this much."""
_LEAST_BUDGET = 1024
_BUDGETS = {
    Effort.MINIMAL: 1024,
    Effort.LOW: 2048,
    Effort.MEDIUM: 8192,
    Effort.HIGH: 16_384,
    Effort.MAX: 32_000,
}
_EFFORTS = {
    Effort.MINIMAL: "low",
    Effort.LOW: "low",
    Effort.MEDIUM: "medium",
    Effort.HIGH: "high",
    Effort.MAX: "max",
}
_WEB_SEARCH: JsonObject = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
"""https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-search-tool"""
_COMBINATORS = ("oneOf", "anyOf", "allOf")


def encode(
    request: ModelRequest, facts: ModelFacts, endpoint: Endpoint, page: MessagesPage
) -> HttpRequest:
    """Write a request; `page` holds its messages."""
    effort = effort_for(request, facts)
    limit = _limit(request, facts, effort)
    thinking = _thinking(effort, facts, limit, page)
    head = dump_bytes({"model": facts.model, "max_tokens": limit, "stream": True, **thinking})
    parts = [head[:-1]]
    able = Quirk.NO_LONG_CACHE not in facts.quirks
    long = able and request.cache is not CacheLifetime.SHORT
    tools = _tools(request)
    if tools:
        choice = b',"tool_choice":{"type":"auto","disable_parallel_tool_use":true}'
        parts += [b',"tools":', mark(dump_bytes(tools), b"]", long=long)]
        parts += [choice] if Quirk.NO_PARALLEL_CALLS in facts.quirks else []
    if request.system.strip():
        system = dump_bytes([{"type": "text", "text": request.system}])
        parts += [b',"system":', mark(system, b"]", long=long)]
    turns = page.turns(long=able and request.cache is CacheLifetime.LONG)
    body = b"".join((*parts, b',"messages":[', turns, b"]}"))
    budgeted = get_object(thinking, "thinking").get("type") == "enabled"
    beta = INTERLEAVED if budgeted and Quirk.INTERLEAVED_THINKING in facts.quirks else ""
    return address("POST", endpoint, "messages", body=body, beta=beta)


def address(
    method: str,
    endpoint: Endpoint,
    path: str,
    *,
    query: tuple[tuple[str, str], ...] = (),
    body: bytes = b"",
    beta: str = "",
) -> HttpRequest:
    """A request to one of the wire's places. The base URL is taken with and without its `/v1`."""
    base = endpoint.base_url.rstrip("/").removesuffix("/v1")
    asked = urlencode((*query, *endpoint.query))
    own = {
        "accept": "text/event-stream" if body else "application/json",
        "anthropic-version": VERSION,
    }
    if body:
        own["content-type"] = "application/json"
    if endpoint.api_key:
        own["x-api-key"] = endpoint.api_key
    given = {name.lower(): value for name, value in endpoint.headers}
    betas = [word for word in (given.pop("anthropic-beta", ""), beta) if word]
    if betas:
        own["anthropic-beta"] = ",".join(betas)
    return HttpRequest(
        method=method,
        url=f"{base}/v1/{path}" + (f"?{asked}" if asked else ""),
        headers=tuple((own | given).items()),
        body=body,
    )


# ------------------------------------------------------------ thinking


def _limit(request: ModelRequest, facts: ModelFacts, effort: Effort | None) -> int:
    """The output limit, which the wire demands. Thinking counts: it gets room beside the answer."""
    limit = output_limit(request, facts) or _UNKNOWN_OUTPUT
    if request.max_output_tokens is not None or facts.max_output is None:
        return limit
    adaptive = Quirk.ADAPTIVE_THINKING in facts.quirks
    room = _BUDGETS.get(effort or (Effort.HIGH if adaptive else Effort.NONE), 0)
    return min(facts.max_output, limit + room)


def _thinking(
    effort: Effort | None, facts: ModelFacts, limit: int, page: MessagesPage
) -> JsonObject:
    """The members that say how the model should think; none leaves it to the server."""
    if effort is Effort.NONE:
        return {"thinking": {"type": "disabled"}}
    if Quirk.ADAPTIVE_THINKING in facts.quirks:
        thinking: JsonObject = {"thinking": {"type": "adaptive", "display": "summarized"}}
        level: JsonObject = {"output_config": {"effort": _EFFORTS[effort]}} if effort else {}
        return thinking | level
    if effort is None or not page.may_think:
        return {}
    budget = min(_BUDGETS[effort], limit // 2)
    if budget < _LEAST_BUDGET:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


# ------------------------------------------------------------ tools


def _tools(request: ModelRequest) -> list[JsonObject]:
    """All tools: those of the harness, then the one that the provider runs."""
    declared: list[JsonObject] = [
        {
            "name": spec.name,
            **({"description": spec.description} if spec.description else {}),
            "input_schema": _input_schema(inline_references(spec.schema())),
        }
        for spec in request.tools
    ]
    return [*declared, _WEB_SEARCH] if request.web_search else declared


def _input_schema(schema: JsonObject) -> JsonObject:
    """A schema whose top is a plain object, which is all the wire takes there.

    Alternatives at the top are merged: all their members are allowed, and those that every one of
    them requires are required. What that leaves out is said in words.
    """
    plain: JsonObject = {key: value for key, value in schema.items() if key not in _COMBINATORS}
    members = get_object(schema, "properties")
    required = _required(schema)
    for key in _COMBINATORS:
        branches = get_objects(schema, key)
        for branch in branches:
            members = {**get_object(branch, "properties"), **members}
        demanded = [_required(branch) for branch in branches]
        required += [
            name
            for name in dict.fromkeys(name for names in demanded for name in names)
            if name not in required and (key == "allOf" or all(name in names for names in demanded))
        ]
    plain |= {"type": "object", "properties": members}
    if required:
        plain["required"] = required
    unsaid = {key: schema[key] for key in _COMBINATORS if _says_more(schema, key)}
    return with_note(plain, " ".join(f"{k}: {dump(v)}." for k, v in unsaid.items()))


def _says_more(schema: JsonObject, key: str) -> bool:
    """Whether something is lost of alternatives, or of parts, when they are merged."""
    merged = {"properties", "required", "type"}
    branches = get_objects(schema, key)
    return bool(branches) and (key != "allOf" or not all(set(b) <= merged for b in branches))


def _required(schema: JsonObject) -> list[str]:
    return [name for name in get_list(schema, "required") if isinstance(name, str)]
