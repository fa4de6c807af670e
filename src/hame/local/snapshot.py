"""One look at the project, for one step: asked again and again, it looks at the disk once."""

from collections.abc import Sequence
from functools import cache, cached_property

from typing_extensions import override

from hame.base.ports import Index


class Snapshot(Index):
    """An index that remembers what it has told."""

    def __init__(self, index: Index) -> None:
        """Look at nothing yet."""
        self._index = index
        self.text = cache(index.text)

    @override
    def files(self) -> Sequence[str]:
        """Paths of the files, as at the first look."""
        return self._files

    @override
    def directories(self) -> Sequence[str]:
        """Paths of the directories, as at the first look."""
        return self._directories

    @override
    def test_command(self) -> str | None:
        """The command that runs the tests, as at the first look."""
        return self._test_command

    @cached_property
    def _files(self) -> Sequence[str]:
        return self._index.files()

    @cached_property
    def _directories(self) -> Sequence[str]:
        return self._index.directories()

    @cached_property
    def _test_command(self) -> str | None:
        return self._index.test_command()
