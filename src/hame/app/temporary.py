"""The private folder that commands know as /tmp: one for each hame, gone when that ends.

A hame that was killed leaves its folder; the next one that ends takes it away.
"""

import os
from secrets import token_hex

import anyio.to_thread


class TemporaryFolder:
    """A folder for temporary files of commands. The sandbox makes it when the first command needs it."""

    def __init__(self, parent: str) -> None:
        """Choose its name below `parent`; nothing is made."""
        self._parent = parent
        self.path = f"{parent}/{os.getpid()}-{token_hex(4)}"

    async def remove(self, *, kept: bool = False) -> None:
        """Take it away, and those of hames that are gone; `kept`: something still runs in it."""
        await anyio.to_thread.run_sync(self._sweep, not kept)

    def _sweep(self, own: bool) -> None:  # noqa: FBT001 - called through run_sync
        try:
            names = os.listdir(self._parent)  # noqa: PTH208 - pathlib is milliseconds of every end
        except OSError:
            return
        for name in names:
            path = f"{self._parent}/{name}"
            if own if path == self.path else not _is_alive(name.partition("-")[0]):
                _remove(path)


def _is_alive(pid: str) -> bool:
    return pid.isdecimal() and os.path.exists(f"/proc/{pid}")  # noqa: PTH110 - pathlib costs start


def _remove(path: str) -> None:
    """Also what a command has made unreadable; never what a link in it leads to."""
    import shutil
    from collections.abc import Callable
    from pathlib import Path

    def unlock(again: Callable[[str], object], name: str, _: object) -> None:
        parent = Path(name).parent
        try:
            parent.chmod(0o700)
            if Path(name).is_dir() and not Path(name).is_symlink():
                Path(name).chmod(0o700)
                shutil.rmtree(name, ignore_errors=True)
            else:
                again(name)
        except OSError:
            return  # What cannot be taken away stays; the next end tries again.

    shutil.rmtree(path, onerror=unlock)
