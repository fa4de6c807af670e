"""Ordinary work in the sandbox: projects are built and tested, and nothing beside them is written.

What a tool keeps for the next time lies in the project's own build caches, never in the user's.
"""

import importlib.util
import shutil
import sys
import sysconfig
from collections.abc import Iterator

import pytest

from hame.base.confinement import HostDenied, Level
from hame.base.outcome import Failed
from walks.workshop import IN_CI, PYTHON, Workshop, opened, search_path

HELLO = {"hello.py": "def hello():\n    return 'hello'\n", "README.md": "# hello\n"}
PYTHON_PROJECT = {
    "pyproject.toml": (
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
        '[project]\nname = "hello-work"\nversion = "1.0"\n\n'
        '[project.scripts]\nhello-work = "hello_work:main"\n\n'
        '[tool.hatch.build]\ndev-mode-dirs = ["src"]\n'
    ),
    "src/hello_work/__init__.py": "def main():\n    print('hello work')\n",
    "tests/test_hello.py": (
        "import multiprocessing\nimport tempfile\n\nimport hello_work\n\n\n"
        "def test_it_says_hello(capsys):\n"
        "    hello_work.main()\n"
        "    assert capsys.readouterr().out == 'hello work\\n'\n\n\n"
        "def test_it_has_temporary_files_and_processes(tmp_path):\n"
        "    (tmp_path / 'a').write_text('a')\n"
        "    with tempfile.NamedTemporaryFile() as file:\n"
        "        file.write(b'a')\n"
        "    with multiprocessing.Pool(2) as pool:\n"
        "        assert pool.map(abs, [-1, -2]) == [1, 2]\n"
    ),
}
LOOPBACK = {
    "tests/test_loopback.py": (
        "import socket\n\n\n"
        "def test_it_serves_itself():\n"
        "    server = socket.create_server(('127.0.0.1', 0))\n"
        "    client = socket.create_connection(server.getsockname())\n"
        "    assert client.getpeername() == server.getsockname()\n"
        "    client.close()\n"
        "    server.close()\n"
    ),
}
NODE_PROJECT = {
    "package.json": (
        '{"name": "hello", "version": "1.0.0", "scripts": {"build": "node build.js",'
        ' "test": "node --test"}, "dependencies": {}}'
    ),
    "build.js": (
        "const fs = require('fs')\nfs.mkdirSync('dist', {recursive: true})\n"
        "fs.writeFileSync('dist/hello.js', 'module.exports = () => \"hello\"\\n')\n"
    ),
    "hello.test.js": (
        "const test = require('node:test')\nconst assert = require('node:assert')\n"
        "test('says hello', () => assert.equal(require('./dist/hello.js')(), 'hello'))\n"
    ),
    "lib/package.json": '{"name": "lib", "version": "1.0.0", "main": "index.js"}',
    "lib/index.js": "module.exports = 'lib'\n",
}
RUST_PROJECT = {
    "Cargo.toml": '[package]\nname = "hello"\nversion = "1.0.0"\nedition = "2021"\n',
    "src/main.rs": 'fn main() { println!("{}", hello::hello()); }\n',
    "src/lib.rs": (
        'pub fn hello() -> &\'static str { "hello" }\n'
        '#[test]\nfn says_hello() { assert_eq!(hello(), "hello"); }\n'
    ),
}
GO_PROJECT = {
    "go.mod": "module example.org/hello\n\ngo 1.19\n",
    "hello.go": 'package main\n\nfunc hello() string { return "hello" }\n\nfunc main() { println(hello()) }\n',
    "hello_test.go": (
        'package main\n\nimport "testing"\n\n'
        'func TestHello(t *testing.T) {\n\tif hello() != "hello" {\n\t\tt.Fatal()\n\t}\n}\n'
    ),
}
C_PROJECT = {
    "Makefile": "hello: hello.o\n\t$(CC) -o $@ $^\n\ntest: hello\n\t./hello | grep -q hello\n",
    "hello.c": '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
}


@pytest.fixture(params=[Level.A, Level.B], ids=["bubblewrap", "landlock"])
def shop(request: pytest.FixtureRequest) -> Iterator[Workshop]:
    with opened(request.param) as made:
        before = made.others()
        yield made
        assert made.others() == before, "something was written beside the project"


def need(*programs: str) -> None:
    """Go on only where these are installed; in CI they are."""
    missing = [each for each in programs if shutil.which(each, path=search_path()) is None]
    assert not (IN_CI and missing), f"not installed: {missing}"
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


