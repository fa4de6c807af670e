"""Why a provider refused: status, headers and body -> Failure.

The first rule that fits decides, and the order is the point: a 429 can mean four different things,
and a context that is too long hides behind any status. Rules read the types and codes a vendor sends
before its prose. The module reads no clock: dates are measured against the response's own `date`
header, else against `now`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from hame.base.errors import ErrorKind, Failure
from hame.base.json import get_objects, get_string
from hame.llm.advice import explain
from hame.llm.errorbody import ErrorReport, one_line, read_body, read_error
from hame.llm.parameters import FILES, refuses_files, unsupported_parameter
from hame.llm.waits import detail_wait, header_wait, metadata_wait, worded_wait

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})

_ADDRESS = re.compile(r"https?://\S+")

_RETRYABLE = frozenset({
    ErrorKind.RATE_LIMIT,
    ErrorKind.OVERLOADED,
    ErrorKind.SERVER_ERROR,
    ErrorKind.TIMEOUT,
    ErrorKind.NETWORK,
})


def classify_response(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    provider: str,
    *,
    now: float | None = None,
) -> Failure:
    """Classify a response that is an error; header names in lower case, `now` in Unix seconds."""
    return _classify(read_body(body), provider, status=status, headers=headers, now=now)


def classify_error(
    error: object,
    provider: str,
    *,
    status: int | None = None,
    headers: Mapping[str, str] = _NO_HEADERS,
    mid_stream: bool = False,
    now: float | None = None,
) -> Failure:
    """Classify an error that was found in a body or a stream, in any vendor's shape."""
    failure = _classify(read_error(error), provider, status=status, headers=headers, now=now)
    return msgspec.structs.replace(failure, mid_stream=mid_stream)


