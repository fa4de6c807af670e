"""What a sandbox without a network needs for its one way out: the relay inside, and where it leads.

The proxy's socket is mounted where only the relay can use it. The relay runs on the Python that runs hame,
on that very program and not on an environment's link to it: what lies in a project may be changed.
"""

import os
import sys
from collections.abc import Mapping, Sequence

from hame.base.hosts import read_host

PORT = 3128
"""Where the relay listens, on the loopback of the sandbox."""
_FOLDER = "/run/hame"
_RELAY, _SOCKET, _FILTER = (f"{_FOLDER}/{name}" for name in ("relay.py", "proxy", "filter"))
_URL = f"http://127.0.0.1:{PORT}"
_INSIDE = "localhost,127.0.0.1"
"""What is reached without a proxy."""


def outlet_options(socket: str, filter_descriptor: int) -> list[str]:
    """The arguments of bubblewrap that mount it; they come after the one that replaces /run.

    Args:
        socket: Where the gateway listens, outside.
        filter_descriptor: A file that bubblewrap inherits, with the seccomp program that the relay gives
            to what it starts. It must refuse Unix sockets, ptrace and io_uring. The sandbox's own filter,
            which holds for the relay as well, must allow it Unix sockets. So it does for the first process
            in the sandbox, bubblewrap's own, which can be looked into: `/proc/1` has to be hidden.
    """
    relay = os.path.join(os.path.dirname(__file__), "relay.py")  # noqa: PTH118, PTH120 - costs less
    return [
        *("--ro-bind", relay, _RELAY),
        *("--ro-bind", socket, _SOCKET),
        *("--ro-bind-data", str(filter_descriptor), _FILTER),
    ]


def relay_argv(argv: Sequence[str], hosts: Sequence[str]) -> tuple[str, ...]:
    """The relay around a program, to be started in the sandbox with the program's environment.

    `hosts` is what was granted. Ports of this machine among them are offered inside under the same number.
    """
    entries = [read_host(host) for host in hosts]
    ports = [each.text for each in entries if each.is_this_machine and each.port and not each.below]
    python = os.path.realpath(sys.executable)
    return (python, "-I", "-S", _RELAY, _SOCKET, _FILTER, ",".join(ports), "--", *argv)


def proxy_environment(given: Mapping[str, str]) -> dict[str, str]:
    """What sends the usual tools to the relay; to be put on top of a program's environment.

    `given` is that environment: what is set there for git and for Java is added to.
    """
    plain = {
        name: _URL
        for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        for name in (each, each.lower())
    }
    return plain | {
        "NO_PROXY": _INSIDE,
        "no_proxy": _INSIDE,
        # A setting of the user's own, in a file, would lead past the relay: into nothing.
        "PIP_PROXY": _URL,
        "npm_config_proxy": _URL,
        "npm_config_https_proxy": _URL,
        "npm_config_noproxy": _INSIDE,
        "YARN_HTTP_PROXY": _URL,
        "YARN_HTTPS_PROXY": _URL,
        "CARGO_HTTP_PROXY": _URL,
        # Node asks the usual variables only if it is told to:
        # https://nodejs.org/api/cli.html#node_use_env_proxy1
        "NODE_USE_ENV_PROXY": "1",
        **_for_git(given),
        **_for_java(given),
    }


def _for_git(given: Mapping[str, str]) -> dict[str, str]:
    """https://git-scm.com/docs/git-config#Documentation/git-config.txt-GITCONFIGCOUNT."""
    text = given.get("GIT_CONFIG_COUNT", "")
    count = int(text) if text.isascii() and text.isdigit() else 0
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": "http.proxy",
        f"GIT_CONFIG_VALUE_{count}": _URL,
    }


def _for_java(given: Mapping[str, str]) -> dict[str, str]:
    """Java asks no variables; Maven and Gradle take its properties from their own.

    https://docs.oracle.com/en/java/javase/21/core/java-networking.html#proxies.
    """
    properties = " ".join(
        f"-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort={PORT}"
        for scheme in ("http", "https")
    )
    return {
        name: f"{given.get(name, '')} {properties}".strip()
        for name in ("MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS")
    }
