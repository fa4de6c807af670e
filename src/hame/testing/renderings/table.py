"""The wires a scripted server speaks."""

from hame.testing.renderings.anthropic_messages import AnthropicMessages
from hame.testing.renderings.gemini import Gemini
from hame.testing.renderings.ollama import Ollama
from hame.testing.renderings.openai_chat import OpenAIChat
from hame.testing.renderings.openai_responses import OpenAIResponses
from hame.testing.renderings.rendering import Rendering

RENDERINGS: tuple[Rendering, ...] = (
    OpenAIChat(),
    AnthropicMessages(),
    OpenAIResponses(),
    Gemini(streams=True),
    Gemini(streams=False),
    Ollama(),
)


def rendering_for(path: str) -> Rendering | None:
    """The wire on which a POST to this path asks for an answer."""
    return next((each for each in RENDERINGS if each.answers(path)), None)
