"""Manifests: which files are, and where a program starts according to those at the root."""

import posixpath

from hame.base.json import JsonObject, as_object, get_object, get_objects, get_string, parse_object

MANIFESTS = frozenset({
    "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini",
    "package.json", "deno.json", "tsconfig.json", "pnpm-workspace.yaml",
    "Cargo.toml", "go.mod", "go.work", "pom.xml", "build.gradle", "build.gradle.kts",
    "settings.gradle", "settings.gradle.kts", "build.sbt", "mix.exs", "Gemfile", "composer.json",
    "CMakeLists.txt", "meson.build", "Makefile", "makefile", "Justfile", "justfile",
    "Package.swift", "pubspec.yaml", "flake.nix", "stack.yaml", "build.zig",
    "Dockerfile", "docker-compose.yml", "compose.yaml",
})  # fmt: skip
MANIFEST_SUFFIXES = (".csproj", ".fsproj", ".sln", ".cabal", ".gemspec")

_ENTRY_NAMES = frozenset({
    "__main__.py", "manage.py", "main.py", "app.py", "main.go", "main.rs", "Main.java",
    "Program.cs", "main.c", "main.cpp", "index.html", "main.ts", "main.js", "server.js",
    "server.ts", "index.js", "index.ts", "main.kt", "config.ru",
})  # fmt: skip
_DEEPEST = 4
"""Components of a path that may still be an entry point by its name."""


def is_manifest(path: str) -> bool:
    """Whether a file tells how the project around it is built."""
    name = posixpath.basename(path)
    return name in MANIFESTS or name.endswith(MANIFEST_SUFFIXES)


def is_entry_point(path: str) -> bool:
    """Whether a file is by its name where a program starts."""
    return posixpath.basename(path) in _ENTRY_NAMES and path.count("/") < _DEEPEST


def declared_entry_points(name: str, text: str) -> list[str]:
    """What a manifest says can be started, as `name (where)`; empty when it cannot be read."""
    match name:
        case "package.json":
            return _of_package(parse_object(text) or {})
        case "pyproject.toml":
            return _of_pyproject(parse_toml(text))
        case "Cargo.toml":
            return _of_cargo(parse_toml(text))
        case _:
            return []


def _of_package(data: JsonObject) -> list[str]:
    found = [f"{key} {value}" for key in ("main", "module") if (value := get_string(data, key))]
    single = get_string(data, "bin")
    if single:
        found.append(f"bin {single}")
    found += [f"{name} ({where})" for name, where in get_object(data, "bin").items()]
    scripts = ", ".join(get_object(data, "scripts"))
    return [*found, f"npm scripts: {scripts}"] if scripts else found


def _of_pyproject(data: JsonObject) -> list[str]:
    project = get_object(data, "project")
    poetry = get_object(get_object(data, "tool"), "poetry")
    scripts = {
        **get_object(project, "scripts"),
        **get_object(project, "gui-scripts"),
        **get_object(poetry, "scripts"),
    }
    return [f"{name} ({where})" for name, where in scripts.items() if isinstance(where, str)]


def _of_cargo(data: JsonObject) -> list[str]:
    return [
        f"{get_string(binary, 'name') or '?'} ({get_string(binary, 'path') or 'src/bin'})"
        for binary in get_objects(data, "bin")
    ]


def parse_toml(text: str) -> JsonObject:
    """A TOML text as an object; an empty one when it is none."""
    import tomllib

    try:
        return as_object(tomllib.loads(text)) or {}
    except tomllib.TOMLDecodeError:
        return {}
