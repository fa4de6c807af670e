"""How a project is built and run, by its files; and running what the languages here can."""

import shlex
import shutil

import pytest

from hame.base.errors import ArgumentError
from hame.base.outcome import CommandView, Failed
from hame.tools.program import find_program


def found(files: dict[str, str], entry: str | None = None):
    return find_program(list(files), files.get, entry)


@pytest.mark.parametrize(
    ("files", "entry", "kind", "build", "run"),
    [
        ({"Makefile": "all: tool\n\nrun: all\n\t./tool\n"}, None, "Make", None, "make -s run"),
        ({"Makefile": "CC=gcc\nall: tool\n"}, None, "Make", "make", "./tool"),
        ({"Makefile": "tool: tool.c\n\tcc -o tool tool.c\n"}, None, "Make", "make", "./tool"),
        ({"Makefile": "a:\n\nserve:\n"}, "serve", "Make", None, "make -s serve"),
        ({"package.json": '{"scripts": {"start": "node x", "build": "tsc"}}'}, None, "Node",
         "npm run --silent build", "npm run --silent start --"),
        ({"package.json": '{"main": "lib/a.js"}'}, None, "Node", None, "node lib/a.js"),
        ({"package.json": '{"bin": {"x": "bin/x.js"}}'}, None, "Node", None, "node bin/x.js"),
        ({"package.json": "{}", "index.js": ""}, None, "Node", None, "node index.js"),
        ({"package.json": '{"scripts": {"dev": "x"}}'}, "dev", "Node", None,
         "npm run --silent dev --"),
        ({"Cargo.toml": ""}, None, "Rust", "cargo build --quiet", "cargo run --quiet --"),
        ({"Cargo.toml": ""}, "b", "Rust", "cargo build --quiet --bin b",
         "cargo run --quiet --bin b --"),
        ({"go.mod": "", "main.go": ""}, None, "Go", "go build -o /dev/null .", "go run ."),
        ({"go.mod": "", "cmd/a/main.go": ""}, None, "Go", "go build -o /dev/null ./cmd/a",
         "go run ./cmd/a"),
        ({"go.mod": "", "cmd/a/main.go": "", "cmd/b/main.go": ""}, "b", "Go",
         "go build -o /dev/null ./cmd/b", "go run ./cmd/b"),
        ({"Main.java": "class Main { public static void main(String[] a) {} }"}, None, "Java",
         None, "java Main.java"),
        ({"pom.xml": "", "src/main/java/x/App.java": "package x;\nclass App { static void main() {} }"},
         None, "Java", "mvn -q compile", "mvn -q exec:java -Dexec.mainClass=x.App"),
        ({"gradlew": "", "build.gradle": ""}, None, "Java", "./gradlew -q classes",
         "./gradlew -q --console=plain run"),
        ({"main.py": ""}, None, "Python", None, "python3 main.py"),
        ({"tool.py": ""}, None, "Python", None, "python3 tool.py"),
        ({"src/pkg/__main__.py": "", "src/pkg/__init__.py": ""}, None, "Python", None,
         "PYTHONPATH=src python3 -m pkg"),
        ({"pyproject.toml": '[project]\nname="x"\n[project.scripts]\nx="pkg.cli:main"\ny="z:w"'},
         None, "Python", None,
         "python3 -c 'import sys; from pkg.cli import main; sys.exit(main())'"),
        ({"uv.lock": "", "app.py": ""}, None, "Python", None, "uv run python app.py"),
        ({".venv/pyvenv.cfg": "", "app.py": ""}, None, "Python", None, ".venv/bin/python app.py"),
        ({"a.py": "", "b.py": ""}, "b.py", "Python", None, "python3 b.py"),
        ({"x.sh": ""}, "x.sh", "Shell", None, "bash x.sh"),
        ({"Makefile": "lint:\n\truff\n", "Cargo.toml": ""}, None, "Rust", "cargo build --quiet",
         "cargo run --quiet --"),
    ],
)  # fmt: skip
def test_what_the_files_say(files, entry, kind, build, run):
    program = found(files, entry)
    assert (program.kind, program.build, program.run) == (kind, build, run)


