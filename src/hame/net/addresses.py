"""Which addresses belong to the public network.

Everything else is refused: this machine, private and link-local networks, the metadata services of
clouds, and addresses that carry one of those inside (IPv4 in IPv6, by mapping or translation).

Registries: https://www.iana.org/assignments/iana-ipv4-special-registry and the same for ipv6.
"""

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_REFUSED_V4: tuple[IPv4Network, ...] = tuple(
    IPv4Network(each)
    for each in (
        "0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32",
    )
)  # fmt: skip
"""Beyond what Python counts as not global: this network, carrier NAT, a relay, Azure's own service."""
_TRANSLATED = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_REFUSED_V6: tuple[IPv6Network, ...] = tuple(
    IPv6Network(each)
    for each in (
        "::/96", "64:ff9b:1::/48", "2001::/23", "3fff::/20", "5f00::/16", "fec0::/10",
    )
)  # fmt: skip
"""IPv4-compatible, local translation, protocol assignments (Teredo among them), documentation, ..."""


_PRIVATE: tuple[IPv4Network | IPv6Network, ...] = (
    IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"),
    IPv4Network("100.64.0.0/10"), IPv6Network("fc00::/7"),
)  # fmt: skip
"""Of companies, homes and VPNs: RFC 1918, RFC 4193, and RFC 6598, which VPNs use as well."""
_METADATA = (IPv4Address("100.100.100.200"), IPv6Address("fd00:ec2::254"))
"""Services of clouds that give out keys, at addresses of private networks."""


def is_private(address: Address) -> bool:
    """Whether it is an ordinary machine of a private network, and not this one."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    inside = any(address in network for network in _PRIVATE if network.version == address.version)
    return inside and address not in _METADATA


def is_public(address: Address) -> bool:
    """Whether an address is one of the public network, whatever it carries inside."""
    if isinstance(address, IPv6Address):
        return _is_public_v6(address)
    return _is_ordinary(address) and not any(address in network for network in _REFUSED_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _TRANSLATED:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if address in _SIX_TO_FOUR:
        return is_public(IPv4Address((int(address) >> 80) & 0xFFFFFFFF))
    if address.scope_id is not None or any(address in network for network in _REFUSED_V6):
        return False
    return _is_ordinary(address)


def _is_ordinary(address: Address) -> bool:
    special = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not special and not address.is_link_local


def read_address(host: str) -> Address | None:
    """The address that a host is written as; None for a name."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None
