"""Addresses as people write them -> base URLs as the wires want them, and where they may lead."""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from hame.base.errors import ConfigError
from hame.base.model import Vendor

_CALLS = ("/chat/completions", "/completions", "/responses", "/messages", "/models")
_PLACEHOLDER = re.compile(r"\{([A-Z_]+)\}")
_NEAR_ENDS = (".local", ".lan", ".internal", ".home", ".home.arpa", ".intranet", ".corp")
"""How names end that no public server has."""
_EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - read, never bound


def complete_address(given: str, vendor: Vendor) -> str:
    """The base URL a user means.

    A pasted path of a call and a final slash are cut off; an address without any path gets the
    vendor's. `OLLAMA_HOST` and its like may leave out the scheme and the port, and may name the
    address that a server listens on (0.0.0.0), which is reached at 127.0.0.1.
    """
    address = given.strip().rstrip("/")
    for call in _CALLS:
        address = address.removesuffix(call)
    try:
        if "://" not in address:
            address = _with_scheme(address, vendor)
        bare = not urlsplit(address).path.strip("/")
    except ValueError:
        return address  # It is none: `check_address` says so when it is to be used.
    if bare and vendor.base_path:
        address = address.rstrip("/") + vendor.base_path
    return address.rstrip("/")


def split_query(given: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """An address without what follows its path, and its query (`?api-version=...`)."""
    address, _, query = given.partition("#")[0].partition("?")
    return address, tuple(parse_qsl(query, keep_blank_values=True))


def with_query(base_url: str, query: Sequence[tuple[str, str]]) -> str:
    """Both as one address again."""
    return f"{base_url}?{urlencode(query)}" if query else base_url


def placed_address(vendor: Vendor, environment: Mapping[str, str]) -> str:
    """The vendor's address for a user whose place is told by variables (Vertex: project, location)."""
    for template in vendor.places:
        names = _PLACEHOLDER.findall(template)
        values = {name: environment.get(name, "").strip() for name in names}
        if all(values.values()):
            # https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations: the location
            # "global" has no host of its own.
            return template.format(**values).replace("//global-", "//")
    return vendor.base_url


def origin_of(url: str) -> str:
    """`scheme://host[:port]`, in lower case and without the scheme's own port; what is no address stays."""
    try:
        parts = urlsplit(url)
        number = parts.port
    except ValueError:
        return url
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    usual = {"http": 80, "https": 443}.get(scheme)
    port = "" if number in {None, usual} else f":{number}"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}{port}"


def placed_at(url: str, host: str) -> str:
    """The origin with another host."""
    scheme, _, rest = origin_of(url).partition("://")
    port = rest.rpartition(":")[2] if rest.rpartition("]")[2].count(":") else ""
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}{f':{port}' if port else ''}"


class Reach(Enum):
    """How far away a host is, as far as its name tells."""

    HERE = "this machine"
    NEAR = "a private network"
    UNTOLD = "a name that does not say"
    PUBLIC = "a public address"


def reach_of(host: str) -> Reach:
    """How far away a host is; nothing is looked up."""
    host = host.lower().rstrip(".")
    if host in {"127.0.0.1", "::1", "localhost"} or host.endswith(".localhost"):
        return Reach.HERE
    import ipaddress  # Most requests go to https, whose hosts nobody asks about.

    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        near = "." not in host or host.endswith(_NEAR_ENDS)
        return Reach.NEAR if near else Reach.UNTOLD
    if address.is_loopback:
        return Reach.HERE
    shared = address.version == 4 and address in ipaddress.ip_network("100.64.0.0/10")
    return Reach.NEAR if address.is_private or address.is_link_local or shared else Reach.PUBLIC


def check_address(base_url: str, provider: str, *, allow_http: bool) -> None:
    """See that requests may go to an address: by https anywhere, by http only nearby.

    Raises:
        ConfigError: if they may not, with the remedy.
    """
    parts = _parts_of(base_url)
    if parts is None:
        raise ConfigError(
            f"{base_url!r} is no address of a server",
            hint="An address begins with https:// or http:// and a host.",
        )
    if parts.username or parts.password:
        raise ConfigError(
            f"the address of {provider} holds a user name or a password",
            hint=f"Leave it out; hame auth add {provider} keeps a key where it belongs.",
        )
    if parts.scheme == "https" or parts.hostname is None:
        return
    reach = reach_of(parts.hostname)
    if reach in {Reach.HERE, Reach.NEAR} or (reach is Reach.UNTOLD and allow_http):
        return
    named = f" If {parts.hostname} is on a network of yours: hame config set "
    own = f"{named}providers.{provider}.allow_http true" if reach is Reach.UNTOLD else ""
    raise ConfigError(
        f"{base_url} is not encrypted: everybody on the way could read the key and the prompts",
        hint=f"Use https.{own}",
    )


def _parts_of(base_url: str) -> SplitResult | None:
    """The parts of an address that can be asked; None where it is none."""
    try:
        parts = urlsplit(base_url)
        there = parts.scheme in {"https", "http"} and parts.hostname and parts.port != 0
    except ValueError:
        return None
    odd = any(letter.isspace() or not letter.isprintable() for letter in base_url)
    return parts if there and not odd else None


def _with_scheme(address: str, vendor: Vendor) -> str:
    """A host and port as an http URL on this machine, an https URL elsewhere."""
    usual = urlsplit(vendor.base_url)
    parts = urlsplit(f"//{address}")
    host = parts.hostname or ""
    if host in _EVERYWHERE:
        host = "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    port = parts.port or (usual.port if vendor.local else None)
    scheme = "http" if vendor.local or parts.port else "https"
    return f"{scheme}://{shown}{f':{port}' if port else ''}{parts.path}"
