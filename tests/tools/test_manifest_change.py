"""add_dependency and edit_module_config on files."""

import pytest

from hame.base.confinement import Confinement
from hame.base.errors import PathError
from hame.base.outcome import DiffView, Done
from hame.base.tool import Effect
from tools.conftest import text_of


async def test_a_dependency_goes_into_the_manifest_of_the_project(desk):
    desk.write("pyproject.toml", '[project]\nname = "a"\ndependencies = []\n')
    outcome = await desk.call("add_dependency", dependency="httpx>=0.27")
    assert isinstance(outcome, Done)
    assert outcome.changed == ("pyproject.toml",)
    assert isinstance(outcome.view, DiffView)
    assert desk.read("pyproject.toml") == (
        b'[project]\nname = "a"\ndependencies = ["httpx>=0.27"]\n'
    )
    text = text_of(outcome)
    assert text.startswith("added httpx>=0.27 in pyproject.toml; now run uv sync")
    assert '+dependencies = ["httpx>=0.27"]' in text


async def test_a_folder_or_a_file_may_be_named(desk):
    desk.write("web/package.json", "{}\n")
    await desk.done("add_dependency", dependency="zod@4", path="web")
    await desk.done("edit_module_config", key="name", value="web", path="web/package.json")
    assert desk.read("web/package.json") == (
        b'{\n  "dependencies": {\n    "zod": "4"\n  },\n  "name": "web"\n}\n'
    )


async def test_line_endings_and_marks_stay(desk):
    desk.write("package.json", b'\xef\xbb\xbf{\r\n  "name": "a",\r\n  "version": "1.0"\r\n}\r\n')
    await desk.done("edit_module_config", key="version", value="1.10", path="package.json")
    await desk.done("edit_module_config", key="private", value="true")
    assert desk.read("package.json") == (
        b'\xef\xbb\xbf{\r\n  "name": "a",\r\n  "version": "1.10",\r\n  "private": true\r\n}\r\n'
    )


async def test_what_is_there_already_is_said(desk):
    desk.write("package.json", '{"name": "a"}\n')
    assert "says that already" in await desk.failed("edit_module_config", key="name", value="a")


async def test_a_file_that_changed_since_it_was_read_is_refused(desk):
    desk.write("package.json", '{"name": "a"}\n')
    await desk.done("read_file", path="package.json")
    desk.write("package.json", '{"name": "b"}\n')
    assert "changed on disk" in await desk.failed("edit_module_config", key="name", value="c")


async def test_a_change_after_the_question_is_not_overwritten(desk):
    desk.write("package.json", '{"name": "a"}\n')
    action = await desk.prepare("edit_module_config", key="name", value="b")
    desk.write("package.json", '{"name": "x"}\n')
    with pytest.raises(PathError, match="changed on disk"):
        await action.run(Confinement())
    action.close()


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("add_dependency", {"dependency": "x"}, "no manifest in ."),
        ("add_dependency", {"dependency": "x", "path": "gone.toml"}, "no such file: gone.toml"),
        ("add_dependency", {"dependency": "x", "path": "a.toml"}, "holds no dependencies"),
        ("add_dependency", {"dependency": "x", "path": "a.txt"}, "no manifest that can be changed"),
        ("edit_module_config", {"key": "x", "value": "1", "path": "requirements.txt"}, "no values"),
        ("edit_module_config", {"key": "x", "value": "null", "path": "a.toml"}, "null cannot be set"),
    ],
)  # fmt: skip
async def test_what_cannot_be_done_says_why(desk, tool, arguments, words):
    desk.write("a.toml", "a = 1\n")
    desk.write("a.txt", "a\n")
    if "requirements" in str(arguments):
        desk.write("requirements.txt", "a\n")
    assert words in await desk.failed(tool, **arguments)


def test_what_they_declare(desk):
    for name in ("add_dependency", "edit_module_config"):
        assert desk.tools[name].spec.effect is Effect.WRITE
        assert not desk.tools[name].spec.advertised
    assert desk.tools["add_dependency"].summarize({"dependency": "a"}) == "a to ."
    assert desk.tools["edit_module_config"].summarize({"key": "a"}) == "a = (removed) in ."
