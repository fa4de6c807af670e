"""Texts that the model has seen, by the digest of their file: enough to say later what changed.

Bounded: the oldest are forgotten first, and then a change can be told but not shown.
"""

from collections import OrderedDict

from hame.base.errors import PathError
from hame.base.path import FileText
from hame.base.ports import Located, Workspace
from hame.tools.difference import difference

_BUDGET = 4_000_000
"""Characters kept in all."""
_DIFF_LIMIT = 4_000
"""Characters of a difference shown to the model."""


class SeenTexts:
    """Remembers texts; shared by the tools that read and those that write."""

    def __init__(self) -> None:
        """Start with none."""
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._size = 0

    def remember(self, digest: str | None, text: str) -> None:
        """Keep a text that the model has now seen or written."""
        if digest is None or digest in self._texts or len(text) > _BUDGET:
            return
        self._texts[digest] = text
        self._size += len(text)
        while self._size > _BUDGET:
            _, oldest = self._texts.popitem(last=False)
            self._size -= len(oldest)

    def recall(self, digest: str) -> str | None:
        """The text of that digest, if it is still kept."""
        return self._texts.get(digest)

    async def read_fresh(self, workspace: Workspace, place: Located) -> FileText:
        """The file as it is now, which must be as the model last saw it, if it ever did.

        Raises:
            PathError: when it cannot be read, or has changed; says what changed.
        """
        digest = workspace.was_read(place)
        file = await workspace.read_text(place, remember=False)
        if digest is not None and digest != file.digest:
            raise PathError(self._changed(place.resolution.shown, digest, file.text))
        return file

    def _changed(self, shown: str, digest: str, now: str) -> str:
        words = f"{shown} changed on disk since it was read; read it again first."
        before = self.recall(digest)
        if before is None:
            return words
        diff = difference(shown, before, now).diff
        if len(diff) > _DIFF_LIMIT:
            diff = diff[:_DIFF_LIMIT] + "\n[the rest of the difference is left out]"
        return f"{words} What changed:\n{diff}"
