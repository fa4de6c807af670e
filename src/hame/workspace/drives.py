r"""Names of Windows for files that WSL has under another: `C:\Users\x`, `/c/Users/x`, `/cygdrive/c`.

https://learn.microsoft.com/windows/wsl/file-permissions: drives are mounted below /mnt.
"""

import re
from pathlib import Path

_MOUNTS = "/mnt"
_DRIVE = re.compile(r"([A-Za-z]):(?:[/\\]|$)|/(?:cygdrive/)?([A-Za-z])(?:/|$)")


def find_drives() -> str:
    """The folder in which Windows' drives are mounted; empty where this is not WSL."""
    try:
        version = Path("/proc/version").read_text("utf-8", "replace").lower()
    except OSError:
        return ""
    return _MOUNTS if "microsoft" in version and Path(_MOUNTS).is_dir() else ""


def from_windows(asked: str, drives: str) -> str:
    """The path under which WSL has a file that is named as Windows, Git or Cygwin do.

    Only drives that are mounted are meant: elsewhere `/c` is a folder like any other.
    """
    found = _DRIVE.match(asked)
    if found is None:
        return asked
    letter = (found[1] or found[2]).lower()
    if not Path(drives, letter).is_dir():
        return asked
    rest = asked[found.end() :]
    return f"{drives}/{letter}/{rest.replace(chr(92), '/') if found[1] else rest}"
