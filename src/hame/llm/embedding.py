"""Asking a server for texts as vectors."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from hame.base.capability import Embeddings
from hame.base.errors import ConfigError, ModelError
from hame.base.json import JsonObject, as_list
from hame.base.model import Endpoint, ModelFacts, Usage
from hame.base.ports import Clock, Codec, Http, HttpRequest
from hame.llm.broken import not_an_answer
from hame.llm.classify import classify_response

_MOST_BYTES = 256_000_000


class Embedding(Protocol):
    """How a wire asks for embeddings. Pure."""

    def embed_request(self, model: str, texts: Sequence[str], endpoint: Endpoint) -> HttpRequest:
        """The request for these texts as vectors."""
        ...

    def decode_embeddings(self, body: bytes) -> Embeddings:
        """Read the vectors, in the order of the texts.

        Raises:
            ValueError: if the body holds none.
        """
        ...


@runtime_checkable
class EmbedsTexts(Protocol):
    """A codec whose wire has embeddings."""

    def embedding(self) -> Embedding:
        """How it asks for them."""
        ...


async def embed(
    codec: Codec,
    facts: ModelFacts,
    endpoint: Endpoint,
    texts: Sequence[str],
    *,
    http: Http,
    clock: Clock,
) -> Embeddings:
    """Texts as vectors.

    Raises:
        ConfigError: on a wire that has none.
        ModelError: if it was refused, could not be asked, or sent something else.
    """
    if not isinstance(codec, EmbedsTexts):
        raise ConfigError(f"{facts.vendor or facts.backend} makes no embeddings")
    body = b""
    way = codec.embedding()
    request = way.embed_request(facts.model, texts, endpoint)
    async with http.send(request, facts.timeouts) as response:
        async for chunk in response.chunks():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise ModelError(not_an_answer(facts.vendor, "the answer is too large"))
    if not 200 <= response.status < 300:
        failure = classify_response(
            response.status, response.headers, body, facts.vendor, now=clock.now()
        )
        raise ModelError(failure)
    try:
        found = way.decode_embeddings(body)
    except ValueError as error:
        raise ModelError(not_an_answer(facts.vendor, str(error))) from error
    if len(found.vectors) != len(texts):
        wrong = f"{len(found.vectors)} vectors for {len(texts)} texts"
        raise ModelError(not_an_answer(facts.vendor, wrong))
    return found


def read_vectors(
    answer: JsonObject | None, lists: Sequence[object], tokens: int | None
) -> Embeddings:
    """Vectors that an answer holds as lists of numbers.

    Raises:
        ValueError: if one is no list of numbers, or there are none.
    """
    vectors = [_vector(each) for each in lists]
    if answer is None or not vectors:
        raise ValueError("the answer holds no embeddings")
    return Embeddings(vectors=tuple(vectors), usage=Usage(input_uncached=tokens or 0))


def _vector(value: object) -> tuple[float, ...]:
    numbers = as_list(value)
    if not numbers or not all(isinstance(n, int | float) for n in numbers):
        raise ValueError("an embedding is no list of numbers")
    return tuple(float(n) for n in numbers if isinstance(n, int | float))
