"""Which format a manifest has, by its name, and what to run after it has changed."""

import posixpath
from collections.abc import Callable
from functools import partial

import msgspec

from hame.tools.manifests import gradle, json, lines, pom, toml
from hame.tools.manifests.dependency import (
    Dependency,
    cargo_dependency,
    go_dependency,
    maven_dependency,
    npm_dependency,
    python_dependency,
)
from hame.tools.manifests.keys import Setting


class Format(msgspec.Struct, frozen=True):
    """How a manifest is changed."""

    read: Callable[..., Dependency] | None
    """Reads a dependency as its ecosystem writes it; None: it holds none."""
    add: Callable[[str, Dependency], str] | None
    set: Callable[[str, str, Setting | None], str] | None
    """Sets a value, or takes one away; None: it holds none."""
    after: str = ""
    """The command by which the project takes it up."""


def _gradle(*, kotlin: bool) -> Format:
    return Format(
        maven_dependency,
        partial(gradle.add_dependency, kotlin=kotlin),
        partial(gradle.set_value, kotlin=kotlin),
        "gradle build",
    )


FORMATS: dict[str, Format] = {
    "pyproject.toml": Format(
        python_dependency, toml.add_to_pyproject, toml.set_value, "uv sync, or pip install -e ."
    ),
    "requirements.txt": Format(
        python_dependency, lines.add_to_requirements, None, "pip install -r requirements.txt"
    ),
    "package.json": Format(npm_dependency, json.add_dependency, json.set_value, "npm install"),
    "Cargo.toml": Format(cargo_dependency, toml.add_to_cargo, toml.set_value, "cargo build"),
    "go.mod": Format(go_dependency, lines.add_to_go_mod, lines.set_in_go_mod, "go mod tidy"),
    "pom.xml": Format(maven_dependency, pom.add_dependency, pom.set_value, "mvn verify"),
    "build.gradle.kts": _gradle(kotlin=True),
    "build.gradle": _gradle(kotlin=False),
}
"""By file name, in the order in which a folder's manifest is looked for."""


def format_of(path: str) -> Format | None:
    """The format of a file; that of any TOML or JSON file is known as far as its values go."""
    name = posixpath.basename(path)
    known = FORMATS.get(name)
    if known is not None:
        return known
    if name.startswith("requirements") and name.endswith(".txt"):
        return FORMATS["requirements.txt"]
    if name.endswith(".toml"):
        return Format(None, None, toml.set_value)
    return Format(None, None, json.set_value) if name.endswith(".json") else None
