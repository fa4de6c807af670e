"""Ollama's embeddings: https://docs.ollama.com/api/embed."""

from collections.abc import Sequence

from hame.base.capability import Embeddings
from hame.base.json import dump_bytes, get_int, get_list, parse_object
from hame.base.model import Endpoint
from hame.base.ports import HttpRequest
from hame.llm.embedding import read_vectors
from hame.llm.wires.ollama.address import address


def embed_request(model: str, texts: Sequence[str], endpoint: Endpoint) -> HttpRequest:
    """The request for these texts as vectors."""
    return address("POST", endpoint, "embed", dump_bytes({"model": model, "input": list(texts)}))


def decode_embeddings(body: bytes) -> Embeddings:
    """Read the vectors.

    Raises:
        ValueError: if the body holds none.
    """
    answer = parse_object(body)
    return read_vectors(
        answer, get_list(answer, "embeddings"), get_int(answer, "prompt_eval_count")
    )
