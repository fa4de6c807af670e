"""Anthropic's Messages, and every server that speaks it: https://docs.anthropic.com/en/api/messages."""

from hame.base.ports import Codec
from hame.llm.wires.anthropic_messages.codec import MessagesCodec

CODEC: Codec = MessagesCodec()
