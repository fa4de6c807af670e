"""A request to Gemini's streamGenerateContent.

https://ai.google.dev/api/generate-content
The body begins with what does not change within a conversation and ends with its contents, so two
requests of one conversation share all bytes up to what is new.
"""

from collections.abc import Sequence

from hame.base.json import JsonObject, get_list, get_object
from hame.base.model import Effort, ModelFacts
from hame.base.ports import ModelRequest
from hame.base.tool import ToolSpec
from hame.llm.limits import effort_for, output_limit
from hame.llm.splice import splice
from hame.llm.wires.gemini.generation import generation
from hame.llm.wires.gemini.schema import convert_schema, is_plain

_LEVELS = {Effort.NONE: "minimal", Effort.MAX: "xhigh"}
"""Words that differ from hame's; Gemini 3 cannot stop thinking."""

_BUDGETS = {
    Effort.NONE: 0,
    Effort.MINIMAL: 512,
    Effort.LOW: 1_024,
    Effort.MEDIUM: 8_192,
    Effort.HIGH: 24_576,
    Effort.MAX: 24_576,
}
"""Tokens, for models before Gemini 3. https://ai.google.dev/gemini-api/docs/thinking#set-budget"""

_PRO_LEAST = 128
_PRO_MOST = 32_768


def write_body(
    request: ModelRequest, facts: ModelFacts, contents: Sequence[bytes], *, cached: str = ""
) -> bytes:
    """The whole body, its contents given as bytes.

    A cached content that is named takes the place of the fixed part, which must not stand beside it.
    """
    fixed: JsonObject = {"cachedContent": cached} if cached else fixed_part(request, facts)
    config = _config(request, facts)
    head = {**fixed, "generationConfig": config} if config else fixed
    return splice(head, "contents", contents)


def fixed_part(request: ModelRequest, facts: ModelFacts) -> JsonObject:
    """The members that stay the same in all requests of a session: system prompt and tools."""
    fixed: JsonObject = {}
    if request.system:
        fixed["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        fixed["tools"] = [{"functionDeclarations": [_declare(spec) for spec in request.tools]}]
    if request.web_search:
        fixed.update(_with_search(fixed, facts))
    return fixed


def _config(request: ModelRequest, facts: ModelFacts) -> JsonObject:
    config: JsonObject = {}
    limit = output_limit(request, facts)
    if limit is not None:
        config["maxOutputTokens"] = limit
    if facts.efforts:
        config["thinkingConfig"] = _thinking(request, facts)
    return config


def _with_search(fixed: JsonObject, facts: ModelFacts) -> JsonObject:
    """The members that let Gemini search; before Gemini 3 it does that only without functions.

    https://ai.google.dev/gemini-api/docs/google-search
    """
    tools = get_list(fixed, "tools")
    search: JsonObject = {"googleSearch": {}}
    if not tools:
        return {"tools": [search]}
    if generation(facts.model) < 3:
        return {}
    return {
        "tools": [*tools, search],
        "toolConfig": {"includeServerSideToolInvocations": True},
    }


def _declare(spec: ToolSpec) -> JsonObject:
    """One tool: its schema as it is where Gemini reads it so, else in Gemini's dialect."""
    schema = spec.schema()
    declared: JsonObject = {"name": spec.name, "description": spec.description}
    if set(schema) <= {"type", "properties", "required", "additionalProperties", "title"} and not (
        get_object(schema, "properties") or schema.get("additionalProperties")
    ):
        return declared
    if is_plain(schema):
        return {**declared, "parametersJsonSchema": schema}
    return {**declared, "parameters": convert_schema({"type": "object", **schema})}


def _thinking(request: ModelRequest, facts: ModelFacts) -> JsonObject:
    """How much to think; thoughts are shown unless there are to be none."""
    effort = effort_for(request, facts)
    if effort is None:
        return {"includeThoughts": True}
    if generation(facts.model) >= 3:
        return {"includeThoughts": True, "thinkingLevel": _LEVELS.get(effort, effort.value)}
    budget = _BUDGETS[effort]
    if "pro" in facts.model:
        budget = _PRO_MOST if effort is Effort.MAX else max(budget, _PRO_LEAST)
    return {"includeThoughts": budget > 0, "thinkingBudget": budget}
