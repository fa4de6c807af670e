"""What a session found in a project and what it left there, from its list of steps."""

import msgspec

from hame.base.snapshot import FileState
from hame.workspace.snapshots.log import Began, Ended, Undid, read_lines
from hame.workspace.snapshots.store import Store


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a project before and after a session; paths are relative to the project."""

    tree: str = ""
    """All of it, in git's words, before its first command; empty where none was captured."""
    found: dict[str, FileState] = {}
    """What it had changed before that tree was taken, or at all where there is none: as it found it."""
    left: dict[str, FileState] = {}
    """Everything it changed, as it left it."""


def read_past(store: Store, session: str, root: str) -> Past:
    """What the store knows of a session; nothing where it changed nothing or is not held any more."""
    tree = ""
    found: dict[str, FileState] = {}
    left: dict[str, FileState] = {}
    for line in read_lines(store.session(session) / "log.jsonl"):
        match line:
            case Began(trees=trees) if not tree and root in trees:
                tree = trees[root]
            case Began():
                pass
            case Ended(changes=changes) | Undid(changes=changes):
                for change in changes:
                    if not change.path.startswith(f"{root}/"):
                        continue
                    path = change.path[len(root) + 1 :]
                    if not tree:
                        found.setdefault(path, change.before)
                    left[path] = change.after
    return Past(tree=tree, found=found, left=left)
