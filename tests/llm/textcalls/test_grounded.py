"""Schemas that hold paths to what exists."""

from msgspec.structs import replace

from hame.base.message import Assistant, Message, Text, ToolCall, ToolResult, ToolResults, User
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.textcalls.grounded import grounded, named_paths, nothing_known

TOOL = ToolSpec(
    name="copy",
    description="Copy.",
    effect=Effect.WRITE,
    arguments=(
        Argument(name="file", kind=ArgumentKind.EXISTING_FILE, description="What."),
        Argument(name="folder", kind=ArgumentKind.EXISTING_DIRECTORY, required=False),
        Argument(name="target", kind=ArgumentKind.NEW_PATH),
    ),
)


def there(kind: ArgumentKind) -> tuple[str, ...]:
    return ("a.txt", "b.txt") if kind is ArgumentKind.EXISTING_FILE else ()


def test_only_arguments_that_must_exist_are_held_to_what_does() -> None:
    schema = grounded(TOOL, there, ())
    assert schema == {
        "type": "object",
        "properties": {
            "file": {"type": "string", "description": "What.", "enum": ["a.txt", "b.txt"]},
            "folder": {"type": "string"},
            "target": {"type": "string"},
        },
        "required": ["file", "target"],
        "additionalProperties": False,
    }


def test_what_was_named_is_allowed_beside_it_once() -> None:
    schema = grounded(TOOL, there, ("/etc/hosts", "b.txt"))
    assert '"enum": ["a.txt", "b.txt", "/etc/hosts"]'.replace('"', "'") in str(schema)


def test_where_nothing_is_known_any_path_may_be_written() -> None:
    assert grounded(TOOL, nothing_known, ("x.txt",)) == TOOL.schema()


def test_a_schema_of_a_contributed_tool_stays_as_it_is() -> None:
    raw = {"type": "object", "properties": {"file": {"type": "string"}}}
    assert grounded(replace(TOOL, raw_schema=raw), there, ()) == raw


def test_paths_are_named_by_the_user_and_by_results_of_this_turn() -> None:
    messages: tuple[Message, ...] = (
        User((Text("look at old/one.txt"),)),
        Assistant((Text("done"),)),
        User((Text("Compare .env.example, ~/notes/x.md and /srv/y (see ../z). Not this."),)),
        Assistant((ToolCall(id="c", name="list_dir", arguments={}),)),
        ToolResults((ToolResult("c", "list_dir", (Text("`.github/ci.yml`: 3\nplain words\n"),)),)),
    )
    assert named_paths(messages) == (
        ".env.example",
        "~/notes/x.md",
        "/srv/y",
        "../z",
        ".github/ci.yml",
    )


def test_a_result_full_of_paths_does_not_make_the_schema_endless() -> None:
    text = "\n".join(f"d/{number}.txt" for number in range(5000))
    results = ToolResults((ToolResult("c", "find_files", (Text(text),)),))
    assert len(named_paths((results,))) == 100
    assert named_paths((User((Text("x/" * 200),)),)) == ()
