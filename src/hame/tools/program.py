"""How a project is built and run, as far as its files tell.

Pure: paths and texts in, shell commands out. What a project says itself (a Makefile's `run`, an npm
script) comes before what its language usually does.
"""

import posixpath
import re
import shlex
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from hame.base.json import get_object, get_string, parse_object
from hame.tools.manifest import parse_toml

Read: TypeAlias = Callable[[str], str | None]
"""A file's text by its path in the project."""

_MAKE_TARGET = re.compile(r"^([A-Za-z0-9_][\w./-]*)[ \t]*:(?!=)[ \t]*([^\n#]*)", re.MULTILINE)
_JAVA_MAIN = re.compile(r"\bstatic\s+(?:public\s+)?void\s+main\s*\(|\bvoid\s+main\s*\(")
_JAVA_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_PYTHON_MAINS = ("main.py", "app.py", "run.py", "cli.py", "src/main.py", "src/app.py")
_NODE_MAINS = ("index.js", "main.js", "server.js", "app.js", "index.mjs", "src/index.js")
_BY_ENDING = {".py": "Python", ".js": "Node", ".mjs": "Node", ".cjs": "Node", ".ts": "Node",
              ".sh": "Shell", ".java": "Java", ".go": "Go", ".rb": "Ruby"}  # fmt: skip
_BUILD_FOLDER = '"${TMPDIR:-/tmp}/hame-build-$(id -u)"'


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """How to build and start a program, as shell commands from the project's root."""

    kind: str
    run: str
    build: str | None = None

    def with_arguments(self, arguments: Sequence[str]) -> str:
        """The command that starts it with these arguments."""
        return " ".join([self.run, *map(shlex.quote, arguments)])


class _Project(msgspec.Struct, frozen=True):
    files: Sequence[str]
    read: Read

    def has(self, path: str) -> bool:
        return path in self.files

    def text(self, path: str) -> str:
        return self.read(path) or ""

    def first(self, names: Sequence[str]) -> str | None:
        return next((name for name in names if name in self.files), None)


def find_program(files: Sequence[str], read: Read, entry: str | None = None) -> Program | None:
    """How the project runs; None when nothing tells.

    `entry` is a file, or the name of a script, target or binary, where there are several.
    """
    project = _Project(files, read)
    if entry and posixpath.splitext(entry)[1] in _BY_ENDING:
        return _of_file(project, entry)
    for find in (_make, _node, _rust, _go, _java, _python):
        found = find(project, entry)
        if found is not None:
            return found
    return None


def _of_file(project: _Project, path: str) -> Program:
    kind = _BY_ENDING[posixpath.splitext(path)[1]]
    file = shlex.quote(path)
    runs = {
        "Python": f"{_interpreter(project)} {file}",
        "Node": f"node {file}",
        "Shell": f"bash {file}",
        "Java": f"java {file}",
        "Go": f"go run {file}",
        "Ruby": f"ruby {file}",
    }
    return Program(kind=kind, run=runs[kind])


# ---------------------------------------------------------------- make


def _make(project: _Project, entry: str | None) -> Program | None:
    makefile = project.first(("GNUmakefile", "makefile", "Makefile"))
    if makefile is None:
        return None
    targets = dict(_MAKE_TARGET.findall(project.text(makefile)))
    wanted = entry if entry in targets else ("run" if "run" in targets else None)
    if wanted is not None:
        return Program(kind="Make", run=f"make -s {shlex.quote(wanted)}")
    if any(project.has(other) for other in ("package.json", "Cargo.toml", "go.mod")):
        return None  # The Makefile is for other chores; the language's own way is surer.
    made = _first_made(targets)
    return Program(kind="Make", build="make", run=f"./{shlex.quote(made)}") if made else None


def _first_made(targets: dict[str, str]) -> str | None:
    """The file that a bare `make` makes: the first target, or the first that it names."""
    for name, needs in targets.items():
        if name in {"all", "build", "default"}:
            return next((word for word in needs.split() if "." not in word), None)
        if "." not in name and name not in {"clean", "test", "install", "check", "help"}:
            return name
    return None


# ---------------------------------------------------------------- Node


def _node(project: _Project, entry: str | None) -> Program | None:
    if project.has("package.json"):
        package = parse_object(project.text("package.json")) or {}
        scripts = get_object(package, "scripts")
        build = "npm run --silent build" if "build" in scripts else None
        name = entry if entry in scripts else ("start" if "start" in scripts else None)
        if name is not None:
            run = f"npm run --silent {shlex.quote(name)} --"
            return Program(kind="Node", build=build, run=run)
        binary = get_string(package, "bin") or _only(get_object(package, "bin"), entry)
        main = binary or get_string(package, "main")
        if main:
            return Program(kind="Node", build=build, run=f"node {shlex.quote(main)}")
    main = project.first(_NODE_MAINS)
    return Program(kind="Node", run=f"node {main}") if main else None


