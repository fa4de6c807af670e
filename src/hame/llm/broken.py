"""Failures of an answer that no provider worded: it was cut, leads elsewhere, or is no answer at all."""

from collections.abc import Mapping

from hame.base.errors import ErrorKind, Failure
from hame.base.message import StopReason
from hame.llm.errorbody import one_line

CUT_SHORT = frozenset({
    StopReason.MAX_TOKENS,
    StopReason.CONTEXT_FULL,
    StopReason.CONTENT_FILTER,
    StopReason.REFUSAL,
})
"""Ends that the model did not choose: a call whose arguments had not begun by then is no whole one."""


def cut_stream(provider: str, *, mid_stream: bool) -> Failure:
    """The body ended before the answer did."""
    what = "broke off in the middle of its answer" if mid_stream else "closed without an answer"
    return Failure(
        kind=ErrorKind.NETWORK,
        message=f"{provider or 'The provider'} {what}.",
        hint="Try again; if it stays, check the network connection and any proxy in between.",
        provider=provider,
        retryable=True,
        mid_stream=mid_stream,
    )


def not_an_answer(provider: str, said: str, *, mid_stream: bool = False) -> Failure:
    """The body is not what the wire speaks: an HTML page, broken JSON, an endless event."""
    return Failure(
        kind=ErrorKind.PROTOCOL,
        message=f"{provider or 'The provider'} sent something that is not an answer.",
        hint="Check that the provider's base URL and wire are right; a proxy may stand in between.",
        provider=provider,
        said=one_line(said),
        retryable=mid_stream,
        mid_stream=mid_stream,
    )


def redirected(status: int, headers: Mapping[str, str], provider: str = "") -> Failure:
    """The server wants to be asked elsewhere; a key was not given for that place."""
    who, place = provider or "The server", headers.get("location", "another address")
    return Failure(
        kind=ErrorKind.NOT_FOUND,
        message=f"{who} sends requests on to {place}, which hame does not follow with a key.",
        hint="Set the provider's base URL to where it redirects.",
        provider=provider,
        status=status,
    )
