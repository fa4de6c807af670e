"""A dependency as each ecosystem writes it."""

import re

import msgspec

from hame.base.errors import ArgumentError

_PYTHON = re.compile(r"([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(.*)", re.DOTALL)
_NPM = re.compile(r"((?:@[\w.-]+/)?[\w.-]+)(?:@(.+))?")
_CARGO = re.compile(r"([A-Za-z0-9_-]+)(?:\s*(?:@|=|\s)\s*\"?([^\"]+)\"?)?")
_GO = re.compile(r"([\w.-]+(?:/[\w.~-]+)+)(?:[@ ](v\S+))?")
_MAVEN = re.compile(r"([\w.-]+):([\w.-]+)(?::([\w.$\{\}\[\]()+,-]+))?")


class Dependency(msgspec.Struct, frozen=True):
    """What is needed, and whether only for development."""

    name: str
    version: str = ""
    """As its ecosystem writes it; empty for any."""
    extras: str = ""
    """`[a,b]` of Python."""
    dev: bool = False

    @property
    def group(self) -> str:
        """The part of a Maven name before the colon."""
        return self.name.partition(":")[0]

    @property
    def artifact(self) -> str:
        """The part after it."""
        return self.name.partition(":")[2]

    def need_version(self, example: str) -> str:
        """The version, where one must be given.

        Raises:
            ArgumentError: when there is none.
        """
        if not self.version:
            raise ArgumentError(f"say which version of {self.name}, for example {example}")
        return self.version


def normalised(name: str) -> str:
    """A Python name as indexes compare it: https://peps.python.org/pep-0503/#normalized-names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def python_dependency(text: str, *, dev: bool = False) -> Dependency:
    """`httpx[http2]>=0.27`, `httpx 0.27`.

    Raises:
        ArgumentError: when it is no requirement.
    """
    found = _PYTHON.fullmatch(text.strip())
    rest = found[3].strip() if found else ""
    if found is None or (rest and not re.match(r"[<>=!~@;]|\d", rest)):
        raise ArgumentError(_unreadable(text, "httpx>=0.27"))
    version = f"=={rest}" if rest[:1].isdigit() else rest
    return Dependency(found[1], version, found[2] or "", dev)


def npm_dependency(text: str, *, dev: bool = False) -> Dependency:
    """`left-pad@^1.3.0`, `@scope/name`.

    Raises:
        ArgumentError: when it is no package.
    """
    found = _matched(_NPM, text, "left-pad@^1.3.0")
    return Dependency(found[1], found[2] or "", dev=dev)


def cargo_dependency(text: str, *, dev: bool = False) -> Dependency:
    """`serde@1.0`.

    Raises:
        ArgumentError: when it is no crate.
    """
    found = _matched(_CARGO, text, "serde@1.0")
    return Dependency(found[1], found[2] or "", dev=dev)


def go_dependency(text: str, *, dev: bool = False) -> Dependency:
    """`github.com/google/uuid@v1.6.0`.

    Raises:
        ArgumentError: when it is no module.
    """
    found = _matched(_GO, text, "github.com/google/uuid@v1.6.0")
    return Dependency(found[1], found[2] or "", dev=dev)


def maven_dependency(text: str, *, dev: bool = False) -> Dependency:
    """`org.slf4j:slf4j-api:2.0.13`.

    Raises:
        ArgumentError: when it is no coordinate.
    """
    found = _matched(_MAVEN, text, "org.slf4j:slf4j-api:2.0.13")
    return Dependency(f"{found[1]}:{found[2]}", found[3] or "", dev=dev)


def _matched(pattern: re.Pattern[str], text: str, example: str) -> re.Match[str]:
    found = pattern.fullmatch(text.strip())
    if found is None:
        raise ArgumentError(_unreadable(text, example))
    return found


def _unreadable(text: str, example: str) -> str:
    return f"{text!r} cannot be read as a dependency; write it like {example}"