@pytest.mark.parametrize(
    "files", [{}, {"README.md": ""}, {"a.py": "", "b.py": ""}, {"package.json": "{"},
              {"pyproject.toml": "[[["}]
)  # fmt: skip
def test_what_tells_nothing_is_nothing(files):
    assert found(files) is None


def test_arguments_are_quoted():
    program = found({"main.py": ""})
    assert program.with_arguments(["a b", "$x"]) == "python3 main.py 'a b' '$x'"


# ---------------------------------------------------------------- running


async def test_a_python_program_gets_arguments_input_and_its_end(desk):
    desk.write("main.py", "import sys\nprint(sys.argv[1:], repr(sys.stdin.read()))\nsys.exit(3)\n")
    outcome = await desk.call("run_program", args=["a b"], stdin="in\n")
    assert isinstance(outcome, Failed)
    assert outcome.message.startswith("exit code 3\n['a b'] 'in\\n'")
    assert "[Python program, run as: python3 main.py 'a b']" in outcome.message
    assert isinstance(outcome.view, CommandView)


async def test_a_program_that_asks_without_input_sees_the_end_of_it(desk):
    desk.write("main.py", "print(input('name? '))\n")
    text = await desk.failed("run_program", timeout_s=20)
    assert "EOFError" in text


async def test_a_program_that_does_not_end_is_ended(desk):
    desk.write("main.py", "import time\nprint('up', flush=True)\ntime.sleep(300)\n")
    text = await desk.failed("run_program", timeout_s=1)
    assert text.startswith("timed out after 1 s")
    assert "up" in text


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="no make and cc here")
async def test_a_make_project_is_built_first_and_build_errors_are_told(desk):
    desk.write("Makefile", "tool: tool.c\n\tcc -o tool tool.c\n")
    desk.write("tool.c", '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n')
    text = await desk.done("run_program")
    assert text.startswith("exit code 0\nbuilt")
    desk.write("tool.c", "int main(void) { return x; }\n")
    text = await desk.failed("run_program")
    assert "error" in text
    assert "the build of this Make program failed, so it was not run" in text


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
async def test_a_node_project_runs(desk):
    desk.write("package.json", '{"main": "a.js"}')
    desk.write("a.js", "console.log('node', process.argv.slice(2).join())\n")
    assert "node x,y" in await desk.done("run_program", args=["x", "y"])


async def test_the_question_shows_build_and_run_as_commands(desk):
    desk.write("Makefile", "tool:\n\ttrue\n")
    action = await desk.prepare("run_program", stdin="a")
    assert action.view.command == "make && ./tool <<'INPUT'\na\nINPUT"
    action.close()


async def test_what_cannot_be_run_is_said(desk):
    assert "Nothing in this project says how it is run" in await desk.failed("run_program")
    with pytest.raises(ArgumentError):
        await desk.prepare("run_program", timeout_s=0)


async def test_a_manifest_that_leads_elsewhere_is_not_read(desk, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("run:\n\techo secret\n")
    (desk.root / "Makefile").symlink_to(secret)
    assert "Nothing in this project" in await desk.failed("run_program")


@pytest.mark.parametrize(
    "files",
    [
        {"a;touch x/__main__.py": ""},
        {"$(touch x).py": ""},
        {"Makefile": "all: $(touch x)\n"},
        {"A$(touch x).java": "class A { static void main() {} }", "B.java": ""},
        {"pom.xml": "", "A;touch x.java": "class A { static void main() {} }"},
        {"package.json": '{"main": "$(touch x)"}'},
        {"package.json": '{"scripts": {"start": "x"}}'},
        {"go.mod": "", "cmd/$(touch x)/main.go": ""},
    ],
)
def test_no_name_in_a_project_is_a_command_of_its_own(files: dict[str, str]) -> None:
    """T13: was seen to fail where names were put into the command as they are."""
    program = found(files)
    assert program is not None
    for line in filter(None, (program.build, program.run)):
        words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
        assert not {";", "&", "|", "(", "$(", "`"} & set(words), line
        assert "touch" not in words, line
