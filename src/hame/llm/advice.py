"""What a person is told about a failure, and what they can do about it: one line each."""

import math
import re

from msgspec.structs import replace

from hame.base.errors import ErrorKind, Failure

_VERSION = re.compile(r"/v\d\w*(?=/|$)")
_LOGIN = re.compile(r"//[^/]*@")
_MODEL = re.compile(r"model|deployment", re.IGNORECASE)


def explain(
    kind: ErrorKind, provider: str, status: int | None, wait_s: float | None
) -> tuple[str, str]:
    """The message and the hint for a failure of that kind."""
    who = provider or "The provider"
    message, hint = _WORDS[kind]
    code = f" (HTTP {status})" if status else ""
    if kind in {ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED} and wait_s:
        hint = f"Wait {spoken(wait_s)}, or choose another model with --model."
    return message.format(who=who) + code + ".", hint


def located(failure: Failure, url: str) -> Failure:
    """The failure, telling an unknown model from an address where no such service is.

    Most servers whose users leave `/v1` out of the base URL, or write it twice, answer 404.
    """
    redirected = failure.status is not None and failure.status < 400
    if failure.kind is not ErrorKind.NOT_FOUND or redirected or _MODEL.search(failure.said):
        return failure
    address = _LOGIN.sub("//", url.partition("?")[0])
    versions = _VERSION.findall(address)
    hint = "Check the provider's base URL, and the model's name with `hame models`."
    if not versions:
        hint = f"The base URL may lack its /v1. {hint}"
    elif len(versions) > len(set(versions)):
        hint = f"The base URL holds {versions[0]} already; leave it out there. {hint}"
    who = failure.provider or "The provider"
    code = f" (HTTP {failure.status})" if failure.status else ""
    return replace(failure, message=f"{who} has nothing at {address}{code}.", hint=hint)


def held(failure: Failure, place: str) -> Failure:
    """The failure, telling where the key is that was refused."""
    return replace(failure, hint=f"Check the key of {place}: is it whole, and for this service?")


def spoken(seconds: float) -> str:
    """A wait in words: whole seconds, rounded up; milliseconds below one second."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)} ms"
    whole = math.ceil(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    parts = [(hours, "h"), (minutes, "min"), (rest, "s")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


_WORDS: dict[ErrorKind, tuple[str, str]] = {
    ErrorKind.AUTH: (
        "{who} did not accept the API key",
        "Check the key for this provider (its environment variable or api_key setting) and its base URL.",
    ),
    ErrorKind.PERMISSION: (
        "{who} does not let this key do that",
        "Give the key or project access to this model, or choose another with --model.",
    ),
    ErrorKind.NOT_FOUND: (
        "{who} does not know this model or address",
        "Check the model's name with `hame models` and the provider's base URL.",
    ),
    ErrorKind.CONTEXT_OVERFLOW: (
        "The conversation is longer than the model's context window, says {who}",
        "Shorten the conversation or start a new one, or choose a model with a larger window.",
    ),
    ErrorKind.REQUEST_TOO_LARGE: (
        "The request is too large for {who}",
        "Leave out images or large files, lower the output limit, or start a new conversation.",
    ),
    ErrorKind.INVALID_REQUEST: (
        "{who} refused the request as invalid",
        "See the provider's words; another model (--model) may accept it.",
    ),
    ErrorKind.RATE_LIMIT: (
        "{who} limits how often it may be asked, and the limit is reached",
        "Wait a little and try again, or choose another model with --model.",
    ),
    ErrorKind.QUOTA_EXHAUSTED: (
        "The credit or quota with {who} is used up",
        "Check the plan and billing with the provider, or choose another with --model.",
    ),
    ErrorKind.OVERLOADED: (
        "{who} is overloaded",
        "Try again in a moment, or choose another model with --model.",
    ),
    ErrorKind.SERVER_ERROR: (
        "{who} had an error of its own",
        "Try again; if it stays, look at the provider's status page or choose another model.",
    ),
    ErrorKind.CONTENT_FILTER: (
        "{who} blocked the request with its content filter",
        "Rephrase the request, or choose another model with --model.",
    ),
    ErrorKind.TOOL_USE_FAILED: (
        "The model wrote a tool call that {who} refused",
        "Ask again; if it stays, choose a model that is better at calling tools.",
    ),
    ErrorKind.NETWORK: (
        "The connection to {who} broke",
        "Check the network connection and the provider's base URL, then try again.",
    ),
    ErrorKind.TIMEOUT: (
        "{who} took too long to answer",
        "Try again, or raise --first-byte-timeout and --idle-timeout for a slow model.",
    ),
    ErrorKind.PROTOCOL: (
        "{who} sent something that is not an answer",
        "Check that the provider's base URL and wire are right.",
    ),
    ErrorKind.UNKNOWN: (
        "{who} answered in a way hame does not know",
        "Try again, and check the provider's base URL.",
    ),
}
