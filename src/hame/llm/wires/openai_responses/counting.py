"""Having a request to Responses counted: https://platform.openai.com/docs/api-reference/responses/input-tokens."""

from urllib.parse import urlsplit

from hame.base.json import get_int, parse_object
from hame.base.model import ModelFacts
from hame.base.ports import HttpRequest
from hame.llm.counting import body_of, rewritten

_COUNTED = frozenset({
    "model", "input", "instructions", "tools", "tool_choice", "reasoning", "parallel_tool_calls", "text",
})  # fmt: skip


def count_request(asked: HttpRequest, facts: ModelFacts) -> HttpRequest:
    """The question that has a request counted."""
    del facts
    parts = urlsplit(asked.url)
    url = parts._replace(path=f"{parts.path}/input_tokens").geturl()
    return rewritten(asked, url, {k: v for k, v in body_of(asked).items() if k in _COUNTED})


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
