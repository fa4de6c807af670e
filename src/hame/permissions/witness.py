"""What a call rests on while its question is open: places, the folder, the files a command names.

An answer counts for what was asked. If any of this differs when the answer comes, it is asked again.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from hame.base.ports import Target
from hame.base.zone import Operation
from hame.permissions.commands.operands import file_words
from hame.permissions.commands.scene import Scene

Witness = frozenset[tuple[str, str, tuple[int, ...]]]
"""For each path: where it led, and which file stood there."""

_MOST_FILES = 200


def observe(targets: Iterable[Target], scene: Scene | None, root: str) -> Witness:
    """Look at everything that an approval is bound to."""
    seen = {_look(_absolute(target.resolution.asked, root)) for target in targets}
    if scene is not None:
        seen |= {_look(path) for path in _named_files(scene)}
    return frozenset(seen)


def _absolute(asked: str, root: str) -> str:
    return asked if asked.startswith(("/", "~")) else f"{root}/{asked}"


def _named_files(scene: Scene) -> list[str]:
    """Programs and scripts with a path, and the operands: a script is run by naming it."""
    paths: list[str] = []
    for found in scene.commands:
        words = [*found.words[:1], *file_words(found)]
        for word in words:
            if len(paths) >= _MOST_FILES or not word.known:
                continue
            is_program = word is found.words[0]
            if is_program and "/" not in word.text:
                continue
            paths += [place.real for place in scene.reaches(word.text, Operation.READ)]
            paths += [
                word.text if word.text.startswith("/") else f"{folder}/{word.text}"
                for folder in scene.folders
            ]
    return paths


def _look(path: str) -> tuple[str, str, tuple[int, ...]]:
    try:
        real = os.path.realpath(path)
        found = Path(real).stat()
    except (OSError, ValueError):
        return path, "", ()
    marks = (found.st_dev, found.st_ino, found.st_mode)
    if stat.S_ISREG(found.st_mode):
        marks += (found.st_size, found.st_mtime_ns)
    return path, real, marks