class TestBuilding:
    async def test_a_history_is_made_and_changed(self, shop: Workshop):
        shop.write(HELLO)
        said = await shop.work(
            "git init -b main",
            "git add . && git commit -m 'Say hello'",
            "git checkout -b feat/a && echo a > a.txt && git add a.txt && git commit -m 'Add a'",
            "git checkout main && git mv README.md README && git commit -am 'Rename'",
            "echo b >> hello.py && git stash && git status --short && git stash pop",
            "git checkout hello.py && git merge --no-edit feat/a",
            "git checkout -b feat/b HEAD~1 && echo c > c && git add c && git commit -m C && git rebase main",
            "git checkout main && git cherry-pick feat/b && git tag v1 && git branch -D feat/b",
            "git gc && git fsck && git log --oneline --graph && git status --short --branch",
        )
        assert "Merge branch 'feat/a'" in said
        assert said.rstrip().endswith("## main")

    async def test_a_python_package_is_installed_and_tested(self, shop: Workshop):
        shop.write(PYTHON_PROJECT)
        if shop.level is Level.A:  # Landlock leaves a program no socket, of this machine's neither.
            shop.write(LOOPBACK)
        has_pip = shop.level is Level.A and importlib.util.find_spec("ensurepip")
        # The build backend and pytest come from the environment of these tests: there is no network.
        packages = sysconfig.get_path("purelib")
        ours = f".venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/ours.pth"
        said = await shop.work(
            f"{PYTHON} -m venv {'' if has_pip else '--without-pip'} .venv && echo {packages} > {ours}",
            ". .venv/bin/activate && python -m pip install --no-index --no-build-isolation -e .",
            ". .venv/bin/activate && hello-work && python -m pytest -q",
        )
        assert "Successfully installed hello-work-1.0" in said
        assert "hello work" in said
        assert f"{3 if shop.level is Level.A else 2} passed" in said
        assert (shop.root / ".pytest_cache").is_dir()
        assert (shop.root / "src/hello_work/__pycache__").is_dir()

    async def test_a_node_project_is_built_and_tested(self, shop: Workshop):
        need("node", "npm")
        shop.write(NODE_PROJECT)
        said = await shop.work(
            "npm run build && npm test",
            "npm install ./lib && node -e 'console.log(require(\"lib\"))'",
            "npm ls && npm pack",
        )
        assert "pass 1" in said
        assert "Unknown env config" not in said
        assert "\nlib\n" in said
        assert (shop.root / "hello-1.0.0.tgz").exists()
        assert (shop.caches / "npm").is_dir()

    async def test_a_rust_project_is_built_and_tested(self, shop: Workshop):
        need("cargo", "rustc", "gcc")
        shop.write(RUST_PROJECT)
        said = await shop.work("cargo build && cargo test", "target/debug/hello")
        assert "test says_hello ... ok" in said
        assert (shop.caches / "cargo").is_dir()

    async def test_a_go_project_is_built_and_tested(self, shop: Workshop):
        need("go", "gcc")
        shop.write(GO_PROJECT)
        said = await shop.work("go build ./... && go vet ./... && go test ./...", "./hello 2>&1")
        assert "ok  \texample.org/hello" in said
        assert said.endswith("hello\n\n")
        assert (shop.caches / "go-build").is_dir()

    async def test_a_c_project_is_made_and_tested(self, shop: Workshop):
        need("make", "gcc")
        shop.write(C_PROJECT)
        await shop.work("make && make test")
        assert (shop.root / "hello").exists()


class TestNamingHosts:
    """There is no network in the sandbox, so nothing of this leaves the machine."""

    async def refused(self, shop: Workshop, command: str) -> list[str]:
        outcome = await shop.run(command)
        assert isinstance(outcome, Failed), outcome
        assert all(isinstance(each, HostDenied) for each in outcome.denied), outcome
        return [each.host for each in outcome.denied]

    async def test_pip(self, shop: Workshop):
        assert await self.refused(shop, f"{PYTHON} -m pip install -t deps requests") == ["pypi.org"]

    async def test_npm(self, shop: Workshop):
        need("npm")
        shop.write(NODE_PROJECT)
        hosts = await self.refused(shop, "npm install left-pad")
        assert hosts == ["registry.npmjs.org"]

    async def test_cargo(self, shop: Workshop):
        need("cargo")
        shop.write(RUST_PROJECT)
        hosts = await self.refused(shop, "cargo add serde && cargo build")
        assert hosts in (["index.crates.io"], ["github.com"])
        shop.write({"Cargo.toml": RUST_PROJECT["Cargo.toml"] + '[dependencies]\nserde = "1"\n'})
        assert await self.refused(shop, "cargo build") == hosts

    async def test_go(self, shop: Workshop):
        need("go")
        shop.write(GO_PROJECT)
        assert await self.refused(shop, "go get example.net/left@v1.0.0") == ["proxy.golang.org"]

    async def test_curl_and_git(self, shop: Workshop):
        assert await self.refused(shop, "curl -sS https://example.net/a") == ["example.net"]
        assert await self.refused(shop, "curl -f http://example.net/a") == ["example.net"]
        assert await self.refused(shop, "git clone https://example.net/a.git") == ["example.net"]
