"""What is open in an editor, beside what is on disk.

The text that its user sees counts. Only where nothing was typed and the file changed on disk
afterwards is the editor's text the older one; where both changed, neither is taken.
"""

from collections.abc import Mapping

import anyio.to_thread
import msgspec

from hame.base.errors import PathError
from hame.base.path import FileText
from hame.base.ports import Overlay
from hame.workspace.locate import Place
from hame.workspace.reading import TEXT_LIMIT, read
from hame.workspace.textcode import decode, digest_of, encode
from hame.workspace.writing import found_at


class Written(msgspec.Struct, frozen=True):
    """The new text of a file, and the digest of its bytes on disk."""

    text: str
    digest: str


class _Sight(msgspec.Struct, frozen=True):
    """What was open and what was on disk when a file was last looked at."""

    buffer: str
    """Digest of the text with even line endings."""
    disk: str
    saved: bool
    """Whether they were the same."""


class Buffers:
    """Reads and writes files through both."""

    def __init__(self, overlay: Overlay | None) -> None:
        """Nothing is open where there is no overlay."""
        self._overlay = overlay
        self._last: dict[str, _Sight] = {}

    async def is_open(self, place: Place) -> bool:
        """Whether an editor has the file open."""
        return await self._buffer(place) is not None

    async def read(self, place: Place) -> FileText:
        """The text that counts.

        Raises:
            PathError: if it cannot be read as text, or changed in both places.
        """
        buffer = await self._buffer(place)
        if buffer is None:
            return await anyio.to_thread.run_sync(_read_disk, place)
        disk = await anyio.to_thread.run_sync(_read_disk_if_any, place)
        if disk is not None and _even(disk.text) == _even(buffer):
            self._last[place.resolution.real] = _Sight(_digest(buffer), disk.digest, saved=True)
            return disk
        return self._choose(place, buffer, disk)

    async def require(self, place: Place, like: FileText) -> None:
        """Make sure that the text that counts is still the one that was read.

        Raises:
            PathError: when it is not.
        """
        if self._overlay is None or (like.on_disk is None and not await self.is_open(place)):
            return
        if like.on_disk is not None and not await self.is_open(place):
            raise PathError(
                f"{place.shown} was closed in the editor since it was read; read it again"
            )
        if (await self.read(place)).digest != like.digest:
            raise PathError(
                f"{place.shown} was changed in the editor or on disk since it was read; nothing was"
                " written. Read it again and repeat the change"
            )

    async def write(self, files: Mapping[str, Written]) -> None:
        """Show the editor the new text of those files, by their real path, that it has open.

        Raises:
            PathError: when it does not take one of them; those before it are put back.
        """
        overlay = self._overlay
        if overlay is None:
            return
        changed: dict[str, str] = {}
        try:
            for path, file in files.items():
                before = await overlay.read(path)
                if before is None:
                    continue
                changed[path] = before
                await _put(overlay, path, file.text)
                self._last[path] = _Sight(_digest(file.text), file.digest, saved=True)
        except BaseException:
            with anyio.CancelScope(shield=True):
                for path, before in changed.items():
                    await overlay.write(path, before)
            raise

    async def _buffer(self, place: Place) -> str | None:
        return await self._overlay.read(place.resolution.real) if self._overlay else None

    def _choose(self, place: Place, buffer: str, disk: FileText | None) -> FileText:
        """Which of two different texts counts.

        Raises:
            PathError: when both changed.
        """
        on_disk, seen = disk.digest if disk else "", _digest(buffer)
        last = self._last.get(place.resolution.real)
        if last is not None and disk is not None and last.disk != on_disk:
            if last.saved and last.buffer == seen:
                return disk
            raise PathError(
                f"{place.shown} has unsaved changes in the editor and was changed on disk as well;"
                " ask the user which of them counts"
            )
        self._last[place.resolution.real] = _Sight(seen, on_disk, saved=False)
        return FileText(
            text=buffer,
            encoding=disk.encoding if disk else "utf-8",
            bom=disk.bom if disk else False,
            digest=digest_of(encode(buffer, disk, place.shown)),
            on_disk=on_disk,
        )


async def _put(overlay: Overlay, path: str, text: str) -> None:
    await overlay.write(path, text)
    if _even(await overlay.read(path) or "") != _even(text):
        raise PathError(f"the editor did not take the change of {path}; nothing was changed")


def _digest(text: str) -> str:
    return digest_of(_even(text).encode("utf-8", "surrogatepass"))


def _even(text: str) -> str:
    return text.replace("\r\n", "\n")


def _read_disk(place: Place) -> FileText:
    data = read(place, TEXT_LIMIT + 1)
    if len(data) > TEXT_LIMIT:
        raise PathError(
            f"{place.shown} is too large to be read whole (the limit is {TEXT_LIMIT:,} bytes);"
            " search in it, or read it by start_line and end_line"
        )
    return decode(data, place.shown)


def _read_disk_if_any(place: Place) -> FileText | None:
    if place.missing or found_at(place.leaf, place.directory) is None:
        return None
    return _read_disk(place)
