"""Learning from a server that names a parameter it does not take."""

from msgspec.structs import replace

from hame.base.model import ModelFacts, Quirk, ToolSupport

_EFFORT = frozenset({
    "reasoning_effort",
    "reasoning",
    "include",
    "effort",
    "think",
    "output_config",
    "verbosity",
})


_ADDED = {
    "max_tokens": Quirk.MAX_COMPLETION_TOKENS,
    "stream_options": Quirk.NO_STREAM_USAGE,
    "include_usage": Quirk.NO_STREAM_USAGE,
    "reasoning.summary": Quirk.NO_REASONING_SUMMARY,
    "temperature": Quirk.NO_TEMPERATURE,
    "cache_control": Quirk.NO_LONG_CACHE,
}
"""What is learned of a model that does not take a parameter."""
_TAKEN_BACK = {
    "max_completion_tokens": Quirk.MAX_COMPLETION_TOKENS,
    "prompt_cache_key": Quirk.PROMPT_CACHE_KEY,
    "parallel_tool_calls": Quirk.NO_PARALLEL_CALLS,
}
"""What was known of it and is not so."""


def healed(facts: ModelFacts, parameter: str) -> ModelFacts:
    """The facts of a model that does not take the parameter; the same ones where nothing helps."""
    quirks = facts.quirks
    match parameter:
        case "prompt_cache_key" if facts.wire == "openai_responses":
            return replace(facts, quirks=quirks | {Quirk.NO_PROMPT_CACHE_KEY})
        case _ if parameter in _ADDED:
            return replace(facts, quirks=quirks | {_ADDED[parameter]})
        case _ if parameter in _TAKEN_BACK:
            return replace(facts, quirks=quirks - {_TAKEN_BACK[parameter]})
        case "max_output_tokens":
            return replace(facts, max_output=None)
        case "tools":
            # Told in words from here on.
            native = facts.tools is ToolSupport.NATIVE
            return replace(facts, tools=ToolSupport.TEXT if native else facts.tools)
        case "format":
            schema = facts.tools is ToolSupport.SCHEMA
            return replace(facts, tools=ToolSupport.TEXT if schema else facts.tools)
        case "num_gpu":
            return replace(facts, num_gpu=0)
        case "thinking":
            return replace(facts, efforts=frozenset(), quirks=quirks - {Quirk.ADAPTIVE_THINKING})
        case _ if parameter in _EFFORT:
            return replace(facts, efforts=frozenset())
        case _:
            return facts
