"""Having a request to Gemini counted: https://ai.google.dev/api/tokens.

Vertex takes the request's own members, the Gemini API wants them inside another:
https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens
"""

from urllib.parse import urlsplit

from hame.base.json import JsonObject, get_int, parse_object
from hame.base.model import ModelFacts
from hame.base.ports import HttpRequest
from hame.llm.counting import body_of, rewritten
from hame.llm.wires.gemini.address import resource

_FOR_VERTEX = frozenset({"contents", "systemInstruction", "tools", "generationConfig"})


def count_request(asked: HttpRequest, facts: ModelFacts) -> HttpRequest:
    """The question that has a request counted."""
    parts = urlsplit(asked.url)
    path = f"{parts.path.rpartition(':')[0]}:countTokens"
    query = "&".join(each for each in parts.query.split("&") if each != "alt=sse")
    body = body_of(asked)
    if "/publishers/" in parts.path:
        told: JsonObject = {key: value for key, value in body.items() if key in _FOR_VERTEX}
    else:
        told = {"generateContentRequest": {"model": resource(facts.model), **body}}
    return rewritten(asked, parts._replace(path=path, query=query).geturl(), told)


def read_count(body: bytes, asked: HttpRequest) -> int:
    """The tokens.

    Raises:
        ValueError: if the body says none.
    """
    del asked
    found = get_int(parse_object(body), "totalTokens")
    if found is None:
        raise ValueError("the answer holds no count")
    return found
