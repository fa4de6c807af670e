"""Machines that a program says it could not reach.

Written after what the usual tools print: resolvers, curl and what is built on it, the package managers of
the common languages, HTTP libraries, clients of databases, and shells.
"""

import re
from collections.abc import Callable, Iterator

from hame.base.hosts import read_host, write_host
from hame.sandbox.wording import Hit, Printed

_CERTAIN = re.compile(
    r"temporary failure in name resolution|name or service not known|nodename nor servname provided|"
    r"no address associated with hostname|name does not resolve|nxdomain|"
    r"temporary failure resolving|(?:could ?n[o']t|can(?:no|')t|unable to|failed to) (?:be )?(?:resolve|translate) "
    r"(?:host|proxy|name|address|dns|domain|['\"`])|unable to look up|"
    r"unknown ?host|unknown mysql server host|bad hostname|bad address '|failed host lookup|host not found|"
    r"EAI_AGAIN|EAI_NONAME|EAI_FAIL|\bENOTFOUND [\w.-]{1,200}\.|getaddrinfo ENOTFOUND|dns error|dns lookup error|"
    r"no such host|could not reach host|TemporaryNameServerFailure|ERR_NAME_NOT_RESOLVED|"
    r"no servers could be reached|network is unreachable|no route to host|network is down|ENETUNREACH|"
    r"EHOSTUNREACH|ERR_INTERNET_DISCONNECTED|ERR_ADDRESS_UNREACHABLE|"
    # Where the sandbox is Landlock's, it is the socket itself that is refused.
    r"\bdial (?:tcp|udp)[46]? [^\n]{0,300}\bsocket: operation not permitted|\bconnect EPERM \S{1,253}:\d|"
    r"/dev/(?:tcp|udp)/[\w.-]{1,253}/\d{1,5}: operation not permitted|urlopen error \[Errno 1\]",
    re.IGNORECASE,
)
"""What is only said where no name is resolved, or no network is there."""
_NO_SOCKET = re.compile(
    r"\blisten EPERM\b|\blisten (?:tcp|udp)[46]? [^\n]{0,300}\bsocket: operation not permitted|"
    r"\b_socket\.socket\.__init__\(self\b|\bsocketexception: operation not permitted|"
    r"\b(?:cannot|can't|could not|couldn't|failed to|unable to) (?:listen|bind|open (?:a )?socket|create (?:a )?socket)\b"
    r"[^\n]{0,300}\boperation not permitted|\boperation not permitted - (?:bind|listen|socket|connect)\(2\)",
    re.IGNORECASE,
)
"""What servers and their clients say of sockets that are refused to them altogether."""
_LIKELY = re.compile(
    r"(?:could ?n[o']t|can(?:no|')t|unable to|failed to) connect|connection refused|ECONNREFUSED|"
    r"attempts to connect to|error sending request for url|failed to open tcp connection|"
    r"connection failed for url|unable to load the service index|unable to download data from|"
    r"could not transfer|could not (?:get|head) 'https?:|failed retrieving file|temporary error \(try again|"
    r"available from the repositories|error connecting to|failed_connect|max retries exceeded|"
    r"failed to establish a new connection|tunnel connection failed: 403|unable to access 'https?:",
    re.IGNORECASE,
)
"""What is said for other reasons too: it counts for a machine that is named and was not granted."""

_QUOTE, _UNQUOTE = r"[\['\"`]?", r"[\]'\"`]?"
_HOST = (
    rf"(?P<quote>{_QUOTE})"
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,252}|(?<=\[)[0-9A-Fa-f:.]{2,45})"
    rf"(?![A-Za-z0-9_@-]|://){_UNQUOTE}"
)
_PORT = r"(?:(?: \([0-9a-f.:]{2,45}\))?(?::|/|,? \(?port[ =]{1,2})(?P<port>\d{1,5}))?"
_URL = re.compile(
    rf"\bhttps?://(?:[^\s/@'\"<>]{{1,100}}@)?{_HOST}(?::(?P<port>\d{{1,5}}))?", re.IGNORECASE
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # curl, cargo, wget, git, apt, urllib3, Postgres, bundler, telnet
        r"(?:could ?n[o']t|can(?:no|')t|unable to|failed to|failure) (?:be )?(?:resolv(?:e|ing)|look ?up|translate"
        r"|reach)(?: (?:the|proxy|remote|host|hostname|name|address|domain|dns|for)){0,3}:? " + _HOST + _PORT,
        # Node and its package managers
        r"\b(?:EAI_AGAIN|EAI_NONAME|EAI_FAIL|ENOTFOUND)(?P<sure>[ :]{1,2})" + _HOST + _PORT,
        # Go
        r"\blookup(?P<sure> )" + _HOST + r"(?= on |:)",
        # Java, MySQL, busybox, Perl, Dart
        r"(?:unknown ?host(?:exception)?|server host|bad address|bad hostname|host lookup)(?:: | |:)" + _HOST + _PORT,
        # urllib3, requests
        r"\bhost ?= ?(?P<sure>)" + _HOST + r", port=(?P<port>\d{1,5})",
        # ssh, aiohttp, Postgres, curl, Ruby, MySQL, redis, poetry, gh
        r"\bconnect(?:ion|ing)? (?:to|at) (?:(?:the )?(?:host|server|mysql|redis|on|at)(?P<sure> )){0,3}" + _HOST + _PORT,
        r"/dev/(?:tcp|udp)/(?P<sure>)" + _HOST + r"/(?P<port>\d{1,5})",
        # PHP, netcat
        r"\bgetaddrinfo for (?:host )?(?P<sure>)" + _HOST + r"(?: port (?P<port>\d{1,5}))?",
        # Erlang, Elixir
        r"\{:?to_address, ?\{(?:~c)?(?P<sure>)" + _HOST + r", ?(?P<port>\d{1,5})",
        # Node, Go
        r"\b(?:ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|connect EPERM) (?P<sure>)" + _HOST + r":(?P<port>\d{1,5})",
        r"\bdial (?:tcp|udp)[46]? (?P<sure>)" + _HOST + r":(?P<port>\d{1,5})",
    )
)  # fmt: skip
_BEFORE = re.compile(
    rf"(?:^|[\s(\[>'\"=]){_HOST}(?::(?P<port>\d{{1,5}}))?: (?:\[[^\]]{{0,30}}\] ?)?\Z"
)
"""`example.org: Temporary failure in name resolution`."""
_AFTER = re.compile(rf"\A \((?P<sure>){_HOST}:(?P<port>\d{{1,5}})\)")
"""`Name or service not known (api.nuget.org:443)`."""

