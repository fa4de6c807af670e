"""Gemini's embeddings: https://ai.google.dev/api/embeddings."""

from collections.abc import Sequence

from hame.base.capability import Embeddings
from hame.base.json import dump_bytes, get_objects, parse_object
from hame.base.model import Endpoint
from hame.base.ports import HttpRequest
from hame.llm.embedding import read_vectors
from hame.llm.wires.gemini.address import resource, write_request


def embed_request(model: str, texts: Sequence[str], endpoint: Endpoint) -> HttpRequest:
    """The request for these texts as vectors."""
    named = resource(model)
    asked = [{"model": named, "content": {"parts": [{"text": text}]}} for text in texts]
    body = dump_bytes({"requests": asked})
    return write_request("POST", endpoint, f"{named}:batchEmbedContents", body=body)


def decode_embeddings(body: bytes) -> Embeddings:
    """Read the vectors; the wire does not count.

    Raises:
        ValueError: if the body holds none.
    """
    answer = parse_object(body)
    vectors = [row.get("values") for row in get_objects(answer, "embeddings")]
    return read_vectors(answer, vectors, None)
