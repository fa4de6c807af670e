"""How a project runs its tests, by its manifests."""

import pytest

from hame.workspace.manifest import test_command as find_command

USES_PYTEST = "import pytest\n\ndef test_a(): pass\n"
USES_UNITTEST = "import unittest\n# import pytest is not needed\n"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, None),
        ({"README.md": "run pytest"}, None),
        ({"app.py": "import pytest"}, None),
        ({"tests/test_a.py": USES_PYTEST}, "python -m pytest"),
        ({"tests/test_a.py": USES_UNITTEST}, "python3 -m unittest discover -s tests"),
        ({"test/deep/a_test.py": USES_UNITTEST}, "python3 -m unittest discover -s test"),
        ({"test_a.py": USES_UNITTEST}, "python3 -m unittest discover"),
        ({"pytest.ini": ""}, "python -m pytest"),
        ({"conftest.py": ""}, "python -m pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python -m pytest"),
        ({"pyproject.toml": '[project]\ndependencies = ["pytest>=8"]\n'}, "python -m pytest"),
        ({"pyproject.toml": "[tool.pytest\n"}, "python -m pytest"),
        ({"pyproject.toml": '[project]\nname = "a"\n'}, None),
        ({"setup.cfg": "[tool:pytest]\n"}, "python -m pytest"),
        ({"tox.ini": "[testenv]\ncommands = pytest\n"}, "python -m pytest"),
        (
            {"pyproject.toml": '[project]\nname = "a"\n', "tests/test_a.py": USES_UNITTEST},
            "python3 -m unittest discover -s tests",
        ),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "vitest"}}', "yarn.lock": ""}, "yarn test"),
        ({"package.json": '{"scripts": {"test": "x"}}', "pnpm-lock.yaml": ""}, "pnpm test"),
        (
            {
                "package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'
            },
            None,
        ),
        ({"package.json": "{}"}, None),
        ({"package.json": "[]"}, None),
        ({"package.json": '{"scripts": []}'}, None),
        ({"package.json": '{"scripts": {"test": 3}}'}, None),
        ({"package.json": "{"}, None),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": "module a"}, "go test ./..."),
        ({"pom.xml": ""}, "mvn -q test"),
        ({"build.gradle": "", "gradlew": ""}, "./gradlew test"),
        ({"build.gradle.kts": ""}, "gradle test"),
        ({"Makefile": "all:\n\ttrue\ntest: all\n\tpytest\n"}, "make test"),
        ({"Makefile": "test := 1\ntests:\n"}, None),
        ({"Makefile": "test:\n\tgo test\n", "go.mod": ""}, "make test"),
    ],
)
def test_the_manifests_tell(files: dict[str, str], command: str | None) -> None:
    assert find_command(sorted(files), files.get) == command
