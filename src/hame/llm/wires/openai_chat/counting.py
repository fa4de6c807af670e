"""Having a chat completion counted, by the servers that do it each in its own way.

llama-server renders the prompt and splits it into tokens in two questions
(https://github.com/ggml-org/llama.cpp/tree/master/tools/server); vLLM does both in one
(https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html#tokenizer-api).
"""

from hame.base.json import JsonObject, as_list, get_int, get_string, parse_object
from hame.base.model import ModelFacts, Quirk
from hame.base.ports import HttpRequest
from hame.llm.counting import body_of, rewritten

_RENDER, _SPLIT = "/apply-template", "/tokenize"
_RENDERED = frozenset({"messages", "tools"})
_SPLIT_WHOLE = frozenset({"model", "messages", "tools"})


def count_request(asked: HttpRequest, facts: ModelFacts) -> HttpRequest | None:
    """The first question that has a request counted; None where the server is not known to count."""
    root = asked.url.partition("?")[0].removesuffix("/chat/completions").removesuffix("/v1")
    body = body_of(asked)
    if Quirk.RENDERS_PROMPTS in facts.quirks:
        told: JsonObject = {key: value for key, value in body.items() if key in _RENDERED}
        return rewritten(asked, f"{root}{_RENDER}", told)
    if Quirk.SPLITS_MESSAGES in facts.quirks:
        told = {key: value for key, value in body.items() if key in _SPLIT_WHOLE}
        return rewritten(asked, f"{root}{_SPLIT}", told)
    return None


def read_count(body: bytes, asked: HttpRequest) -> int | HttpRequest:
    """The tokens, or the question that follows the rendered prompt.

    Raises:
        ValueError: if the body is no answer to what was asked.
    """
    found = parse_object(body)
    if asked.url.endswith(_RENDER) and (prompt := get_string(found, "prompt")) is not None:
        told: JsonObject = {"content": prompt, "add_special": True, "parse_special": True}
        return rewritten(asked, f"{asked.url.removesuffix(_RENDER)}{_SPLIT}", told)
    if asked.url.endswith(_SPLIT) and found is not None:
        tokens = as_list(found.get("tokens"))
        count = get_int(found, "count")
        if count is not None or tokens is not None:
            return count if count is not None else len(tokens or ())
    raise ValueError("the answer holds no count")
