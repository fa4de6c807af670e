"""Which proxy a request goes through, by the user's setting or the usual environment variables."""

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, urlsplit


def choose_proxy(url: str, setting: str | None, environment: Mapping[str, str]) -> str | None:
    """The proxy's URL, or None for a direct connection.

    The setting comes before HTTPS_PROXY, HTTP_PROXY and ALL_PROXY (lower case before upper). NO_PROXY
    counts for both, and this machine is always reached directly.
    """
    target = urlsplit(url)
    host = target.hostname or ""
    if is_this_machine(host) or _is_excluded(target, _value(environment, "no_proxy")):
        return None
    found = setting
    if not found:
        found = _value(environment, f"{target.scheme}_proxy") or _value(environment, "all_proxy")
    if not found:
        return None
    return found if "://" in found else f"http://{found}"


def is_this_machine(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _value(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _is_excluded(target: SplitResult, no_proxy: str) -> bool:
    rules = [rule.strip().lower() for rule in no_proxy.split(",")]
    return any(_matches(rule, target) for rule in rules if rule)


def _matches(rule: str, target: SplitResult) -> bool:
    """Whether one part of NO_PROXY names the target: `*`, a domain, host:port, an address or a net."""
    host = (target.hostname or "").lower()
    if rule == "*":
        return True
    if "/" in rule:
        return _in_network(host, rule)
    name, _, port = rule.rpartition(":")
    if name and port.isdigit() and not name.endswith(":"):
        if int(port) != (target.port or {"http": 80, "https": 443}.get(target.scheme)):
            return False
        rule = name
    bare = rule.strip("[]").removeprefix("*").removeprefix(".")
    return host == bare or host.endswith(f".{bare}")


def _in_network(host: str, network: str) -> bool:
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False
