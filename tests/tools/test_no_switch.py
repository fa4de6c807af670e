"""No parameter of a tool widens what it may reach (security: a model's own word is never a switch).

Seen failing on a broken build: with `check_arguments` deaf to `additionalProperties`, every made-up switch
is let through.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.errors import ArgumentError
from hame.base.json import JsonObject
from hame.base.ports import Tool
from hame.base.schema import check_arguments
from hame.tools import builtin_tools

TOOLS = {tool.spec.name: tool for tool in builtin_tools()}
SWITCHES = (
    "sandbox", "dangerouslyDisableSandbox", "dangerously_disable_sandbox", "unsandboxed", "network",
    "hosts", "confinement", "reach", "writable", "escalate", "with_escalated_permissions", "justification",
    "sudo", "approve", "auto_approve", "trust", "mode", "permission_mode", "allow", "env", "unsafe",
)  # fmt: skip
VALUES = st.one_of(st.booleans(), st.text(max_size=8), st.integers(), st.lists(st.text(max_size=4)))


def least(tool: Tool) -> JsonObject:
    """Arguments that are needed, as small as they may be."""
    samples: dict[str, object] = {
        "string": "x", "integer": 1, "number": 1, "boolean": False, "array": [], "object": {},
    }  # fmt: skip
    return {
        argument.name: samples[argument.type]
        for argument in tool.spec.arguments
        if argument.required
    }


@pytest.mark.parametrize("name", [name for name in TOOLS if not TOOLS[name].spec.forwards])
@given(switch=st.one_of(st.sampled_from(SWITCHES), st.text(min_size=1, max_size=12)), value=VALUES)
def test_a_parameter_that_a_tool_does_not_declare_is_refused(
    name: str, switch: str, value: object
) -> None:
    tool = TOOLS[name]
    if switch in {argument.name for argument in tool.spec.arguments}:
        return
    with pytest.raises(ArgumentError, match="unknown argument"):
        check_arguments({**least(tool), switch: value}, tool.spec.schema())


def test_no_tool_declares_a_switch() -> None:
    declared = {argument.name for tool in TOOLS.values() for argument in tool.spec.arguments}
    assert declared.isdisjoint(SWITCHES)
