"""Reply: how a scripted server answers one request, and the ways in which it can go wrong."""

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from hame.base.json import JsonObject
from hame.base.message import Assistant, ToolCall
from hame.testing.script import answer, call

BEFORE_HEAD = -1
Place: TypeAlias = int | str
"""Where something happens to a response: after so many bytes of its body (at its length, everything was
sent but the mark of its end), before the piece in which these words are said, or `BEFORE_HEAD`."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One response."""

    answer: Assistant = Assistant(())
    status: int = 200
    """From 400 on, the wire's error body with `message` is sent instead of the answer."""
    message: str = "The scripted server says no."
    headers: tuple[tuple[str, str], ...] = ()
    """Added to the response; a Content-Type replaces the usual one."""
    body: bytes | None = None
    """Sent as it is, in place of everything else."""
    whole: bool | None = None
    """One JSON body instead of a stream; None: as the request asks."""
    drop_at: Place | None = None
    """Where the connection is cut."""
    hang_at: Place | None = None
    """Where the server falls silent, until the client leaves."""
    chunk: int | None = None
    """Bytes of one write; None: a frame of the wire at a time."""
    delay_s: float = 0.0
    """Seconds between two writes."""


class Received(msgspec.Struct, kw_only=True):
    """One request as it arrived, and what became of it."""

    method: str
    path: str
    """Without the query."""
    query: str
    headers: dict[str, str]
    """Names in lower case."""
    raw: bytes
    body: JsonObject
    """Empty when it was no JSON object."""
    wire: str | None
    """Which wire it asks for an answer on; None: it is no question to a model."""
    connection: int
    """Number of the connection it came on, from 1."""
    kept: float | None = None
    """Share, 0 to 1, of the question before it that it begins with, in the order in which providers
    cache (tools, system, messages; cache marks left out); None for the first."""
    over: bool = False
    """Everything that was to be sent was sent, or the client has left."""
    abandoned: bool = False
    """The client left before the answer was over."""


def status(
    code: int,
    message: str = "The scripted server says no.",
    *,
    retry_after: float | str | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    body: bytes | None = None,
) -> Reply:
    """An error status, with the wire's usual body or with this one."""
    if retry_after is not None:
        headers = (*headers, ("Retry-After", str(retry_after)))
    return Reply(status=code, message=message, headers=headers, body=body)


def drop_before() -> Reply:
    """The connection is cut before any byte of the response."""
    return Reply(drop_at=BEFORE_HEAD)


def drop(said: Assistant, at: Place) -> Reply:
    """The connection is cut there."""
    return Reply(answer=said, drop_at=at)


def hang() -> Reply:
    """No byte of a response ever comes."""
    return Reply(hang_at=BEFORE_HEAD)


def hang_mid(said: Assistant, at: Place) -> Reply:
    """Silence from there on."""
    return Reply(answer=said, hang_at=at)


def slow(said: Assistant, delay_s: float) -> Reply:
    """A pause before each piece after the first."""
    return Reply(answer=said, delay_s=delay_s)


def in_bytes(said: Assistant, size: int = 1) -> Reply:
    """In writes of so many bytes, whatever they cut through."""
    return Reply(answer=said, chunk=size)


def empty() -> Reply:
    """A well-formed answer with nothing in it."""
    return Reply()


def bad_json(tool: str, text: str = '{"path": "a') -> Reply:
    """A call whose arguments are not JSON."""
    return Reply(answer=answer(ToolCall(id="", name=tool, arguments=None, malformed=text)))


def bad_arguments(tool: str) -> Reply:
    """A call without any arguments."""
    return Reply(answer=answer(call(tool)))


def unknown_tool(tool: str = "no_such_tool", **arguments: object) -> Reply:
    """A call of a tool that there is not."""
    return Reply(answer=answer(call(tool, **arguments)))


Plain: TypeAlias = Reply | Assistant | str
Scripted: TypeAlias = Plain | Callable[[Received], Plain]
"""A reply, a whole answer, its text alone, or a function that makes one from the request."""
Page: TypeAlias = Reply | Callable[[Received], Reply]
"""What answers a request that is no question to a model."""


def as_reply(step: Plain) -> Reply:
    """The reply that a step of a script stands for."""
    match step:
        case Reply():
            return step
        case Assistant():
            return Reply(answer=step)
        case str():
            return Reply(answer=answer(step))
