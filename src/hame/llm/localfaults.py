"""What servers of the user's own say when they cannot do what was asked, and what to ask instead.

Ollama: a model whose template has no tools answers 400 "does not support tools"; a call it could not
parse is 500 "error parsing tool call"; a runner that ran out of memory "has terminated" or "has
unexpectedly stopped". vLLM and llama-server refuse tools unless they were started for them.
"""

import re

from hame.llm.errorbody import ErrorReport

_NO_TOOLS = re.compile(
    r"does not support (?:tools|function calling|tool use)|error parsing tool call"
    r"|requires --enable-auto-tool-choice|tools? param(?:eter)? requires --jinja"
    r"|no endpoints found that support tool use",
    re.IGNORECASE,
)
_NO_FORMAT = re.compile(
    r"(?:response_format|json_schema|structured outputs?|guided_json|grammar)\b.{0,80}"
    r"(?:not (?:supported|allowed)|unsupported|unavailable|failed|invalid)"
    r"|failed to (?:parse|compile|load model vocabulary).{0,40}grammar",
    re.IGNORECASE,
)
_CRASHED = re.compile(
    r"runner (?:process )?(?:has terminated|no longer running|has unexpectedly stopped)"
    r"|cuda error|cudamalloc failed|rocm error|ggml_backend_\w*buffer\w* failed"
    r"|unable to allocate .{0,40}buffer|failed to allocate .{0,40}buffer",
    re.IGNORECASE,
)


def local_parameter(report: ErrorReport) -> str | None:
    """`tools`, `format` or `num_gpu`: what the request is to be sent again without, or with 0."""
    if _NO_TOOLS.search(report.message):
        return "tools"
    if _CRASHED.search(report.message):
        return "num_gpu"
    return "format" if _NO_FORMAT.search(report.message) else None
