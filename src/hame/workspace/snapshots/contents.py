"""Reading back what is held, wherever in the store it lies."""

from collections.abc import Iterable, Mapping

from hame.workspace.snapshots.git import Git, GitError
from hame.workspace.snapshots.objects import Objects


async def contents(objects: Objects, git: Git | None, names: Iterable[str]) -> dict[str, bytes]:
    """The bytes of these blobs; those that are in packs are read by git.

    Raises:
        GitError: when one of them is not there any more.
    """
    wanted = dict.fromkeys(name for name in names if name)
    found = {name: data for name in wanted if (data := objects.get(name)) is not None}
    packed = [name for name in wanted if name not in found]
    if packed:
        if git is None:
            raise GitError("what was held lies in a pack, and git is not installed")
        asked = "".join(f"{name}\n" for name in packed).encode()
        found |= _read_batch(await git.run("cat-file", "--batch", stdin=asked))
    missing = [name for name in wanted if name not in found]
    if missing:
        raise GitError("what was held is not in the store any more (it was collected, or deleted)")
    return found


def _read_batch(printed: bytes) -> Mapping[str, bytes]:
    """Entries of `ID TYPE SIZE`, the bytes, and a line end (git-cat-file(1))."""
    found: dict[str, bytes] = {}
    at = 0
    while at < len(printed):
        end = printed.index(b"\n", at)
        head = printed[at:end].decode("ascii").split(" ")
        at = end + 1
        if len(head) == 3:
            size = int(head[2])
            found[head[0]] = printed[at : at + size]
            at += size + 1
    return found
