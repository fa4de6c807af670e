"""A request to the Responses API.

https://platform.openai.com/docs/api-reference/responses/create
The body begins with what does not change within a conversation and ends with its items, so two
requests of one conversation share all bytes up to what is new.
"""

import hashlib
from collections.abc import Sequence

from hame.base.json import JsonObject
from hame.base.model import Effort, ModelFacts, Quirk
from hame.base.ports import ModelRequest
from hame.llm.limits import effort_for, output_limit
from hame.llm.splice import splice
from hame.llm.wires.openai_responses.tools import declare

_EFFORTS = {Effort.MAX: "xhigh"}
_LONGEST_KEY = 64


def write_body(request: ModelRequest, facts: ModelFacts, items: Sequence[bytes]) -> bytes:
    """The whole body, its input items given as bytes."""
    return splice(_head(request, facts), "input", items)


def _head(request: ModelRequest, facts: ModelFacts) -> JsonObject:
    head: JsonObject = {"model": facts.model, "stream": True, "store": False}
    if request.session and Quirk.NO_PROMPT_CACHE_KEY not in facts.quirks:
        head["prompt_cache_key"] = _cache_key(request.session)
    head.update(_reasoning(request, facts))
    limit = output_limit(request, facts)
    if limit is not None:
        head["max_output_tokens"] = limit
    if request.system:
        head["instructions"] = request.system
    tools = [declare(spec) for spec in request.tools]
    if request.web_search:
        tools.append({"type": "web_search"})
    if tools:
        head["tools"] = tools
        if Quirk.NO_PARALLEL_CALLS in facts.quirks:
            head["parallel_tool_calls"] = False
    return head


def _reasoning(request: ModelRequest, facts: ModelFacts) -> JsonObject:
    """What is asked of a model that reasons; others refuse these members."""
    if not facts.efforts:
        return {}
    asked: JsonObject = {"include": ["reasoning.encrypted_content"]}
    reasoning: JsonObject = {}
    effort = effort_for(request, facts)
    if effort is not None:
        reasoning["effort"] = _EFFORTS.get(effort, effort.value)
    if Quirk.NO_REASONING_SUMMARY not in facts.quirks:
        reasoning["summary"] = "auto"
    return {"reasoning": reasoning, **asked} if reasoning else asked


def _cache_key(session: str) -> str:
    """The session as a key of at most 64 characters."""
    if len(session) <= _LONGEST_KEY:
        return session
    return hashlib.sha256(session.encode()).hexdigest()
