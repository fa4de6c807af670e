"""The codec of chat completions.

The body begins with what does not change within a conversation and ends with the messages, so two
requests of one conversation share all bytes up to what is new.
"""

from typing import TYPE_CHECKING

from hame.base.json import JsonObject, dump_bytes
from hame.base.model import Effort, Endpoint, ModelFacts, Quirk
from hame.base.ports import HttpRequest, ModelRequest
from hame.llm.limits import effort_for, output_limit
from hame.llm.openai_server import BearerCodec, bearer_request
from hame.llm.splice import splice
from hame.llm.wires.openai_chat.decode import WIRE, ChatDecoder, decode_body
from hame.llm.wires.openai_chat.messages import ChatPage
from hame.llm.wires.openai_chat.tools import declare

if TYPE_CHECKING:
    from hame.llm.counting import Counting
    from hame.llm.embedding import Embedding


_EFFORTS = {Effort.MAX: "xhigh"}


class ChatCodec(BearerCodec[ChatPage]):
    """Implements `hame.base.ports.Codec`."""

    __slots__ = ()

    def __init__(self) -> None:
        """Start with nothing written."""
        super().__init__(WIRE, ChatPage, ChatDecoder, decode_body)

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request."""
        messages = self.page(request, facts).pieces
        if request.system:
            role = "developer" if Quirk.DEVELOPER_ROLE in facts.quirks else "system"
            system = dump_bytes({"role": role, "content": request.system})
            messages = [system, *messages]
        body = splice(_head(request, facts), "messages", messages)
        return bearer_request("POST", endpoint, "chat/completions", body)

    def embedding(self) -> "Embedding":
        """How texts become vectors."""
        import hame.llm.openai_embedding as way  # Seldom asked.

        return way

    def counting(self) -> "Counting":
        """How requests are counted."""
        import hame.llm.wires.openai_chat.counting as way  # Seldom asked.

        return way


def _head(request: ModelRequest, facts: ModelFacts) -> JsonObject:
    head: JsonObject = {"model": facts.model, "stream": True}
    if Quirk.NO_STREAM_USAGE not in facts.quirks:
        head["stream_options"] = {"include_usage": True}
    if Quirk.TELLS_COST in facts.quirks:
        head["usage"] = {"include": True}
    limit = output_limit(request, facts)
    if limit is not None:
        capped = Quirk.MAX_COMPLETION_TOKENS in facts.quirks
        head["max_completion_tokens" if capped else "max_tokens"] = limit
    effort = effort_for(request, facts)
    if effort is not None:
        head["reasoning_effort"] = _EFFORTS.get(effort, effort.value)
    if request.session and Quirk.PROMPT_CACHE_KEY in facts.quirks:
        head["prompt_cache_key"] = request.session
    if request.temperature is not None and Quirk.NO_TEMPERATURE not in facts.quirks:
        head["temperature"] = request.temperature
    if request.lines:
        from hame.llm.held import held_to  # Few models are spoken to in lines.

        head |= held_to(request.lines, facts.constraint)
    if request.shape is not None:
        shape: JsonObject = {"name": "answer", "schema": request.shape, "strict": True}
        head["response_format"] = {"type": "json_schema", "json_schema": shape}
    if request.tools:
        head["tools"] = [declare(spec, facts) for spec in request.tools]
        if Quirk.NO_PARALLEL_CALLS in facts.quirks:
            head["parallel_tool_calls"] = False
    return head
