"""Ollama's own API: https://docs.ollama.com/api/chat."""

from hame.base.ports import Codec
from hame.llm.wires.ollama.codec import OllamaCodec

CODEC: Codec = OllamaCodec()
