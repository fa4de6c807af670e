"""Where a URL of a model's leads: read strictly, so that nobody can read it in another way.

A host is an address in its usual writing or a name of letters, digits, dots and hyphens. Numbers that
some resolvers take for an address (`2130706433`, `0x7f.1`), names with a user before them, escapes and
control characters are refused.
"""

import re
from urllib.parse import SplitResult, urlsplit, urlunsplit

import msgspec

from hame.base.errors import ToolError
from hame.net.addresses import read_address

_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_LONGEST = 8_000
_PORTS = {"http": 80, "https": 443}


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """A checked URL."""

    url: str
    """As it will be asked: ASCII only, without a fragment."""
    scheme: str
    host: str
    """A name in lower case and ASCII, or an address."""
    port: int

    @property
    def origin(self) -> str:
        """Scheme, host and port; what a permission is for."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == _PORTS[self.scheme]
        return f"{self.scheme}://{shown}" + ("" if usual else f":{self.port}")


def read_destination(url: str) -> Destination:
    """Where a URL leads.

    Raises:
        ToolError: when it is no http or https URL, or can be read in more than one way.
    """
    if len(url) > _LONGEST:
        raise ToolError(f"the URL has more than {_LONGEST:,} characters")
    if _FORBIDDEN.search(url):
        raise ToolError("the URL holds a blank, a backslash or a control character; encode it")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ToolError(f"the URL cannot be read: {error}") from error
    if parts.scheme not in _PORTS:
        raise ToolError("only http and https URLs can be asked")
    if "@" in parts.netloc:
        raise ToolError("a URL with a user name before the host is not asked")
    host = _host(parts)
    whole = f"[{host}]" if ":" in host else host
    usual = port in {None, _PORTS[parts.scheme]}
    netloc = whole if usual else f"{whole}:{port}"
    clean = urlunsplit((parts.scheme, netloc, _ascii(parts.path) or "/", _ascii(parts.query), ""))
    return Destination(url=clean, scheme=parts.scheme, host=host, port=port or _PORTS[parts.scheme])


def _host(parts: SplitResult) -> str:
    """The host of a URL as everybody reads it.

    Raises:
        ToolError: when there is none, or it can be read in more than one way.
    """
    given = parts.hostname or ""
    if not given or "%" in given:
        raise ToolError("the URL has no host, or one with an escape in it")
    address = read_address(given)
    if address is not None:
        return str(address)
    try:
        name = given.rstrip(".").encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise ToolError(f"the host {given!r} is no name of the internet") from error
    # What was written in other digits may be an address only now.
    address = read_address(name)
    if address is not None:
        return str(address)
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise ToolError(f"the host {given!r} is no name of the internet")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        raise ToolError(f"the host {given!r} is a number; write an address as four numbers")
    return name


def _ascii(text: str) -> str:
    from urllib.parse import quote

    return text if text.isascii() else quote(text, safe="/%?&=+:;,@!$'()*~#[]")
