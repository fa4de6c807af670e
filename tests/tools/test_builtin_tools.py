"""The set of tools: its order, its cost, and that others can work with it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.json import dump
from hame.base.ports import Tool
from hame.base.tool import ArgumentKind, Effect
from hame.tools import Editing, builtin_tools

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
SOURCE = Path(__file__).resolve().parents[2] / "src"

ORDER = [
    "read_file", "list_dir", "find_files", "search_text", "edit_file", "write_file", "create_file",
    "create_dir", "rename_path", "move_path", "delete_path", "run_command", "project_overview",
    "ask_user", "todo", "find_tool", "use_tool",
]  # fmt: skip


def advertised(editing: Editing = "edit_file") -> list[Tool]:
    return [tool for tool in builtin_tools(editing) if tool.spec.advertised]


def test_the_order_never_changes():
    assert [tool.spec.name for tool in advertised()] == ORDER


def test_models_of_the_gpt_family_are_given_patches_in_the_place_of_edits():
    named = [tool.spec.name for tool in advertised("apply_patch")]
    assert named == [{"edit_file": "apply_patch"}.get(name, name) for name in ORDER]
    every = [tool.spec.name for tool in builtin_tools("apply_patch")]
    assert every == [tool.spec.name for tool in builtin_tools()]
    assert len(set(every)) == len(every)


def test_the_whole_block_stays_within_its_budget():
    block = [
        {
            "type": "function",
            "function": {
                "name": tool.spec.name,
                "description": tool.spec.description,
                "parameters": tool.spec.schema(),
            },
        }
        for tool in advertised()
    ]
    assert len(dump(block)) <= 6_500


def test_every_tool_has_a_description_on_one_line_and_a_title():
    for tool in builtin_tools():
        assert tool.spec.title
        assert 20 < len(tool.spec.description) < 400
        assert "\n" not in tool.spec.description


def test_every_spec_gives_the_same_bytes_each_time():
    first, second = builtin_tools(), builtin_tools()
    for one, other in zip(first, second, strict=True):
        assert json.dumps(one.spec.schema()) == json.dumps(other.spec.schema())


def test_only_looking_counts_as_reading():
    reading = {tool.spec.name for tool in advertised() if tool.spec.effect is Effect.READ}
    assert reading == {
        "read_file",
        "list_dir",
        "find_files",
        "search_text",
        "project_overview",
        "find_tool",
    }


def test_verbs_of_the_one_line_protocol_name_arguments_that_exist():
    verbs: dict[str, str] = {}
    for tool in builtin_tools():
        mask = tool.spec.mask
        if mask is None:
            continue
        verbs[mask.verb] = tool.spec.name
        assert len(mask.separators) == max(len(mask.arguments) - 1, 0)
        assert all(tool.spec.argument(name) for name in mask.arguments)
        unspoken = [
            argument
            for argument in tool.spec.arguments
            if argument.required and argument.name not in mask.arguments
        ]
        assert all(argument.kind is ArgumentKind.COMMAND for argument in unspoken)
    assert verbs == {
        "list": "list_dir",
        "read": "read_file",
        "find": "search_text",
        "write": "create_file",
        "edit": "edit_file",
        "test": "run_command",
    }


@settings(deadline=None)
@given(
    st.sampled_from(builtin_tools()),
    st.dictionaries(
        st.sampled_from(["path", "pattern", "command", "edits", "start_line", "cwd", "new_name"]),
        st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers(), max_size=2)),
    ),
)
def test_a_summary_is_one_short_line_whatever_the_arguments(tool, arguments):
    summary = tool.summarize(arguments)
    assert summary
    assert "\n" not in summary
    assert len(summary) < 400


def test_importing_the_tools_loads_nothing_heavy():
    program = (
        "import sys, hame.base.ports; before = set(sys.modules)\n"
        "from hame.tools import builtin_tools; builtin_tools()\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    loaded = set(run.stdout.split())
    assert "hame.tools.read_file" in loaded
    heavy = {
        "anyio",
        "asyncio",
        "difflib",
        "tomllib",
        "shutil",
        "hashlib",
        "subprocess",
        "unicodedata",
    }
    assert not heavy & loaded
    assert not {"hame.tools.terminal", "hame.tools.mismatch", "hame.tools.manifest"} & loaded


def _mock():
    path = SHARED / "tools" / "mockllm.py"
    if not path.exists():
        pytest.skip("../shared is not on this machine")
    spec = importlib.util.spec_from_file_location("mockllm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_independent_mock_finds_the_tools_it_needs():
    tools = [
        {"name": tool.spec.name, "schema": tool.spec.schema(), "kind": "function", "ns": None}
        for tool in builtin_tools()
    ]
    mapped = _mock().ToolMap(tools, "/project")
    assert mapped.call({"do": "read", "path": "a.py"}) == (
        "read_file", {"path": "/project/a.py"}, "function",
    )  # fmt: skip
    assert mapped.call({"do": "run", "cmd": "ls"}) == ("run_command", {"command": "ls"}, "function")
    assert mapped.call({"do": "edit", "path": "a", "old": "x", "new": "y"}) == (
        "edit_file", {"path": "/project/a", "old_string": "x", "new_string": "y"}, "function",
    )  # fmt: skip
    assert mapped.call({"do": "write", "path": "a", "content": "x"}) == (
        "write_file", {"path": "/project/a", "content": "x"}, "function",
    )  # fmt: skip
