"""OpenAI's Responses API, and the servers that follow it."""

from hame.llm.wires.openai_responses.codec import ResponsesCodec

CODEC = ResponsesCodec()
