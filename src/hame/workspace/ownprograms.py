"""Where hame finds the programs that it starts by itself: never in the project.

A project's folder on the search path (an activated environment, `node_modules/.bin`), or a relative
one, would let whatever lies there stand in for git and run outside the sandbox; a confined command may
have put it there.
"""

import os
from collections.abc import Mapping, Sequence

from hame.base.zone import is_below, split


class OwnPrograms:
    """Finds programs by name on a search path from which some folders are taken out."""

    def __init__(self, environment: Mapping[str, str], without: Sequence[str]) -> None:
        """`without` are real paths; nothing in them or below them is found. Looks at nothing yet."""
        self._given = environment.get("PATH", os.defpath)
        self._without = tuple(without)
        self._path: str | None = None
        self._found: dict[str, str | None] = {}

    @property
    def path(self) -> str:
        """The search path as it is used, also for what the programs start in turn."""
        if self._path is None:
            self._path = os.pathsep.join(filter(self._counts, self._given.split(os.pathsep)))
        return self._path

    def find(self, name: str) -> str | None:
        """Where a program is; None when there is none of that name. A path is what it is."""
        if "/" in name:
            return name
        if name not in self._found:
            self._found[name] = self._look(name)
        return self._found[name]

    def _look(self, name: str) -> str | None:
        for folder in filter(None, self.path.split(os.pathsep)):
            place = f"{folder}/{name}"
            if (
                os.access(place, os.X_OK)
                and not os.path.isdir(place)  # noqa: PTH112 - pathlib is 8 ms of start
                and self._is_outside(os.path.realpath(place))
            ):
                return place
        return None

    def _counts(self, folder: str) -> bool:
        """Whether programs of a folder on the search path are used."""
        return folder.startswith("/") and all(
            self._is_outside(place) for place in (folder, os.path.realpath(folder))
        )

    def _is_outside(self, place: str) -> bool:
        return not any(is_below(split(place), folder) for folder in self._without)
