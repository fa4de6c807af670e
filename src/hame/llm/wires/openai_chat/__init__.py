"""OpenAI's chat completions, and everything that calls itself compatible with them."""

from hame.llm.wires.openai_chat.codec import ChatCodec

CODEC = ChatCodec()
