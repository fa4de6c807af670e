"""Google's Gemini API, and Vertex where it speaks the same."""

from hame.llm.wires.gemini.codec import GeminiCodec

CODEC = GeminiCodec()
