"""What fills the window, by part, with advice."""

from collections.abc import Sequence

from hame.base.json import dump_bytes
from hame.base.memory import WindowPart, WindowReport
from hame.base.message import Assistant, Document, Image, Message, Note, Text, ToolResults, User
from hame.base.tool import ToolSpec
from hame.context.projection import Projection
from hame.context.tokens import BYTES_PER_TOKEN, blocks_tokens, text_tokens

_LARGE = 0.25
"""Share of the window from which a part is worth advice."""
_CONSTRAINTS, _SUMMARY = frozenset({"constraints"}), frozenset({"summary", "earlier words"})


def frame_tokens(system: str, tools: Sequence[ToolSpec]) -> int:
    """Tokens, estimated, of what goes with every request."""
    return text_tokens(system) + sum(map(tool_tokens, tools))


def tool_tokens(tool: ToolSpec) -> int:
    """Tokens, estimated, of one tool's description and schema."""
    size = len(dump_bytes(tool.schema())) + len(tool.name) + len(tool.description.encode())
    return int((size + 60) / BYTES_PER_TOKEN)


def describe_window(
    projection: Projection, frame: tuple[str, Sequence[ToolSpec]], window: int, *, assumed: bool
) -> WindowReport:
    """What fills the window now."""
    system, tools = frame
    sizes: dict[str, list[int]] = {}
    for shown in projection.shown:
        for name, size in _parts(shown.message):
            sizes.setdefault(name, []).append(size)
    sizes["system prompt"] = [text_tokens(system)]
    sizes["tools"] = [tool_tokens(tool) for tool in tools]
    whole = sum(map(sum, sizes.values())) or 1
    total = projection.tokens
    parts = tuple(
        WindowPart(name, round(sum(each) * total / whole), len(each))
        for name, each in sorted(sizes.items(), key=lambda item: -sum(item[1]))
        if each
    )
    return WindowReport(
        window=window,
        assumed=assumed,
        total=total,
        measured=projection.measured is not None,
        parts=parts,
        advice=tuple(_advice(parts, total, window, assumed=assumed)),
    )


def _parts(message: Message) -> list[tuple[str, int]]:
    match message:
        case User(content=content):
            return [(_user_part(block), blocks_tokens((block,))) for block in content]
        case Assistant(content=content):
            return [("answers and calls", blocks_tokens(content))]
        case ToolResults(results=results):
            return [(f"results of {each.name}", blocks_tokens(each.content)) for each in results]


def _user_part(block: Text | Note | Image | Document) -> str:
    match block:
        case Text():
            return "your messages"
        case Note(source=source) if source in _CONSTRAINTS:
            return "constraints"
        case Note(source=source) if source in _SUMMARY:
            return "summary"
        case Note():
            return "notes, rules and attached files"
        case Image() | Document():
            return "pictures and documents"


def _advice(parts: Sequence[WindowPart], total: int, window: int, *, assumed: bool) -> list[str]:
    advice: list[str] = []
    if assumed:
        advice.append(
            "The model's window is not known; set context_window for its provider if it is smaller."
        )
    if total > window * 0.6:
        advice.append("/compact [focus] makes room now, at a moment of your choosing.")
    for part in parts:
        if part.tokens < window * _LARGE:
            continue
        if part.name.startswith("results of"):
            advice.append(f"{part.name} fill much: ask for narrower reads, or /compact.")
        elif part.name.startswith("notes"):
            advice.append("Rules and attached files fill much: attach parts, shorten AGENTS.md.")
        elif part.name == "tools":
            advice.append("The tools fill much: leave out contributed ones you do not need.")
    return advice
