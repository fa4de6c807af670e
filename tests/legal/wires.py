"""Whether a request is one that its server takes, by both judges of its wire.

The rules are written out here, a module for each wire; the other judge are the vendor's own types.
"""

from collections.abc import Callable
from typing import Any

from hame.base.model import ModelFacts
from legal import anthropic_messages, gemini, official, ollama, openai_chat, openai_responses

RULES: dict[str, Callable[[Any, ModelFacts], None]] = {
    "anthropic_messages": anthropic_messages.check,
    "openai_chat": openai_chat.check,
    "openai_responses": openai_responses.check,
    "gemini": gemini.check,
    "ollama": ollama.check,
}


def check_request(body: Any, facts: ModelFacts) -> None:
    """Both judges; the vendor's types only where they are installed."""
    RULES[facts.wire](body, facts)
    official.check(facts.wire, body)
