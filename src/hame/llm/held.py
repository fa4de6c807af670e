"""An answer that is held to a few lines, as servers that follow OpenAI take it.

llama.cpp: https://github.com/ggml-org/llama.cpp/tree/master/tools/server (`grammar`);
vLLM: https://docs.vllm.ai/en/latest/features/structured_outputs.html;
SGLang: https://docs.sglang.ai/advanced_features/structured_outputs.html
"""

from collections.abc import Sequence

from hame.base.json import JsonObject
from hame.base.lines import Lines, gbnf, listed, regex
from hame.base.model import Constraint


def held_to(lines: Sequence[Lines], constraint: Constraint | None) -> JsonObject:
    """The members of a request that say so; none where there is no way to say it.

    `Constraint.SCHEMA` is none of them: it is the request's `shape`.
    """
    match constraint:
        case Constraint.GBNF:
            return {"grammar": gbnf(lines)}
        case Constraint.CHOICE:
            return {"structured_outputs": {"choice": listed(lines)}}
        case Constraint.GUIDED_CHOICE:
            return {"guided_choice": listed(lines)}
        case Constraint.REGEX:
            return {"regex": regex(lines)}
        case Constraint.SCHEMA | None:
            return {}
