"""Learning from a server that names a parameter it does not take."""

from msgspec.structs import replace

from hame.base.model import ModelFacts, Quirk

_EFFORT = frozenset({
    "reasoning_effort",
    "reasoning",
    "include",
    "effort",
    "think",
    "output_config",
    "verbosity",
})


def healed(facts: ModelFacts, parameter: str) -> ModelFacts:
    """The facts of a model that does not take the parameter; the same ones where nothing helps."""
    quirks = facts.quirks
    match parameter:
        case "max_tokens":
            return replace(facts, quirks=quirks | {Quirk.MAX_COMPLETION_TOKENS})
        case "max_completion_tokens":
            return replace(facts, quirks=quirks - {Quirk.MAX_COMPLETION_TOKENS})
        case "stream_options" | "include_usage":
            return replace(facts, quirks=quirks | {Quirk.NO_STREAM_USAGE})
        case "prompt_cache_key" if facts.wire == "openai_responses":
            return replace(facts, quirks=quirks | {Quirk.NO_PROMPT_CACHE_KEY})
        case "prompt_cache_key":
            return replace(facts, quirks=quirks - {Quirk.PROMPT_CACHE_KEY})
        case "reasoning.summary":
            return replace(facts, quirks=quirks | {Quirk.NO_REASONING_SUMMARY})
        case "max_output_tokens":
            return replace(facts, max_output=None)
        case "parallel_tool_calls":
            return replace(facts, quirks=quirks - {Quirk.NO_PARALLEL_CALLS})
        case "temperature":
            return replace(facts, quirks=quirks | {Quirk.NO_TEMPERATURE})
        case "thinking":
            quirks = quirks - {Quirk.ADAPTIVE_THINKING}
            return replace(facts, efforts=frozenset(), quirks=quirks)
        case _ if parameter in _EFFORT:
            return replace(facts, efforts=frozenset())
        case _:
            return facts
