"""How hame's own words stand in a message, the same on every wire."""

from hame.base.message import Note, Text, ToolResult


def note_text(note: Note) -> str:
    """A note as the model reads it: told apart from the user's words by a plain frame."""
    source = f' source="{note.source}"' if note.source else ""
    return f"<note{source}>\n{note.text}\n</note>"


def plain_text(result: ToolResult) -> str:
    """The text of a result for a wire that marks errors itself."""
    text = "\n".join(block.text for block in result.content if isinstance(block, Text))
    return text or "(no output)"


def result_text(result: ToolResult) -> str:
    """The text of a result for a wire that has no mark for errors."""
    text = plain_text(result)
    if not result.is_error or text.lower().startswith("error"):
        return text
    return f"Error: {text}"
