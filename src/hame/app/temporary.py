"""The private folder that commands know as /tmp: one for each hame, gone when that ends.

A hame that was killed leaves its folder; the next one that ends takes it away.
"""

import os
import time
from secrets import token_hex

import anyio.to_thread

from hame.config.whole import make_private_folder

_KEPT = ".kept"
"""Ends the name of the mark beside a folder that outlives its hame."""
_KEPT_S = 7 * 86_400.0


class TemporaryFolder:
    """A folder for temporary files of commands. The sandbox makes it when the first command needs it."""

    def __init__(self, parent: str) -> None:
        """Choose its name below `parent`; nothing is made."""
        self._parent = parent
        self._kept = False
        self.path = f"{parent}/{os.getpid()}-{token_hex(4)}"

    def keep(self) -> None:
        """Something in it outlives this hame: it stays for a week."""
        self._kept = True
        make_private_folder(self._parent)
        os.close(os.open(f"{self.path}{_KEPT}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))

    async def remove(self) -> None:
        """Take it away, and those of hames that are gone."""
        await anyio.to_thread.run_sync(self._sweep)

    def _sweep(self) -> None:
        try:
            names = os.listdir(self._parent)  # noqa: PTH208 - pathlib is milliseconds of every end
        except OSError:
            return
        for name in names:
            path = f"{self._parent}/{name}"
            ended = not self._kept if path == self.path else not _is_alive(name.partition("-")[0])
            if ended and not name.endswith(_KEPT) and not _is_kept(path):
                _remove(path)


def _is_kept(path: str) -> bool:
    """Whether it was to outlive its hame, and that is not too long ago; then its mark goes."""
    mark = f"{path}{_KEPT}"
    try:
        if time.time() - os.stat(mark).st_mtime < _KEPT_S:  # noqa: PTH116
            return True
        os.unlink(mark)  # noqa: PTH108
    except OSError:
        pass
    return False


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
