"""Which machines a confined program may talk to: how they are written, and what a writing covers.

An entry is a name (`example.org`), all names below one (`*.example.org`), an IPv4 address or an IPv6
address in brackets; a port may follow (`example.org:8443`). Without one it stands for the ports of http
and https. A name is ASCII as resolvers know it: nothing is decoded, cut or put right, so that nobody can
read an entry in another way than the one who granted it.

Names: https://www.rfc-editor.org/rfc/rfc1123#section-2.1. A last label that is a number would be taken
for an address by some: https://url.spec.whatwg.org/#ends-in-a-number-checker.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

USUAL_PORTS = frozenset({80, 443})
"""What an entry without a port stands for."""

_LONGEST = 300
_LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
_NAME = re.compile(rf"(?=[a-z0-9.-]{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_BRACKETED = re.compile(r"\[(?=[0-9.]*[a-f:])([0-9a-f:.]{2,45})\](?::(.*))?", re.DOTALL)


class HostEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Machines that one entry stands for."""

    name: str
    """A name in lower case, or an address in its usual writing, without brackets."""
    port: int | None = None
    """The only port; None: those of http and https."""
    below: bool = False
    """All names below `name`, and not itself."""
    is_address: bool = False

    @property
    def text(self) -> str:
        """The entry in its one writing."""
        name = f"[{self.name}]" if ":" in self.name else self.name
        port = "" if self.port is None else f":{self.port}"
        return f"{'*.' if self.below else ''}{name}{port}"

    @property
    def is_this_machine(self) -> bool:
        """Whether it can only mean the machine it is looked up on."""
        if self.is_address:
            from ipaddress import ip_address

            return ip_address(self.name).is_loopback
        return self.name == "localhost" or self.name.endswith(".localhost")

    @property
    def ports(self) -> frozenset[int]:
        """The ports it stands for."""
        return USUAL_PORTS if self.port is None else frozenset({self.port})


@lru_cache(maxsize=1024)
def read_host(text: str) -> HostEntry:
    """Read an entry.

    Raises:
        ValueError: if it is none, or could be read in more than one way; the words say why.
    """
    if len(text) > _LONGEST or not text.isascii():
        raise ValueError("a host is written in ASCII, with at most 253 characters")
    # Of ASCII only: elsewhere other letters become ASCII ones in lower case.
    lower = text.lower()
    if match := _BRACKETED.fullmatch(lower):
        return HostEntry(name=_address(match[1]), port=_port(match[2]), is_address=True)
    name, colon, port = lower.partition(":")
    below = name.startswith("*.")
    name = name.removeprefix("*.")
    if not _NAME.fullmatch(name):
        raise ValueError("a host consists of letters, digits and hyphens, with dots between")
    entry = HostEntry(name=name, port=_port(port if colon else None), below=below)
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        if below:
            raise ValueError("nothing lies below an address")
        return msgspec.structs.replace(entry, name=_address(name), is_address=True)
    if below and "." not in name:
        raise ValueError(f"*.{name} would be far too many machines; name at least two parts")
    return entry


def covers(pattern: str, host: str) -> bool:
    """Whether all that `host` stands for is among what `pattern` stands for; both are entries.

    What is no entry covers nothing and is covered by nothing.
    """
    try:
        wide, narrow = read_host(pattern), read_host(host)
    except ValueError:
        return False
    if not narrow.ports <= wide.ports:
        return False
    if not wide.below:
        return not narrow.below and narrow.name == wide.name
    return narrow.name.endswith(f".{wide.name}") or (narrow.below and narrow.name == wide.name)


def write_host(name: str, port: int) -> str:
    """The smallest entry that covers a port of a machine, as it would be granted.

    The name is an address without brackets, or a name. Of this machine one port is granted at a time.

    Raises:
        ValueError: if the name is none.
    """
    entry = read_host(f"[{name}]:{port}" if ":" in name else f"{name}:{port}")
    if port in USUAL_PORTS and not entry.is_this_machine:
        entry = msgspec.structs.replace(entry, port=None)
    return entry.text


def narrow(hosts: Iterable[str], limit: Iterable[str]) -> tuple[str, ...]:
    """What both lists of entries cover, as entries."""
    mine, theirs = tuple(hosts), tuple(limit)
    kept = [host for host in mine if any(covers(each, host) for each in theirs)]
    kept += [host for host in theirs if any(covers(each, host) for each in mine)]
    return tuple(dict.fromkeys(kept))


def _address(text: str) -> str:
    """An address in its usual writing.

    Raises:
        ValueError: if it is written in another way, or no machine has it.
    """
    from ipaddress import ip_address

    try:
        address = ip_address(text)
    except ValueError as error:
        raise ValueError("an address is written as four numbers, or as IPv6 in brackets") from error
    if address.is_unspecified or address.is_multicast:
        raise ValueError(f"{address} is the address of no single machine")
    return str(address)


def _port(text: str | None) -> int | None:
    """A port.

    Raises:
        ValueError: if it is none.
    """
    if text is None:
        return None
    if not _PORT.fullmatch(text) or int(text) > 65_535:
        raise ValueError("a port is a number from 1 to 65535")
    return int(text)


# ---------------------------------------------------------------- hosts that go together

_TOGETHER: tuple[tuple[str, ...], ...] = (
    ("pypi.org", "files.pythonhosted.org"),
    ("index.crates.io", "static.crates.io"),
    ("proxy.golang.org", "sum.golang.org"),
    ("rubygems.org", "index.rubygems.org"),
    ("repo.maven.apache.org", "repo1.maven.org"),
    ("plugins.gradle.org", "plugins-artifacts.gradle.org"),
    ("services.gradle.org", "downloads.gradle.org"),
    ("deb.debian.org", "security.debian.org"),
    ("archive.ubuntu.com", "security.ubuntu.com"),
    ("repo.hex.pm", "builds.hex.pm"),
    ("registry-1.docker.io", "auth.docker.io", "production.cloudflare.docker.com"),
    ("jsr.io", "npm.jsr.io"),
)
"""Index and files of one source: useless without each other, and reading is all they are for."""
_BRINGS: dict[str, tuple[str, ...]] = {
    "github.com": (
        "codeload.github.com", "objects.githubusercontent.com",
        "release-assets.githubusercontent.com",
    ),
    "registry.yarnpkg.com": ("registry.npmjs.org",),
    "repo.packagist.org": ("packagist.org", "api.github.com", "codeload.github.com"),
    "ghcr.io": ("pkg-containers.githubusercontent.com",),
    "huggingface.co": (
        "cdn-lfs.huggingface.co", "cdn-lfs.hf.co", "cas-bridge.xethub.hf.co",
        "cas-server.xethub.hf.co",
    ),
    "registry.terraform.io": ("releases.hashicorp.com",),
    "cdn.playwright.dev": ("playwright.download.prss.microsoft.com",),
}  # fmt: skip
"""Where a host sends its clients for files; those alone do not bring the host, which may do more."""


def companions(host: str) -> tuple[str, ...]:
    """Hosts that are of no use apart from this one: who grants it means them too.

    None for a host with a port of its own, a pattern, or what is no entry.
    """
    try:
        entry = read_host(host)
    except ValueError:
        return ()
    if entry.below or entry.port not in {None, 443}:
        return ()
    groups = [group for group in _TOGETHER if entry.name in group]
    found = [each for group in groups for each in group if each != entry.name]
    return (*found, *_BRINGS.get(entry.name, ()))
