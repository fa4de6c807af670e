"""Manifests: one thing changes, and every other character stays."""

import json
import tomllib
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.errors import ToolError
from hame.tools.manifests.keys import Setting, split_key
from hame.tools.manifests.table import FORMATS, format_of

PYPROJECT = """\
# The project.
[project]
name = "shop"   # ours
dependencies = [
  "anyio>=4",  # tasks
  "Rich[jupyter] ==13.0",
]

[tool.ruff]
line-length = 100
"""
POETRY = """\
[tool.poetry]
name = "shop"

[tool.poetry.dependencies]
python = "^3.11"   # at least
"""
PACKAGE = """\
{
    "name": "shop",
    "scripts": { "test": "jest" },
    "dependencies": {
        "axios": "^1.0.0",
        "zod": "^3.0.0"
    }
}
"""
CARGO = """\
[package]
name = "shop"

[dependencies]
serde = { version = "1.0", features = ["derive"] } # json
rand = "0.8"
"""
GO = """\
module example.org/shop

go 1.21

require (
\tgithub.com/a/b v1.0.0
\tgithub.com/x/y v1.2.0 // indirect
)
"""
POM = """\
<?xml version="1.0"?>
<!-- <dependencies> -->
<project>
  <version>1.0</version>
  <properties>
    <java.version>17</java.version>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-api</artifactId>
      <version>2.0.0</version>
    </dependency>
  </dependencies>
</project>
"""
GRADLE = """\
plugins { id("java") }
version = "1.0" // ours
android {
    compileSdk = 34
}
dependencies {
    // "in a comment {"
    implementation("org.slf4j:slf4j-api:2.0.0")
    api(libs.guava)
}
"""


def add(name: str, text: str, dependency: str, *, dev: bool = False) -> str:
    format_ = FORMATS[name]
    assert format_.read
    assert format_.add
    return format_.add(text, format_.read(dependency, dev=dev))


