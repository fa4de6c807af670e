"""Pictures and documents that a provider would refuse, told before they are sent.

One that is refused would fail every later request of its conversation as well. Limits are those of the
wires: https://docs.anthropic.com/en/docs/build-with-claude/vision#evaluate-image-size,
https://docs.anthropic.com/en/docs/build-with-claude/pdf-support,
https://platform.openai.com/docs/guides/images-vision#image-input-requirements,
https://ai.google.dev/gemini-api/docs/image-understanding.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec

from hame.base.message import Document, Image, Message, ToolResults, User
from hame.base.model import ModelFacts
from hame.base.picture import identify

_USUAL = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class FileLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one file of a request may be."""

    pictures: frozenset[str] = _USUAL
    """Media types."""
    picture_bytes: int = 15_000_000
    """Of the file; base64 makes four thirds of it."""
    side: int = 8_000
    """Pixels."""
    document_bytes: int = 20_000_000


_LIMITS = {
    # 5 MiB of base64 for a picture, 32 MB for a whole request.
    "anthropic_messages": FileLimits(picture_bytes=3_932_160),
    # 20 MB for a whole request with its files.
    "gemini": FileLimits(
        pictures=frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}),
        picture_bytes=14_000_000,
        document_bytes=14_000_000,
    ),
}


def why_left_out(block: Image | Document, facts: ModelFacts) -> str:
    """Why a file cannot go to a model, in a few words; empty when it can."""
    limits = _LIMITS.get(facts.wire, FileLimits())
    if isinstance(block, Document):
        if not facts.documents:
            return "this model does not take documents"
        return _too_large(len(block.data), limits.document_bytes)
    if not facts.images:
        return "this model does not take images"
    if block.media_type not in limits.pictures:
        return f"this model does not take {block.media_type}"
    too_large = _too_large(len(block.data), limits.picture_bytes)
    picture = None if too_large else identify(block.data)
    if picture is not None and max(picture.width, picture.height) > limits.side:
        size = f"{picture.width} x {picture.height} pixels"
        return f"{size}; at most {limits.side:,} a side are taken, make a smaller copy"
    return too_large


def digest(file: Image | Document) -> str:
    """What a file is known by."""
    return sha256(file.data).hexdigest()


def files_in(messages: Iterable[Message]) -> Iterator[Image | Document]:
    """The files that users and tools have put into a conversation."""
    for message in messages:
        match message:
            case User(content=content):
                yield from (block for block in content if isinstance(block, Image | Document))
            case ToolResults(results=results):
                for result in results:
                    yield from (
                        block for block in result.content if isinstance(block, Image | Document)
                    )
            case _:
                pass


def _too_large(size: int, most: int) -> str:
    if size <= most:
        return ""
    return f"{size / 1e6:.1f} MB; at most {most / 1e6:.1f} MB are taken, make a smaller copy"
