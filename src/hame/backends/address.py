"""Addresses as people write them -> base URLs as the wires want them."""

from urllib.parse import urlsplit

from hame.base.model import Vendor

_CALLS = ("/chat/completions", "/completions", "/responses", "/messages", "/models")
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
    if "://" not in address:
        address = _with_scheme(address, vendor)
    parts = urlsplit(address)
    if not parts.path.strip("/") and vendor.base_path:
        address = address.rstrip("/") + vendor.base_path
    return address.rstrip("/")


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
