"""Places on disk that are held by descriptors, so that a mount gets what was looked at.

A program in another sandbox could exchange a folder for a link between our look and the mount, which would
then lie somewhere else.
"""

import errno
import os
import stat
from typing import Self

from hame.base.zone import split

_FLAGS = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class Handles:
    """Opens places from a root downwards, component by component, links not followed."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._held: dict[str, int] = {}

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All that are held."""
        return tuple(self._held.values())

    def hold(self, path: str) -> int:
        """A descriptor of a place; the nearest place above that is held already is where it begins.

        Raises:
            OSError: if it is gone, or there is a link in the way.
        """
        parts, start = split(path), 0
        for end in range(len(parts), 0, -1):
            if "/" + "/".join(parts[:end]) in self._held:
                start = end
                break
        if start == 0:
            return self._keep("/" + "/".join(parts), path, None)
        above = self._held["/" + "/".join(parts[:start])]
        for end in range(start + 1, len(parts) + 1):
            above = self._keep("/" + "/".join(parts[:end]), parts[end - 1], above)
        return above

    def _keep(self, path: str, name: str, above: int | None) -> int:
        descriptor = os.open(name, _FLAGS, dir_fd=above)
        self._held[path] = descriptor
        if stat.S_ISLNK(os.fstat(descriptor).st_mode):
            raise OSError(errno.ELOOP, "is a link by now", path)
        return descriptor

    def close(self) -> None:
        """Let go of all; may be called twice."""
        held, self._held = self._held, {}
        for descriptor in held.values():
            os.close(descriptor)

    def __enter__(self) -> Self:
        """Nothing is held yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of all."""
        self.close()
