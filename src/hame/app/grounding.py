"""What exists in the project, as far as it can be listed for a model whose answer is held to a schema."""

from collections.abc import Sequence

from hame.base.ports import Index
from hame.base.tool import ArgumentKind

MOST = 300
"""Paths of one kind; a server makes a grammar of them for every answer."""


class Grounding:
    """Paths of the project by what an argument means."""

    def __init__(self, index: Index) -> None:
        """Look at nothing yet."""
        self._index = index
        self._too_many = False
        """A project that was too large is not looked through again at every step."""

    def __call__(self, kind: ArgumentKind) -> Sequence[str]:
        """All of that kind; none where they are too many, or the kind is not one of paths."""
        if self._too_many:
            return ()
        match kind:
            case ArgumentKind.EXISTING_FILE:
                found = tuple(self._index.files())
            case ArgumentKind.EXISTING_DIRECTORY:
                found = tuple(self._index.directories())
            case ArgumentKind.EXISTING_PATH:
                found = (*self._index.files(), *self._index.directories())
            case _:
                return ()
        if len(found) <= MOST:
            return found
        # Files and directories together may be too many where each alone are not.
        self._too_many = kind is not ArgumentKind.EXISTING_PATH
        return ()
