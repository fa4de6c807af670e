"""Results that were kept whole: the model names them `result:ID`, the disk otherwise."""

from hame.base.errors import PathError
from hame.base.ports import ToolContext

_MARK = "result:"


def is_kept(path: str) -> bool:
    """Whether a path names a result rather than a file."""
    return path.startswith(_MARK)


def path_of(path: str, context: ToolContext) -> str:
    """The file for a path that may name a result; any other path is itself.

    Raises:
        PathError: when there is no such result.
    """
    if not is_kept(path):
        return path
    found = context.blobs.path(path.removeprefix(_MARK)) if context.blobs is not None else None
    if found is None:
        raise PathError(f"there is no {path}; results are kept for the length of their session")
    return found