def _only(members: dict[str, object], entry: str | None) -> str | None:
    """The value that is asked for, or the only one there is."""
    if entry in members:
        return get_string(members, entry)
    return get_string(members, next(iter(members))) if len(members) == 1 else None


# ---------------------------------------------------------------- Rust, Go


def _rust(project: _Project, entry: str | None) -> Program | None:
    if not project.has("Cargo.toml"):
        return None
    which = f" --bin {shlex.quote(entry)}" if entry else ""
    run = f"cargo run --quiet{which} --"
    return Program(kind="Rust", build=f"cargo build --quiet{which}", run=run)


def _go(project: _Project, entry: str | None) -> Program | None:
    if not project.has("go.mod") and not project.has("main.go"):
        return None
    commands = sorted({
        posixpath.dirname(path)
        for path in project.files
        if path.startswith("cmd/") and path.endswith("/main.go")
    })
    if entry and f"cmd/{entry}" in commands:
        place = f"./cmd/{entry}"
    elif project.has("main.go") or not commands:
        place = "." if project.has("go.mod") else "main.go"
    else:
        place = f"./{commands[0]}"
    place = shlex.quote(place)
    return Program(kind="Go", build=f"go build -o /dev/null {place}", run=f"go run {place}")


# ---------------------------------------------------------------- Java


def _java(project: _Project, entry: str | None) -> Program | None:
    sources = [path for path in project.files if path.endswith(".java")]
    main = next((path for path in sources if _is_java_main(project, path, entry)), None)
    name = _java_class(project, main) if main else None
    if project.has("pom.xml"):
        which = f" -Dexec.mainClass={shlex.quote(name)}" if name else ""
        return Program(kind="Java", build="mvn -q compile", run=f"mvn -q exec:java{which}")
    for file, command in (("gradlew", "./gradlew"), ("build.gradle", "gradle"),
                          ("build.gradle.kts", "gradle")):  # fmt: skip
        if project.has(file):
            build = f"{command} -q classes"
            return Program(kind="Java", build=build, run=f"{command} -q --console=plain run")
    if main is None:
        return None
    if len(sources) == 1:
        return Program(kind="Java", run=f"java {shlex.quote(main)}")
    listed = " ".join(map(shlex.quote, sources))
    return Program(
        kind="Java",
        build=f"javac -d {_BUILD_FOLDER} {listed}",
        run=f"java -cp {_BUILD_FOLDER} {shlex.quote(name or '')}",
    )


def _is_java_main(project: _Project, path: str, entry: str | None) -> bool:
    if entry and posixpath.basename(path) != f"{entry.rpartition('.')[2]}.java":
        return False
    return bool(_JAVA_MAIN.search(project.text(path)))


def _java_class(project: _Project, path: str) -> str:
    package = _JAVA_PACKAGE.search(project.text(path))
    name = posixpath.basename(path).removesuffix(".java")
    return f"{package[1]}.{name}" if package else name


# ---------------------------------------------------------------- Python


def _python(project: _Project, entry: str | None) -> Program | None:
    python = _interpreter(project)
    script = _python_script(project, entry)
    if script is not None:
        module, _, function = script.partition(":")
        call = (
            f"import sys; from {module} import {function.partition('.')[0]}; sys.exit({function}())"
        )
        return Program(kind="Python", run=f"{python} -c {shlex.quote(call)}")
    packages = sorted(
        (posixpath.dirname(path) for path in project.files if path.endswith("/__main__.py")),
        key=lambda path: (path.count("/"), path),
    )
    packages = [each for each in packages if entry is None or posixpath.basename(each) == entry]
    if packages:
        module = packages[0].removeprefix("src/").replace("/", ".")
        return Program(kind="Python", run=f"{python} -m {shlex.quote(module)}")
    main = project.first((*_PYTHON_MAINS, "__main__.py")) or _only_python(project)
    return Program(kind="Python", run=f"{python} {shlex.quote(main)}") if main else None


def _python_script(project: _Project, entry: str | None) -> str | None:
    """`module:function` of the script that pyproject.toml declares."""
    data = parse_toml(project.text("pyproject.toml"))
    about = get_object(data, "project")
    scripts = get_object(about, "scripts") or get_object(
        get_object(get_object(data, "tool"), "poetry"), "scripts"
    )
    named = entry or (name if (name := get_string(about, "name")) in scripts else None)
    found = _only(scripts, named)
    return found if found and re.fullmatch(r"[\w.]+:[\w.]+", found) else None


def _only_python(project: _Project) -> str | None:
    top = [path for path in project.files if path.endswith(".py") and "/" not in path]
    return top[0] if len(top) == 1 else None


def _interpreter(project: _Project) -> str:
    """The interpreter that the project's packages are installed for."""
    if project.has("uv.lock"):
        return "uv run python"
    if project.has("poetry.lock"):
        return "poetry run python"
    path = "PYTHONPATH=src " if any(path.startswith("src/") for path in project.files) else ""
    for folder in (".venv", "venv"):
        if project.read(f"{folder}/pyvenv.cfg") is not None:
            return f"{path}{folder}/bin/python"
    return f"{path}python3"