_NO_NAMES = frozenset({
    "host",
    "hostname",
    "address",
    "name",
    "server",
    "proxy",
    "information",
    "the",
    "null",
})
_NO_MACHINE = re.compile(
    r"(?:error|exception|timeout|failure|warning|\.(?:py|js|mjs|cjs|ts|sh|rb|go|rs|c|php|pl|java|json|ya?ml|toml))\Z"
)
"""What stands before the words of an error as machines do: its class, or the program it is in."""
_FRAME = re.compile(r"^\s*(?:File \"|at )")
_NAME_SERVICE = 53
_NEVER = ".invalid"
"""What no machine is called: https://www.rfc-editor.org/rfc/rfc6761#section-6.4."""

_PIP = re.compile(r"pip\._vendor\.urllib3|\(from versions: none\)")
_PIP_ASKS = re.compile(r"Looking in indexes: (?:https?://)?([^/\s,@]{1,253})")
_PIP_INDEX = "pypi.org"
"""What pip asks unless it says otherwise: https://pip.pypa.io/en/stable/cli/pip_install/#finding-packages."""


def name_hosts(
    printed: Printed, listens: Callable[[int], bool], *, sockets: bool = True
) -> Iterator[str]:
    """The machines that could not be reached, as they would be granted; empty for one that is not named.

    `listens` tells whether anybody listens at a port of this machine, outside; `sockets` whether the program
    has any at all, for its own loopback.
    """
    named = False
    unnamed = not sockets and printed.has(_NO_SOCKET) is not None
    for hit in printed.find(_CERTAIN):
        found = _in_line(hit) or _nearby(printed, hit)
        named, unnamed = named or bool(found), unnamed or not found
        yield from _grants(found, listens)
    for hit in printed.find(_LIKELY):
        yield from _grants(_in_line(hit), listens)
    if printed.has(_PIP):
        named = True
        asked = printed.has(_PIP_ASKS)
        yield from _grants([(asked[1] if asked else _PIP_INDEX, 443)], listens)
    if unnamed and not named:
        yield ""


def _in_line(hit: Hit) -> list[tuple[str, int]]:
    """The machines that a line names, with their ports."""
    for pattern in _PATTERNS:
        if found := _places(pattern, hit.line):
            return found
    if found := _places(_BEFORE, hit.line[: hit.start]) or _places(_AFTER, hit.line[hit.end :]):
        return found
    return _places(_URL, hit.line)


def _nearby(printed: Printed, hit: Hit) -> list[tuple[str, int]]:
    """The machine of the nearest address that is shown: errors are often told in several lines."""
    for line in printed.around(hit, 6, 2):
        if not _FRAME.match(line) and (found := _places(_URL, line)):
            return found[:1]
    return []


def _places(pattern: re.Pattern[str], text: str) -> list[tuple[str, int]]:
    return [place for match in pattern.finditer(text) if (place := _place(match)) is not None]


def _place(match: re.Match[str]) -> tuple[str, int] | None:
    """The machine and port of a match; None where a word is none."""
    groups = match.groupdict()
    host = match["host"].rstrip(".").lower()
    port = int(groups.get("port") or (80 if match[0][:5].lower() == "http:" else 443))
    named = groups["quote"] or groups.get("sure") is not None
    if "." not in host and ":" not in host and host != "localhost" and not named:
        return None
    if _NO_MACHINE.search(host) and match.re is _BEFORE:
        return None
    if host in _NO_NAMES:
        return None
    return host, port


def _grants(places: list[tuple[str, int]], listens: Callable[[int], bool]) -> Iterator[str]:
    """Entries for machines; of this one, only ports at which somebody listens."""
    for host, port in places:
        if host.endswith(_NEVER) or port == _NAME_SERVICE:
            continue
        try:
            entry = read_host(write_host(host, port))
        except ValueError:
            continue
        if not entry.is_this_machine:
            yield entry.text
        elif listens(port):
            yield f"localhost:{port}"
