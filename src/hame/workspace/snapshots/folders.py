"""Which folders of a project are captured."""

from hame.base.zone import ProjectPaths


def folders(paths: ProjectPaths) -> list[str]:
    """The folders that are captured: those of the project that no other of them holds.

    The home itself, and what holds it, is too much: there only declared changes are held.
    """
    roots = [root for root in (paths.root, *paths.added) if not holds(root, paths.home)]
    return [
        root
        for number, root in enumerate(roots)
        if not any(holds(other, root) and other != root for other in roots)
        and root not in roots[:number]
    ]


def holds(folder: str, path: str) -> bool:
    """Whether a path is a folder, or lies in it."""
    return (path.rstrip("/") + "/").startswith(folder.rstrip("/") + "/")
