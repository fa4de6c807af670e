"""Having Messages counted: https://docs.anthropic.com/en/api/messages-count-tokens."""

from urllib.parse import urlsplit

from hame.base.json import get_int, parse_object
from hame.base.model import ModelFacts
from hame.base.ports import HttpRequest
from hame.llm.counting import body_of, rewritten

_UNCOUNTED = frozenset({"max_tokens", "stream", "output_config"})


def count_request(asked: HttpRequest, facts: ModelFacts) -> HttpRequest:
    """The question that has a request counted."""
    del facts
    parts = urlsplit(asked.url)
    url = parts._replace(path=f"{parts.path}/count_tokens").geturl()
    body = {key: value for key, value in body_of(asked).items() if key not in _UNCOUNTED}
    return rewritten(asked, url, body)


def read_count(body: bytes, asked: HttpRequest) -> int:
    """The tokens.

    Raises:
        ValueError: if the body says none.
    """
    del asked
    found = get_int(parse_object(body), "input_tokens")
    if found is None:
        raise ValueError("the answer holds no count")
    return found
