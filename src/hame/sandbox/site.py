"""Where a session's commands run, and what of this machine is hame's own."""

import msgspec

from hame.base.zone import ProjectPaths


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """The places that every sandbox is built around; app makes it, nothing in it looks at a disk.

    All paths are real and absolute, their last component aside: a folder need not exist yet.
    """

    paths: ProjectPaths
    """The project and the folders the user added; `temporary` is what `/tmp` is inside."""
    own: tuple[str, ...] = ()
    """hame's own folders (configuration, data, state, cache): hidden but for the kept results."""
    caches: str = ""
    """Folder of this project's build caches, writable with the project; empty: there are none."""
    scratch: str
    """hame's private folder for sockets and for the register of what sandboxes put on disk."""
    search_path: str = ""
    """Where programs are looked for, folders divided by colons."""