class _Signals(msgspec.Struct, frozen=True):
    """What the rules look at."""

    status: int | None
    words: frozenset[str]
    """Types, codes and reasons, in lower case."""
    text: str
    """The message in lower case, without addresses (a link to a page on rate limits says nothing)."""
    wait: float | None
    quotas: str
    """Names of the quotas that Google says were exceeded, in lower case."""

    def has(self, *words: str) -> bool:
        """Whether one of the types or codes is one of these."""
        return not self.words.isdisjoint(words)

    def hints(self, pattern: re.Pattern[str]) -> bool:
        """Whether a type or code contains the pattern."""
        return any(pattern.search(word) for word in self.words)

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether the message contains the pattern."""
        return pattern.search(self.text) is not None


def _classify(
    report: ErrorReport,
    provider: str,
    *,
    status: int | None,
    headers: Mapping[str, str],
    now: float | None,
) -> Failure:
    wait = _wait(report, headers, now)
    effective = status if status is not None and status >= 400 else report.status
    text = _ADDRESS.sub("", report.message.lower())
    signals = _Signals(effective, report.words, text, wait, _quotas(report))
    kind = next(kind for kind, fits in _RULES if fits(signals))
    retryable = kind in _RETRYABLE
    if retryable and headers.get("x-should-retry") == "false":
        retryable = False
    message, hint = explain(kind, provider, effective, wait)
    return Failure(
        kind=kind,
        message=message,
        hint=hint,
        provider=provider,
        said=one_line(report.message),
        retryable=retryable,
        retry_after_s=wait if retryable else None,
        status=effective,
        parameter=_mendable(kind, report),
    )


_OF_THE_MODEL = frozenset({
    ErrorKind.INVALID_REQUEST,
    ErrorKind.NOT_FOUND,
    ErrorKind.SERVER_ERROR,
    ErrorKind.TOOL_USE_FAILED,
    ErrorKind.UNKNOWN,
})
"""Kinds under which a local server reports what its model or its memory cannot do."""


def _mendable(kind: ErrorKind, report: ErrorReport) -> str | None:
    """What the request could be sent again without, so that it is taken."""
    if kind is ErrorKind.REQUEST_TOO_LARGE:
        return FILES
    if kind in _OF_THE_MODEL:
        from hame.llm.localfaults import local_parameter  # Errors are rare.

        if found := local_parameter(report):
            return found
    if kind not in {ErrorKind.INVALID_REQUEST, ErrorKind.NOT_FOUND}:
        return None
    if refuses_files(report):
        return FILES
    return unsupported_parameter(report) if kind is ErrorKind.INVALID_REQUEST else None


def _wait(report: ErrorReport, headers: Mapping[str, str], now: float | None) -> float | None:
    found = header_wait(headers, now)
    if found is None:
        found = detail_wait(report.details)
    if found is None:
        found = metadata_wait(report.metadata, now)
    if found is None:
        found = report.retry_after_s
    return worded_wait(report.message) if found is None else found


def _quotas(report: ErrorReport) -> str:
    violations = [
        violation for detail in report.details for violation in get_objects(detail, "violations")
    ]
    return " ".join(get_string(violation, "quotaId") or "" for violation in violations).lower()


# ---------------------------------------------------------------- rules

_FILTER_WORD = re.compile(
    r"content_?filter|content_?policy|responsibleaipolicy|data_inspection|(?:cyber|bio|safety|usage)_policy"
)
_FILTER_TEXT = re.compile(
    r"content management policy|content policy|content filter|requires moderation"
    r"|input was flagged|flagged as potentially|inappropriate content|unsafe or sensitive|new_sensitive"
    r"|sensitive (?:content|words?)\b|content exists risk"
    r"|violat\w+ (?:\w+ ){0,2}(?:usage|content|safety) (?:guidelines|polic)"
)
_OVERFLOW_WORD = re.compile(
    r"context_(?:length|window)|max_prompt_tokens|exceed_context|context_size|prompt_too_long"
)
_OVERFLOW_TEXT = re.compile(
    r"maximum context|context.?length|context.?window|context.?size|exceeds? (?:the )?context"
    r"|context limit|prompt is too long|prompt too long|input is too long"
    r"|input (?:token count|length|tokens?)\b.*\bexceed|prompt token count"
    r"|exceeded model token limit|tokens? .*exceeds? the (?:limit|maximum)|maximum prompt length"
    r"|maximum number of (?:input )?tokens|reduce the length of the (?:messages|prompt|input)"
    r"|(?:prompt|inputs?)\b.{0,40}\b(?:tokens?|length)\b.{0,40}"
    r"\b(?:longer than|too large|too long|more than|must be (?:<|less)|less than|exceeds?|should be)"
    r"|prompt exceeds|`inputs` must have less than|token count is \d+ but|max(?:imum)? context"
    r"|tokens in request more than|too many tokens(?!, please wait)|maximum model length"
    r"|context shift is disabled|max_seq_len"
)
_TOO_LARGE_TEXT = re.compile(
    r"request (?:entity |body |payload )?(?:is )?too large|payload too large|request exceeds the maximum size"
    r"|request (?:payload )?size exceeds"
)
_AUTH_WORD = re.compile(
    r"authentication|unauthenticated|unauthorized|api_?key_?invalid|invalid_?api_?key"
)
_AUTH_TEXT = re.compile(
    r"(?:invalid|incorrect|missing|expired|wrong|no|malformed) (?:\w+ )?(?:api.?key|authentication|credentials?)"
    r"|api.?key (?:is |was |has )?(?:not valid|not found|invalid|incorrect|missing|expired|revoked|required)"
    r"|authentication (?:failed|fails|required|error)|invalid bearer|missing authentication"
    r"|api.?key .{0,20}\b(?:leaked|disabled|compromised)|unregistered callers|^unauthorized\b"
    r"|security token .{0,40}\b(?:invalid|expired)|request signature we calculated"
)
_QUOTA_WORD = re.compile(
    r"insufficient_(?:quota|balance|funds|credits?|user_quota)|billing|payment_required|current_quota"
    r"|credit|arrearage|budget_?exceeded|exceeded_?budget"
)
_QUOTA_TEXT = re.compile(
    r"insufficient (?:\w+ )?(?:balance|credits?|funds|quota)|credit balance|out of credits?"
    r"|(?:requires?|need|add|purchase|buy) more credits|billing hard limit|payment required"
    r"|account (?:is|has been) suspended|spend(?:ing)? limit|run out of credits"
    r"|used all available credits|balance is too low|no resource package"
    r"|(?:n't have (?:any|enough)|no|not enough) credits|over budget|budget has been exceeded"
    r"|out of call volume quota|specified api usage limits|free tier .{0,40}\bexhausted"
    r"|key limit exceeded"
)
_PLAN_WORD = re.compile(r"usage_(?:limit_reached|not_included)")
_PLAN_TEXT = re.compile(
    r"exceeded your current quota|quota (?:has been )?exhausted|billing details"
    r"|(?:daily|weekly|monthly) (?:usage )?limit"
)
_RATE_TEXT = re.compile(r"per.?(?:minute|second|hour)|\b[rt]p[msh]\b|rate.?limit")
_RATE_WORD = re.compile(r"rate_?limit|too_?many_?requests|resource_exhausted|throttl")
_RATE_SAID = re.compile(r"rate.?limit(?:ed)?\b|too many requests|throttled")
_BUSY_WORD = re.compile(r"overloaded|slow_down")
_BUSY_TEXT = re.compile(
    r"overloaded|high demand|at capacity|capacity (?:exceeded|constraints)|server (?:is )?busy|too busy"
)
_MISSING_WORD = re.compile(
    r"^(?!image).*not_?found|model_not_(?:exist|supported)|deploymentnotfound|decommissioned"
)
_MISSING_TEXT = re.compile(
    r"model.{0,80}(?:does not exist|not exist|not found|is not supported for generatecontent)"
    r"|not a valid model|(?:unknown|no such|invalid) model\b|model not found"
    r"|model (?:identifier is invalid|.{0,60}has been (?:decommissioned|retired))"
    r"|unexpected endpoint|no such endpoint|invalid url\b|page not found|no route matches"
)
_FORBIDDEN_WORD = re.compile(r"permission|(?<!extra_)forbidden|access_?denied|not_authorized")
_FORBIDDEN_TEXT = re.compile(r"(?:location|country|region|territory) (?:is )?not supported")
_TIMEOUT_WORD = re.compile(r"timeout|deadline_exceeded")
_INVALID_WORD = re.compile(
    r"invalid|bad_?request|unsupported|failed_precondition|out_of_range|validation|extra_forbidden|image"
)
_BROKEN_WORD = re.compile(
    r"server_?error|api_?error|internal|unavailable|upstream|engine|aborted|cancelled"
)


def _is_filtered(s: _Signals) -> bool:
    return s.hints(_FILTER_WORD) or (s.status in {None, 400, 403, 451} and s.says(_FILTER_TEXT))


def _is_failed_call(s: _Signals) -> bool:
    return s.has("tool_use_failed")


def _is_too_large(s: _Signals) -> bool:
    """A request no wait makes smaller, though some vendors call it a rate limit.

    A 413 without a word is how Cerebras says that the context is full.
    """
    if s.has("request_too_large"):
        return True
    if s.status == 413:
        return bool(s.text) and not (s.hints(_OVERFLOW_WORD) or s.says(_OVERFLOW_TEXT))
    return s.says(_TOO_LARGE_TEXT)


def _is_overflow(s: _Signals) -> bool:
    if s.hints(_OVERFLOW_WORD) or s.status == 413:
        return True
    return s.status in {None, 400, 422, 500} and s.says(_OVERFLOW_TEXT)


def _is_auth(s: _Signals) -> bool:
    if s.status == 401 or s.hints(_AUTH_WORD):
        return not s.hints(_QUOTA_WORD)
    return s.status in {None, 400, 403} and s.says(_AUTH_TEXT)


def _is_quota(s: _Signals) -> bool:
    """Nothing but money, or tomorrow, helps; a limit that passes by itself is a rate limit."""
    if s.status == 402 or s.hints(_QUOTA_WORD) or s.says(_QUOTA_TEXT):
        return True
    if "perday" in s.quotas and "perminute" not in s.quotas:
        return True
    if not (s.says(_PLAN_TEXT) or s.hints(_PLAN_WORD)):
        return False
    return s.wait is None and not s.says(_RATE_TEXT) and "perminute" not in s.quotas


def _is_busy(s: _Signals) -> bool:
    if s.status in {498, 529} or s.hints(_BUSY_WORD):
        return True
    return (s.status is None or s.status in {429, 498} or s.status >= 500) and s.says(_BUSY_TEXT)


def _is_rate_limit(s: _Signals) -> bool:
    if s.status is None:
        return s.hints(_RATE_WORD) or s.says(_RATE_SAID)
    return s.status == 429 or s.hints(_RATE_WORD)


def _is_not_found(s: _Signals) -> bool:
    if s.status in {404, 405, 410} or s.hints(_MISSING_WORD):
        return True
    return s.status in {None, 400, 422} and s.says(_MISSING_TEXT)


def _is_forbidden(s: _Signals) -> bool:
    if s.status is None and s.hints(_FORBIDDEN_WORD):
        return True
    return s.status == 403 or (s.status in {None, 400, 451} and s.says(_FORBIDDEN_TEXT))


def _is_timeout(s: _Signals) -> bool:
    return s.status == 408 or (s.status is None and s.hints(_TIMEOUT_WORD))


def _is_server_error(s: _Signals) -> bool:
    if s.status is None:
        return not s.hints(_INVALID_WORD) or s.hints(_BROKEN_WORD)
    return s.status in {409, 425, 499} or s.status >= 500


def _is_anything(_: _Signals) -> bool:
    return True


_RULES: Sequence[tuple[ErrorKind, Callable[[_Signals], bool]]] = (
    (ErrorKind.CONTENT_FILTER, _is_filtered),
    (ErrorKind.TOOL_USE_FAILED, _is_failed_call),
    (ErrorKind.REQUEST_TOO_LARGE, _is_too_large),
    (ErrorKind.CONTEXT_OVERFLOW, _is_overflow),
    (ErrorKind.AUTH, _is_auth),
    (ErrorKind.QUOTA_EXHAUSTED, _is_quota),
    (ErrorKind.OVERLOADED, _is_busy),
    (ErrorKind.RATE_LIMIT, _is_rate_limit),
    (ErrorKind.NOT_FOUND, _is_not_found),
    (ErrorKind.PERMISSION, _is_forbidden),
    (ErrorKind.TIMEOUT, _is_timeout),
    (ErrorKind.SERVER_ERROR, _is_server_error),
    (ErrorKind.INVALID_REQUEST, _is_anything),
)
