"""A request to the public web and its answer; pure data."""

import msgspec


class WebRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask, and how much of an answer is wanted."""

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    max_bytes: int = 5_000_000
    """Of the body; the rest is not read."""
    timeout_s: float = 30.0
    """For all of it, redirects included."""


class WebResponse(msgspec.Struct, frozen=True, kw_only=True):
    """What was answered."""

    url: str
    """Where it came from in the end."""
    status: int
    headers: tuple[tuple[str, str], ...]
    """Names in lower case."""
    body: bytes
    cut: bool = False
    """The body goes on after what was read."""
    elsewhere: str = ""
    """Another host that the answer points to; it was not followed."""

    def header(self, name: str) -> str:
        """A header's value; empty without one."""
        return next((value for each, value in self.headers if each == name), "")
