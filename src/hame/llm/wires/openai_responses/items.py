"""Items of a Responses answer: what each kind is, and how it reads on one line.

Three families. Messages and reasoning are said by the model. Calls are for the harness to run.
Everything else the provider ran or made itself (searches, code, remote tools, compaction, whatever
comes next) and is kept as it is.
Items: https://platform.openai.com/docs/api-reference/responses/object
"""

from hame.base.json import JsonObject, dump, get_list, get_object, get_objects, get_string
from hame.llm.errorbody import one_line

WIRE = "openai_responses"

ARGUMENTS_OF = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "computer_call": "action",
    "apply_patch_call": "operation",
}
"""The kinds of item that ask the harness for something, and the member that says what."""

CITATIONS = "citations"
"""Kind of the block that keeps a message's sources; it is hame's, and no item of the wire."""

REFUSAL = "refusal"
"""Kind of the block that keeps the words of a refusal; a content part of the wire."""

_LINE = 160


def message_text(item: JsonObject) -> str:
    """The words of a message item."""
    parts = get_objects(item, "content")
    return "".join(get_string(part, "text") or "" for part in parts if not _is_refusal(part))


def refusal_text(item: JsonObject) -> str:
    """The words with which a message item refuses."""
    parts = [part for part in get_objects(item, "content") if _is_refusal(part)]
    return "".join(get_string(part, "refusal") or get_string(part, "text") or "" for part in parts)


def reasoning_text(item: JsonObject) -> str:
    """The readable reasoning of an item: summaries and open reasoning, a blank line between parts."""
    parts = [*get_objects(item, "summary"), *get_objects(item, "content")]
    return "\n\n".join(text for part in parts if (text := get_string(part, "text")))


def annotations(item: JsonObject) -> list[JsonObject]:
    """The sources that a message names."""
    return [
        found for part in get_objects(item, "content") for found in get_objects(part, "annotations")
    ]


def describe_sources(sources: list[JsonObject]) -> str:
    """The sources on one line."""
    names = [
        name
        for source in sources
        for key in ("url", "filename", "file_id", "title")
        if (name := get_string(source, key))
    ]
    return one_line("sources: " + ", ".join(dict.fromkeys(names)), _LINE)


def describe(item: JsonObject) -> str:
    """An item on one line, for eyes."""
    kind = get_string(item, "type") or "item"
    return one_line(f"{kind.replace('_', ' ')}: {_gist(kind, item)}".removesuffix(": "), _LINE)


def _is_refusal(part: JsonObject) -> bool:
    return get_string(part, "type") == "refusal"


def _gist(kind: str, item: JsonObject) -> str:
    """What is worth seeing of an item; empty when nothing is."""
    match kind:
        case "reasoning":
            return reasoning_text(item)
        case "web_search_call":
            action = get_object(item, "action")
            return _first(action, "query", "url", "pattern") or get_string(item, "arguments") or ""
        case "file_search_call":
            return ", ".join(query for query in get_list(item, "queries") if isinstance(query, str))
        case "code_interpreter_call" | "program":
            return get_string(item, "code") or ""
        case "mcp_call" | "mcp_approval_request":
            name = ".".join(
                filter(None, (get_string(item, "server_label"), get_string(item, "name")))
            )
            return f"{name} {get_string(item, 'arguments') or ''}".strip()
        case "mcp_list_tools":
            count = len(get_list(item, "tools"))
            return f"{count} of {get_string(item, 'server_label') or 'a server'}"
        case "image_generation_call":
            return _first(item, "revised_prompt", "status")
        case "tool_search_call":
            return dump(item["arguments"]) if item.get("arguments") else ""
        case _:
            return _first(item, "name", "status")


def _first(source: JsonObject, *keys: str) -> str:
    return next((text for key in keys if (text := get_string(source, key))), "")
