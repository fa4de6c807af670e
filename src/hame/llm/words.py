"""How hame's own words stand in a message, the same on every wire."""

from base64 import b64encode
from collections.abc import Sequence

from hame.base.message import Document, Image, Note, Text, ToolResult, UserBlock


def note_text(note: Note) -> str:
    """A note as the model reads it: told apart from the user's words by a plain frame."""
    source = f' source="{note.source}"' if note.source else ""
    return f"<note{source}>\n{note.text}\n</note>"


def user_text(block: Text | Note) -> str:
    """What stands in a user's message as text: the user's words, or a note of hame's."""
    return block.text if isinstance(block, Text) else note_text(block)


def only_text(content: Sequence[UserBlock]) -> str | None:
    """A user's message that is nothing but text; None for one that holds files."""
    texts = [user_text(block) for block in content if isinstance(block, Text | Note)]
    return "\n\n".join(texts) if len(texts) == len(content) else None


def data_url(block: Image | Document) -> str:
    """A file within an address (RFC 2397)."""
    return f"data:{block.media_type};base64,{b64encode(block.data).decode()}"


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
