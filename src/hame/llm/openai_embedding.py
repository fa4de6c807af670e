"""Embeddings of servers that follow OpenAI: https://platform.openai.com/docs/api-reference/embeddings."""

from collections.abc import Sequence

from hame.base.capability import Embeddings
from hame.base.json import dump_bytes, get_int, get_object, get_objects, parse_object
from hame.base.model import Endpoint
from hame.base.ports import HttpRequest
from hame.llm.embedding import read_vectors
from hame.llm.openai_server import bearer_request


def embed_request(model: str, texts: Sequence[str], endpoint: Endpoint) -> HttpRequest:
    """The request for these texts as vectors."""
    body = dump_bytes({"model": model, "input": list(texts), "encoding_format": "float"})
    return bearer_request("POST", endpoint, "embeddings", body)


def decode_embeddings(body: bytes) -> Embeddings:
    """Read the vectors; their `index` says of which text each is.

    Raises:
        ValueError: if the body holds none.
    """
    answer = parse_object(body)
    rows = sorted(get_objects(answer, "data"), key=lambda row: get_int(row, "index") or 0)
    tokens = get_int(get_object(answer, "usage"), "prompt_tokens")
    return read_vectors(answer, [row.get("embedding") for row in rows], tokens)
