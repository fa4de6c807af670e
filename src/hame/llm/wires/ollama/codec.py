"""The codec of Ollama's own API.

`num_ctx` is sent with every request, always the same for a model: without it Ollama cuts a long
prompt silently, and a changed one makes it load the model again.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hame.base.json import (
    JsonObject,
    as_list,
    dump_bytes,
    get_objects,
    get_string,
    parse_object,
)
from hame.base.model import Effort, Endpoint, ModelFacts, ModelListing
from hame.base.ports import HttpRequest, ModelRequest
from hame.llm.limits import effort_for, output_limit
from hame.llm.paged import PagedCodec
from hame.llm.splice import splice
from hame.llm.wires.ollama.address import address
from hame.llm.wires.ollama.decode import OllamaDecoder, decode_body
from hame.llm.wires.ollama.messages import OllamaPage
from hame.llm.wires.ollama.tools import declare

if TYPE_CHECKING:
    from hame.llm.embedding import Embedding


WIRE = "ollama"


class OllamaCodec(PagedCodec[OllamaPage]):
    """Implements `hame.base.ports.Codec`."""

    __slots__ = ()

    framing: Literal["sse", "ndjson"] = "ndjson"

    def __init__(self) -> None:
        """Start with nothing written."""
        super().__init__(WIRE, OllamaPage, OllamaDecoder, decode_body)

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request."""
        pieces = self.page(request, facts).pieces
        if request.system.strip():
            pieces = [dump_bytes({"role": "system", "content": request.system}), *pieces]
        body = splice(_head(request, facts), "messages", pieces)
        return address("POST", endpoint, "chat", body)

    def embedding(self) -> "Embedding":
        """How texts become vectors."""
        import hame.llm.wires.ollama.embedding as way  # Seldom asked.

        return way

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the models that are on the server's disk."""
        return address("GET", endpoint, "tags", b"")

    def decode_list(self, body: bytes) -> Sequence[ModelListing]:
        """Read a list of models.

        Raises:
            ValueError: if the body is no such list.
        """
        answer = parse_object(body)
        if answer is None or as_list(answer.get("models")) is None:
            raise ValueError("the answer holds no list of models")
        names = [
            get_string(entry, "name") or get_string(entry, "model")
            for entry in get_objects(answer, "models")
        ]
        return [ModelListing(id=name, display_name=name) for name in names if name]


def _head(request: ModelRequest, facts: ModelFacts) -> JsonObject:
    head: JsonObject = {"model": facts.model, "stream": True}
    options: JsonObject = {}
    if facts.context_window is not None:
        options["num_ctx"] = facts.context_window
    limit = output_limit(request, facts)
    if limit is not None:
        options["num_predict"] = limit
    if facts.num_gpu is not None:
        options["num_gpu"] = facts.num_gpu
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if options:
        head["options"] = options
    if facts.keep_alive is not None:
        head["keep_alive"] = _keep_alive(facts.keep_alive)
    if request.shape is not None:
        head["format"] = request.shape
    effort = effort_for(request, facts)
    if effort is not None:
        head["think"] = _think(effort, facts)
    if request.tools:
        head["tools"] = [declare(spec) for spec in request.tools]
    return head


def _keep_alive(text: str) -> int | str:
    """A duration as Ollama wants it: seconds as a number, anything else as it is written."""
    try:
        return int(text)
    except ValueError:
        return text


def _think(effort: Effort, facts: ModelFacts) -> bool | str:
    """On or off for most models; a level for those that tell levels apart."""
    if effort is Effort.NONE:
        return False
    if len(facts.efforts - {Effort.NONE}) == 1:
        return True
    return _LEVELS[effort]


_LEVELS = {
    Effort.MINIMAL: "low",
    Effort.LOW: "low",
    Effort.MEDIUM: "medium",
    Effort.HIGH: "high",
    Effort.MAX: "high",
}
