"""How a project runs its tests, as far as its manifests tell."""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

import msgspec

Read: TypeAlias = Callable[[str], str | None]
"""A file's text by its path in the project."""

_PYTEST_FILES = frozenset({"pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py"})
_TESTS_READ = 200
"""Test files that are looked into for what they import."""
_IMPORTS_PYTEST = re.compile(r"^\s*(?:import|from)\s+pytest\b", re.MULTILINE)
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_MAKE_TEST = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_NO_TEST = "no test specified"
"""What `npm init` writes into a package that has no tests."""


NAMES = (
    "GNUmakefile", "makefile", "Makefile", "pyproject.toml", "setup.cfg", "tox.ini", "package.json",
)  # fmt: skip
"""Files whose text counts; of others only the name does."""


def test_command(files: Sequence[str], read: Read) -> str | None:
    """The command that runs the tests, run from the project's root; None when nothing tells.

    `files` are the project's files. A Makefile's own target wins: it is what its people type.
    """
    names = frozenset(files)
    for find in (_make, _python, _node):
        command = find(names, read)
        if command is not None:
            return command
    for manifest, command in _BY_MANIFEST:
        if manifest in names:
            return command
    return None


_BY_MANIFEST: tuple[tuple[str, str], ...] = (
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("pom.xml", "mvn -q test"),
    ("gradlew", "./gradlew test"),
    ("build.gradle", "gradle test"),
    ("build.gradle.kts", "gradle test"),
    ("mix.exs", "mix test"),
    ("Gemfile", "bundle exec rake test"),
)


def _make(names: frozenset[str], read: Read) -> str | None:
    for makefile in ("GNUmakefile", "makefile", "Makefile"):
        if makefile in names and _MAKE_TEST.search(read(makefile) or ""):
            return "make test"
    return None


def _python(names: frozenset[str], read: Read) -> str | None:
    tests = sorted(name for name in names if _TEST_FILE.search(name))
    if _configures_pytest(names, read) or any(
        _IMPORTS_PYTEST.search(read(name) or "") for name in tests[:_TESTS_READ]
    ):
        return "python -m pytest"
    if not tests:
        return None
    folders = {name.rpartition("/")[0] for name in tests}
    for folder in ("tests", "test"):
        if any(f"{each}/".startswith(f"{folder}/") for each in folders):
            return f"python3 -m unittest discover -s {folder}"
    return "python3 -m unittest discover"


def _configures_pytest(names: frozenset[str], read: Read) -> bool:
    if not _PYTEST_FILES.isdisjoint(names):
        return True
    if "pyproject.toml" in names and _has_pytest_table(read("pyproject.toml") or ""):
        return True
    marks = (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]"), ("tox.ini", "pytest"))
    return any(name in names and mark in (read(name) or "") for name, mark in marks)


def _has_pytest_table(text: str) -> bool:
    """Whether pyproject.toml sets pytest up, or asks for it."""
    import tomllib

    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return "[tool.pytest" in text
    tools = cast("dict[str, object]", settings.get("tool", {}))
    return "pytest" in tools or re.search(r"""["']pytest\b""", text) is not None


class _Package(msgspec.Struct):
    """The part of package.json that says how the tests are run."""

    scripts: dict[str, object] = {}


def _node(names: frozenset[str], read: Read) -> str | None:
    if "package.json" not in names:
        return None
    try:
        package = msgspec.json.decode(read("package.json") or "", type=_Package)
    except msgspec.DecodeError:
        return None
    script = package.scripts.get("test")
    if not isinstance(script, str) or not script.strip() or _NO_TEST in script:
        return None
    return _node_runner(names)


def _node_runner(names: frozenset[str]) -> str:
    for lock, command in (
        ("pnpm-lock.yaml", "pnpm test"),
        ("yarn.lock", "yarn test"),
        ("bun.lock", "bun run test"),
        ("bun.lockb", "bun run test"),
    ):
        if lock in names:
            return command
    return "npm test"
