"""What is said: blocks and the three kinds of message that hold them.

Blocks keep the order in which the model sent them; replaying another order breaks interleaved
thinking. A message is never changed once made: the history is a tuple of frozen values, so a codec
may remember what it encoded by identity.
"""

from enum import StrEnum
from typing import TypeAlias

import msgspec

from hame.base.json import JsonObject
from hame.base.model import Usage


class StopReason(StrEnum):
    """Why a model stopped, in one vocabulary; the raw word is kept beside it."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    PAUSE_TURN = "pause_turn"
    MALFORMED_TOOL_CALL = "malformed_tool_call"
    CONTEXT_FULL = "context_full"
    ERROR = "error"
    UNKNOWN = "unknown"


class Text(msgspec.Struct, frozen=True, tag_field="type", tag="text", omit_defaults=True):
    """Words, of the user or of the model."""

    text: str
    signature: str | None = None
    """Opaque provider token bound to this text (Gemini's thoughtSignature); goes back unchanged."""


class Note(msgspec.Struct, frozen=True, tag_field="type", tag="note", omit_defaults=True):
    """Words of the harness inside a user message: environment, rules files, attached files.

    Kept apart from Text so that what the user really said can be told from what hame added.
    """

    text: str
    source: str = ""
    """Where it comes from: `environment`, a path, `mode`, `interrupted`, ..."""


class Thinking(msgspec.Struct, frozen=True, tag_field="type", tag="thinking", omit_defaults=True):
    """The model's reasoning; the signature goes back to the same model unchanged."""

    text: str
    signature: str | None = None


class Image(msgspec.Struct, frozen=True, tag_field="type", tag="image", omit_defaults=True):
    """A picture; `data` is the encoded file (base64 in JSON)."""

    media_type: str
    data: bytes
    name: str = ""
    signature: str | None = None
    """Opaque provider token bound to a picture that a model made (Gemini's thoughtSignature)."""


class Document(msgspec.Struct, frozen=True, tag_field="type", tag="document", omit_defaults=True):
    """A document the model may read as it is (PDF); `data` is the file."""

    media_type: str
    data: bytes
    name: str = ""


class Opaque(msgspec.Struct, frozen=True, tag_field="type", tag="opaque", omit_defaults=True):
    """Something the provider made and wants back byte for byte.

    Redacted thinking, encrypted reasoning, searches and code the provider ran itself. It goes back
    on the wire it came from and is left out on every other. Never executed here.
    """

    wire: str
    """Name of the wire it belongs to."""
    kind: str
    """The provider's own type name."""
    payload: JsonObject
    summary: str = ""
    """One line for eyes."""

    def replaces(self, other: "Opaque") -> bool:
        """Whether this is a later version of the other: same wire, kind and provider's id."""
        name = self.payload.get("id")
        same = self.wire == other.wire and self.kind == other.kind
        return same and name is not None and name == other.payload.get("id")


class ToolCall(msgspec.Struct, frozen=True, tag_field="type", tag="tool_call", omit_defaults=True):
    """The model asks for a tool.

    Exactly one of `arguments` and `malformed` counts: a call whose arguments did not parse has
    `arguments` None and the raw text in `malformed`, and is never run.
    """

    id: str
    name: str
    arguments: JsonObject | None
    malformed: str | None = None
    signature: str | None = None
    """Opaque provider token bound to this call (Gemini's thoughtSignature)."""


Block: TypeAlias = Text | Note | Thinking | Image | Document | Opaque | ToolCall
UserBlock: TypeAlias = Text | Note | Image | Document
AnswerBlock: TypeAlias = Text | Thinking | Opaque | ToolCall | Image
ResultBlock: TypeAlias = Text | Image | Document


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which model said something, so that its signatures go back to it and to no other."""

    wire: str
    backend: str
    model: str


class User(msgspec.Struct, frozen=True, tag_field="role", tag="user", omit_defaults=True):
    """A message of the user's, with what hame adds to it as Notes."""

    content: tuple[UserBlock, ...]

    @property
    def words(self) -> str:
        """What the user said, without the harness's notes."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))


class Assistant(msgspec.Struct, frozen=True, tag_field="role", tag="assistant", omit_defaults=True):
    """One whole answer of a model."""

    content: tuple[AnswerBlock, ...]
    origin: Origin | None = None
    stop_reason: StopReason = StopReason.END_TURN
    raw_stop_reason: str | None = None
    usage: Usage | None = None

    @property
    def text(self) -> str:
        """All text blocks joined."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def thinking(self) -> str:
        """All thinking joined."""
        return "".join(block.text for block in self.content if isinstance(block, Thinking))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in the order asked."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one call came to, in the words the model gets."""

    call_id: str
    name: str
    content: tuple[ResultBlock, ...]
    is_error: bool = False


class ToolResults(
    msgspec.Struct, frozen=True, tag_field="role", tag="tool_results", omit_defaults=True
):
    """The results of one answer's calls, in the order asked."""

    results: tuple[ToolResult, ...]


Message: TypeAlias = User | Assistant | ToolResults