def put(name: str, text: str, key: str, value: str | None) -> str:
    format_ = format_of(name)
    assert format_
    assert format_.set
    return format_.set(text, key, None if value is None else Setting(value))


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came."""
    old, new = before.split("\n"), after.split("\n")
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("name", "text", "dependency", "dev", "gone", "come"),
    [
        ("pyproject.toml", PYPROJECT, "httpx>=0.27", False, [], ['  "httpx>=0.27",']),
        ("pyproject.toml", PYPROJECT, "rich==14.0", False, ['  "Rich[jupyter] ==13.0",'], ['  "rich==14.0",']),
        ("pyproject.toml", PYPROJECT, "pytest 9", True, [], ["[dependency-groups]", 'dev = ["pytest==9"]']),
        ("pyproject.toml", POETRY, "httpx==0.27", False, [], ['httpx = "0.27"']),
        ("package.json", PACKAGE, "left-pad@^1.3.0", False, [], ['        "left-pad": "^1.3.0",']),
        ("package.json", PACKAGE, "zod@^4", False, ['        "zod": "^3.0.0"'], ['        "zod": "^4"']),
        ("package.json", PACKAGE, "@types/node@20", True, [], ["    },", '    "devDependencies": {', '        "@types/node": "20"']),
        ("Cargo.toml", CARGO, "tokio@1.0", False, [], ['tokio = "1.0"']),
        ("Cargo.toml", CARGO, "serde@1.1", False, ['serde = { version = "1.0", features = ["derive"] } # json'], ['serde = { version = "1.1", features = ["derive"] } # json']),
        ("Cargo.toml", CARGO, "insta 1.2", True, [], ["[dev-dependencies]", 'insta = "1.2"']),
        ("go.mod", GO, "github.com/google/uuid@v1.6.0", False, [], ["\tgithub.com/google/uuid v1.6.0"]),
        ("go.mod", GO, "github.com/x/y@v1.3.0", False, ["\tgithub.com/x/y v1.2.0 // indirect"], ["\tgithub.com/x/y v1.3.0 // indirect"]),
        ("go.mod", "module m\n\ngo 1.21\n", "github.com/a/b@v1.0.0", False, [], ["require github.com/a/b v1.0.0"]),
        ("requirements.txt", "anyio>=4\nrich==13  # nice\n", "Rich>=14", False, ["rich==13  # nice"], ["Rich>=14  # nice"]),
        ("requirements.txt", "anyio>=4", "httpx", False, [], ["httpx", ""]),
        ("build.gradle.kts", GRADLE, "com.a:b:1.0", False, [], ['    implementation("com.a:b:1.0")']),
        ("build.gradle.kts", GRADLE, "org.slf4j:slf4j-api:2.1", False, ['    implementation("org.slf4j:slf4j-api:2.0.0")'], ['    implementation("org.slf4j:slf4j-api:2.1")']),
        ("build.gradle.kts", "plugins { id(\"java\") }\n", "com.a:b:1.0", True, [], ["dependencies {", '    testImplementation("com.a:b:1.0")', "}"]),
        ("build.gradle", "dependencies {\n  implementation 'a:b:1'\n}\n", "c:d:2", False, [], ["  implementation 'c:d:2'"]),
        ("pom.xml", POM, "org.slf4j:slf4j-api:2.1", False, ["      <version>2.0.0</version>"], ["      <version>2.1</version>"]),
        ("pom.xml", POM, "a.b:c:1", True, [], ["      <groupId>a.b</groupId>", "      <artifactId>c</artifactId>", "      <version>1</version>", "      <scope>test</scope>"]),
    ],
)  # fmt: skip
def test_a_dependency_is_added_or_changed_and_nothing_else(name, text, dependency, dev, gone, come):
    after = add(name, text, dependency, dev=dev)
    went, came = changed_lines(text, after)
    assert (went, [line for line in came if line or not come[-1]]) == (gone, come)
    parses(name, after)


@pytest.mark.parametrize(
    ("name", "text", "key", "value", "gone", "come"),
    [
        ("pyproject.toml", PYPROJECT, "project.name", "store", ['name = "shop"   # ours'], ['name = "store"   # ours']),
        ("pyproject.toml", PYPROJECT, "project.version", "1.0", [], ['version = "1.0"']),
        ("pyproject.toml", PYPROJECT, "tool.ruff.line-length", "120", ["line-length = 100"], ["line-length = 120"]),
        ("pyproject.toml", PYPROJECT, "tool.ruff.lint.select", '["E", "F"]', [], ["[tool.ruff.lint]", 'select = ["E", "F"]']),
        ("pyproject.toml", PYPROJECT, "tool.ruff.line-length", None, ["line-length = 100"], []),
        ("package.json", PACKAGE, "scripts.test", "vitest", ['    "scripts": { "test": "jest" },'], ['    "scripts": { "test": "vitest" },']),
        ("package.json", PACKAGE, "scripts.lint", "eslint .", ['    "scripts": { "test": "jest" },'], ['    "scripts": { "test": "jest", "lint": "eslint ." },']),
        ("package.json", PACKAGE, "private", "true", ["    }"], ["    },", '    "private": true']),
        ("package.json", PACKAGE, "dependencies.zod", None, ['        "axios": "^1.0.0",', '        "zod": "^3.0.0"'], ['        "axios": "^1.0.0"']),
        ("package.json", PACKAGE, "jest.coverage.lines", "80", [], ["    },", '    "jest": {', '        "coverage": {', '            "lines": 80', "        }"]),
        ("tsconfig.json", "{}\n", "strict", "true", ["{}"], ["{", '  "strict": true', "}"]),
        ("Cargo.toml", CARGO, "package.version", "1.10", [], ['version = "1.10"']),
        ("go.mod", GO, "go", "1.22", ["go 1.21"], ["go 1.22"]),
        ("go.mod", GO, "toolchain", "go1.22.1", [], ["toolchain go1.22.1"]),
        ("pom.xml", POM, "version", "1.10", ["  <version>1.0</version>"], ["  <version>1.10</version>"]),
        ("pom.xml", POM, "properties.java.version", "21", ["    <java.version>17</java.version>"], ["    <java.version>21</java.version>"]),
        ("pom.xml", POM, "properties.a.b", "x<y", [], ["    <a.b>x&lt;y</a.b>"]),
        ("pom.xml", POM, "build.finalName", "shop", [], ["  <build>", "    <finalName>shop</finalName>", "  </build>"]),
        ("pom.xml", POM, "properties.java.version", None, ["    <java.version>17</java.version>"], []),
        ("build.gradle.kts", GRADLE, "version", "1.10", ['version = "1.0" // ours'], ['version = "1.10" // ours']),
        ("build.gradle.kts", GRADLE, "android.compileSdk", "35", ["    compileSdk = 34"], ["    compileSdk = 35"]),
        ("build.gradle.kts", GRADLE, "android.namespace", "a.b", [], ['    namespace = "a.b"']),
    ],
)  # fmt: skip
def test_a_value_is_set_or_removed_and_nothing_else(name, text, key, value, gone, come):
    after = put(name, text, key, value)
    assert changed_lines(text, after) == (gone, come)
    parses(name, after)


def parses(name: str, text: str) -> None:
    if name.endswith(".toml"):
        tomllib.loads(text)
    elif name.endswith(".json"):
        json.loads(text)
    elif name == "pom.xml":
        ET.fromstring(text)


@pytest.mark.parametrize(
    ("name", "dependency", "words"),
    [
        ("pyproject.toml", "not a requirement!", "write it like httpx>=0.27"),
        ("package.json", "two words", "write it like left-pad"),
        ("Cargo.toml", "serde", "say which version"),
        ("go.mod", "uuid", "write it like github.com"),
        ("go.mod", "github.com/google/uuid", "say which version"),
        ("pom.xml", "slf4j", "write it like org.slf4j"),
        ("pom.xml", "org.slf4j:slf4j-api", "is there already"),
        ("build.gradle.kts", "org.slf4j:slf4j-api", "is there already"),
    ],
)
def test_what_cannot_be_added_says_how_to_write_it(name, dependency, words):
    texts = {"pom.xml": POM, "build.gradle.kts": GRADLE}
    with pytest.raises(ToolError, match=words):
        add(name, texts.get(name, ""), dependency)


@pytest.mark.parametrize(
    ("name", "text", "key", "value", "words"),
    [
        ("pyproject.toml", "a = [", "b", "1", "no valid TOML"),
        ("package.json", "{", "b", "1", "no valid JSON"),
        ("package.json", '{"a": 1}', "a.b", "1", "no object"),
        ("pyproject.toml", "a = 1\n", "a.b", "1", "not a table"),
        ("pyproject.toml", "a = 1\n", "b", None, "no b to remove"),
        ("package.json", "{}", "b", None, "no b to remove"),
        ("pom.xml", POM, "nothing.here", None, "no nothing.here"),
        ("pom.xml", "<a></b>", "version", "1", "no well-formed XML"),
        ("go.mod", GO, "require", "x", "only go, toolchain and module"),
        ("build.gradle.kts", "a {\n", "a.b", "1", "never closed"),
        ("pyproject.toml", "", "a..b", "1", "cannot be read"),
    ],
)
def test_what_cannot_be_set_says_why(name, text, key, value, words):
    with pytest.raises(ToolError, match=words):
        put(name, text, key, value)


def test_keys_may_be_quoted():
    assert split_key("tool.\"a.b\".'c.d'.e") == ["tool", "a.b", "c.d", "e"]


NAMES = st.sampled_from(["a", "b", "c", "scripts", "x-y", "n 1", "\u00e4"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab"\\{}[],: \u00e4', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.lists(NAMES, min_size=1, max_size=3),
    st.sampled_from(["1", "true", '"x"', "words", "[1, 2]", '{"k": {"l": 1}}']),
)
def test_any_json_keeps_all_else(document, indent, path, value):
    """Set and removed, by what the text means before and after."""
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    key = ".".join(f'"{part}"' for part in path)
    try:
        after = put("x.json", text, key, value)
    except ToolError:
        return
    now = json.loads(after)
    inner, expected = now, json.loads(text)
    for part in path[:-1]:
        expected = expected.setdefault(part, {})
        inner = inner[part]
    assert inner.pop(path[-1]) is not None
    expected.pop(path[-1], None)
    assert inner == expected
    removed = json.loads(put("x.json", after, key, None))
    for part in path[:-1]:
        removed = removed[part]
    assert path[-1] not in removed
