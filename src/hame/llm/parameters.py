"""Which parameter of the request a server says it does not know.

Only complaints about the parameter itself count. A complaint about its *value* (too large, must be
one of) is none: leaving the parameter out would change what was asked for.
"""

import re

from hame.llm.errorbody import ErrorReport

ADJUSTABLE: tuple[str, ...] = (
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "parallel_tool_calls",
    "prompt_cache_key",
    "reasoning_effort",
    "stream_options",
    "include_usage",
    "cache_control",
    "output_config",
    "temperature",
    "verbosity",
    "reasoning",
    "thinking",
    "include",
    "effort",
    "store",
    "think",
)
"""Members of a request that hame can leave out or rename."""

FILES = "files"
"""Stands for the pictures and documents in a request, which may be left out like a parameter."""

_ABOUT_FILES = re.compile(
    r"(?:could not|cannot|can't|unable to|failed to) (?:process|read|decode|download|load|parse)"
    r" (?:the |input |provided )*(?:image|pdf|document|media)"
    r"|\b(?:image|pdf|document)s?\b.{0,80}(?:exceed|too (?:large|big|many)|invalid|unsupported"
    r"|not (?:valid|supported|allowed)|dimension|could not|maximum|max allowed|corrupt|malformed)"
    r"|(?:invalid|unsupported|not support).{0,40}\b(?:image|pdf|document|media.?type|mime)"
    r"|support image input|not represent a valid image",
    re.IGNORECASE,
)

_EVERYDAY_WORDS = frozenset({"reasoning", "thinking", "include", "effort", "store", "think"})

_SUMMARY = "reasoning.summary"
"""Only shows the reasoning, so whatever the complaint, the answer is the same without it."""

_UNSUPPORTED = re.compile(
    r"unsupported|not (?:yet )?(?:supported|permitted|allowed|available|recogni[sz]ed)"
    r"|(?:does|do)(?:es)?(?: not|n't) support|unknown|unrecogni[sz]ed|unexpected|deprecated"
    r"|extra inputs|extra_forbidden|cannot find field|no longer|\binstead\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"unsupported_?\s?value|invalid value|too (?:large|big|high|small|low|long)|at (?:most|least)|must be"
    r"|should be|less than|greater than|supported values|only the default|(?:be|is) one of|out of range"
    r"|does not support '?-?\d",
    re.IGNORECASE,
)
_UNSUPPORTED_CODES = frozenset({
    "unsupported_parameter",
    "unknown_parameter",
    "extra_forbidden",
    "unrecognized_argument",
})
_CAMEL = re.compile(r"(?<=[a-z])([A-Z])")


def unsupported_parameter(report: ErrorReport) -> str | None:
    """The parameter a 400 calls unsupported; None for every other complaint."""
    if report.parameter == _SUMMARY:
        return _SUMMARY
    coded = bool(report.words & _UNSUPPORTED_CODES)
    if not coded and (
        "unsupported_value" in report.words
        or _VALUE.search(report.message)
        or not _UNSUPPORTED.search(report.message)
    ):
        return None
    if report.parameter:
        return _known(report.parameter)
    return _mentioned(report.message)


def refuses_files(report: ErrorReport) -> bool:
    """Whether a complaint is about a picture or a document in the request."""
    return _ABOUT_FILES.search(report.message) is not None


def _known(name: str) -> str:
    """A named parameter in its plain spelling: the outermost member, without the path below it."""
    plain = _CAMEL.sub(r"_\1", name).lower()
    head = plain.split(".")[0].split("[")[0]
    return head if head in ADJUSTABLE else plain


def _mentioned(message: str) -> str | None:
    """The first adjustable parameter that a message names."""
    text = _CAMEL.sub(r"_\1", message).lower()
    found = [
        (match.start(), -len(name), name)
        for name in ADJUSTABLE
        if (match := re.search(_mention(name), text))
    ]
    return min(found)[2] if found else None


def _mention(name: str) -> str:
    """How a parameter is named in a sentence; an everyday word counts only where it is set off."""
    if name not in _EVERYDAY_WORDS:
        return rf"(?<!\w){name}(?!\w)"
    return rf"""["'`]{name}["'`]|^{name}:|parameters?:? {name}\b|support {name}\.?$"""
