"""What went wrong on the way to a server, told apart by its cause."""

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit

from hame.base.errors import ErrorKind, Failure
from hame.net.proxies import is_this_machine

_UNREACHABLE = frozenset({
    errno.ENETUNREACH,
    errno.EHOSTUNREACH,
    errno.ENETDOWN,
    errno.EHOSTDOWN,
    errno.ETIMEDOUT,
})


def connection_failure(error: Exception, url: str, *, proxy: str | None = None) -> Failure:
    """The failure of a connection to the server of `url`, with what a person can do about it."""
    causes = list(_causes(error))
    place = origin_of(proxy or url)
    local = is_this_machine(urlsplit(url).hostname or "")
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return _tls_fault(cause, place)
        if proxy and isinstance(cause, socket.gaierror | ConnectionRefusedError):
            return _no_proxy(place)
        if isinstance(cause, socket.gaierror):
            return _name_fault(cause, place)
        if isinstance(cause, ConnectionRefusedError):
            return _refused(place, local=local)
        if isinstance(cause, OSError) and cause.errno in _UNREACHABLE:
            return network_failure(
                f"{place} cannot be reached: {cause.strerror or cause}.",
                "Check the network connection, and the proxy settings if you are behind one.",
            )
    if any(type(cause).__name__ == "ProxyError" for cause in causes):
        return network_failure(
            f"The proxy {place} refused the connection: {error}.",
            "Check the proxy's address, user name and password.",
            retryable=False,
        )
    return network_failure(
        f"The connection to {place} was closed before the answer was complete.",
        "Try again; if it stays, check the network connection and any proxy in between.",
    )


def network_failure(message: str, hint: str, *, retryable: bool = True) -> Failure:
    """A failure of kind network."""
    return Failure(kind=ErrorKind.NETWORK, message=message, hint=hint, retryable=retryable)


def timeout_failure(phase: str, seconds: float, url: str) -> Failure:
    """Too long a wait; `phase` is `connect`, `sending`, `first_byte`, `idle` or `total`."""
    place = origin_of(url)
    message, hint = {
        "connect": (
            f"{place} could not be connected to within {seconds:g} s.",
            "Check the network connection and the address, and the proxy if you are behind one.",
        ),
        "sending": (
            f"{place} took no more of the request for {seconds:g} s.",
            "Try again; if it stays, check the network connection.",
        ),
        "first_byte": (
            f"{place} sent nothing for {seconds:g} s.",
            "Try again; for a model that is slow to begin, raise --first-byte-timeout.",
        ),
        "idle": (
            f"{place} fell silent for {seconds:g} s in the middle of its answer.",
            "Try again; for a model that pauses long, raise --idle-timeout.",
        ),
        "total": (
            f"The answer of {place} took longer than {seconds:g} s.",
            "Ask for less at once, or choose a faster model.",
        ),
    }[phase]
    return Failure(kind=ErrorKind.TIMEOUT, message=message, hint=hint, retryable=phase != "total")


def request_failure(reason: str, url: str) -> Failure:
    """A request that cannot be sent as it is."""
    return Failure(
        kind=ErrorKind.INVALID_REQUEST,
        message=f"The request to {origin_of(url)} cannot be sent: {reason}.",
        hint="Check the base URL, and the API key for spaces, line breaks and odd characters.",
    )


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL: no path, no query, no credentials."""
    parts = urlsplit(url)
    host = parts.hostname or url
    shown = f"[{host}]" if ":" in host else host
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.scheme}://{shown}{port}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from, groups taken apart; the deepest cause counts as well."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        found = waiting.pop(0)
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        if isinstance(found, BaseExceptionGroup):
            waiting.extend(cast("BaseExceptionGroup[BaseException]", found).exceptions)
        waiting.extend((found.__cause__, found.__context__))


def _tls_fault(error: ssl.SSLError, place: str) -> Failure:
    if isinstance(error, ssl.SSLCertVerificationError):
        return network_failure(
            f"The certificate of {place} is not trusted: {error.verify_message}.",
            "Behind a company proxy, name its PEM file in the ca_file setting; else check the address.",
            retryable=False,
        )
    reason: object = getattr(error, "reason", None) or error
    return network_failure(
        f"{place} does not speak TLS as it should: {reason}.",
        "Check whether the base URL should begin with http:// instead of https://.",
        retryable=False,
    )


def _name_fault(error: socket.gaierror, place: str) -> Failure:
    return network_failure(
        f"The address of {place} cannot be found: {error.strerror or error}.",
        "Check the spelling of the base URL and the network connection.",
        retryable=error.errno == socket.EAI_AGAIN,
    )


def _no_proxy(place: str) -> Failure:
    return network_failure(
        f"The proxy {place} cannot be reached.",
        "Check the setting `proxy`, or HTTPS_PROXY and its like; NO_PROXY names what needs none.",
        retryable=False,
    )


def _refused(place: str, *, local: bool) -> Failure:
    if local:
        return network_failure(
            f"Nothing is listening at {place}.",
            "Start the server there, or check the base URL and its port.",
            retryable=False,
        )
    return network_failure(
        f"{place} refused the connection.",
        "Check the base URL and its port; the server may be down.",
    )
