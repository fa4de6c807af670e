"""Files that a prompt names: `@src/app.py` attaches a file, the path of a picture the picture.

A PDF is attached as it is; where a model does not take documents it is told the name only.

The user's own words stay as they are; what is attached follows them as notes and images. Naming a
file is the user's own decision, so one outside the project may be attached; secrets never are.
"""

import re
from collections.abc import Iterator

import msgspec

from hame.base.errors import PathError
from hame.base.message import Document, Image, Note, Text, User, UserBlock
from hame.base.path import FileKind
from hame.base.picture import MOST_BYTES
from hame.base.ports import Located, Workspace
from hame.base.zone import Operation, Zone

MAX_CHARS = 60_000
"""Of one attached file."""
MAX_DOCUMENT_BYTES = 14_000_000
"""What every provider that takes documents takes."""
MAX_ATTACHMENTS = 20

_MENTION = re.compile(r"""(?<![\w@])@(?:"([^"\n]+)"|([^\s"@]+))""")
_PICTURE = re.compile(
    r"""(?<!\S)(?:"([^"\n]+\.(?:png|jpe?g|gif|webp))"|(\S+\.(?:png|jpe?g|gif|webp)))(?!\S)""",
    re.IGNORECASE,
)
_MEDIA_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


class Composed(msgspec.Struct, frozen=True):
    """A user's message with what it names attached."""

    message: User
    notices: tuple[str, ...] = ()


async def compose(text: str, workspace: Workspace, notes: tuple[Note, ...] = ()) -> Composed:
    """Put a message together: the harness's notes, the user's words, then the attachments."""
    blocks: list[UserBlock] = [*notes, Text(text)]
    notices: list[str] = []
    for name, mentioned in _named(text):
        try:
            place = workspace.locate(name, Operation.READ)
        except PathError:
            continue
        try:
            block = await _attach(place, workspace, picture_only=not mentioned)
        except PathError as error:
            notices.append(f"{name} was not attached: {error.message}")
        else:
            if block is not None:
                blocks.append(block)
        finally:
            place.close()
    return Composed(User(tuple(blocks)), tuple(notices))


def _named(text: str) -> Iterator[tuple[str, bool]]:
    """Paths the text may name, once each, and whether with an @."""
    seen: set[str] = set()
    for pattern, mentioned in ((_MENTION, True), (_PICTURE, False)):
        for match in pattern.finditer(text):
            name = (match[1] or match[2]).rstrip(",;:!?)").removesuffix(".")
            if (
                name
                and name not in seen
                and not name.startswith("@")
                and len(seen) < MAX_ATTACHMENTS
            ):
                seen.add(name)
                yield name, mentioned


async def _attach(place: Located, workspace: Workspace, *, picture_only: bool) -> UserBlock | None:
    """What to attach; None for what is no file (an @ in ordinary words).

    Raises:
        PathError: when it should not or cannot be read.
    """
    found = place.resolution
    if found.kind is FileKind.MISSING:
        return None
    if found.zone is Zone.SECRET:
        raise PathError("it holds secrets")
    if found.kind is FileKind.DIRECTORY:
        return None if picture_only else await _list(place, workspace)
    head = await workspace.read_bytes(place, 16)
    media_type = _media_type(head)
    if media_type is not None:
        if found.size > MOST_BYTES:
            raise PathError(
                f"the picture is larger than {MOST_BYTES / 1e6:g} MB; name a smaller copy of it"
            )
        return Image(media_type, await workspace.read_bytes(place), found.shown)
    if picture_only:
        return None
    if head.startswith(b"%PDF-"):
        if found.size > MAX_DOCUMENT_BYTES:
            raise PathError(f"the document is larger than {MAX_DOCUMENT_BYTES / 1e6:g} MB")
        return Document("application/pdf", await workspace.read_bytes(place), found.shown)
    text = (await workspace.read_text(place)).text
    if len(text) > MAX_CHARS:
        text = (
            f"{text[:MAX_CHARS]}\n[cut after {MAX_CHARS:,} characters; use read_file for the rest]"
        )
    return Note(f"Contents of {found.shown}:\n{text}", found.shown)


async def _list(place: Located, workspace: Workspace) -> Note:
    names = [
        entry.name + ("/" if entry.kind is FileKind.DIRECTORY else "")
        for entry in await workspace.list_directory(place)
    ]
    shown = place.resolution.shown
    return Note(f"Folder {shown}:\n" + "\n".join(names), shown)


def _media_type(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MEDIA_TYPES if head.startswith(magic)), None)
