"""How many tokens a message is, as far as can be told without asking its model.

The figure is only a shape: `Projection` sets its scale by what the provider last counted.
"""

from collections.abc import Iterable

from hame.base.json import dump_bytes
from hame.base.message import (
    Assistant,
    Block,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResults,
    User,
)

BYTES_PER_TOKEN = 3.6
"""Of code and English in the tokenisers of today; other scripts have more bytes per character."""
_MESSAGE = 6
"""Tokens around a message or result: its role, its call's id."""
_OBJECT = 500
"""Bytes of memory around a message."""
_PICTURE = 1_600
"""Tokens of a picture; providers scale them down to about a megapixel."""
_DOCUMENT = 4_000
"""Tokens of a document, and more by its size."""
_DOCUMENT_BYTES_PER_TOKEN = 40


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    return int(text_size(text) / BYTES_PER_TOKEN) + 1


def text_size(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def message_tokens(message: Message) -> int:
    """Tokens of a whole message."""
    match message:
        case User(content=content) | Assistant(content=content):
            return _MESSAGE + blocks_tokens(content)
        case ToolResults(results=results):
            return sum(_MESSAGE + blocks_tokens(result.content) for result in results)


def message_bytes(message: Message, tokens: int) -> int:
    """Bytes of memory, about, that a message of so many tokens takes."""
    match message:
        case User(content=content):
            pictures = _picture_bytes(content)
        case ToolResults(results=results):
            pictures = sum(_picture_bytes(result.content) for result in results)
        case Assistant(content=content):
            pictures = _picture_bytes(content)
    return _OBJECT + int(tokens * BYTES_PER_TOKEN) + pictures


def _picture_bytes(blocks: Iterable[Block]) -> int:
    return sum(len(block.data) for block in blocks if isinstance(block, Image | Document))


def blocks_tokens(blocks: Iterable[Block]) -> int:
    """Tokens of these blocks together."""
    return sum(map(_block_tokens, blocks))


def _block_tokens(block: Block) -> int:
    match block:
        case Text(text=text) | Note(text=text) | Thinking(text=text):
            return text_tokens(text)
        case ToolCall(arguments=arguments, malformed=malformed, name=name):
            written = malformed if arguments is None else None
            size = len(written or "") if written is not None else len(dump_bytes(arguments))
            return int((size + len(name)) / BYTES_PER_TOKEN) + _MESSAGE
        case Image():
            return _PICTURE
        case Document(data=data):
            return _DOCUMENT + len(data) // _DOCUMENT_BYTES_PER_TOKEN
        case Opaque(payload=payload):
            return int(len(dump_bytes(payload)) / BYTES_PER_TOKEN) + 1
