"""Which entries of the project's folders are protected, `.git` aside."""

from itertools import pairwise

from hame.base.zone import PROTECTED_PARTS

_OTHERS = tuple(run for run in PROTECTED_PARTS if run[0] != ".git")
_NAMES = frozenset(run[0] for run in _OTHERS if len(run) == 1)
_PAIRS = frozenset(run for run in _OTHERS if len(run) == 2)


def is_protected_name(folder: str, name: str) -> bool:
    """Whether an entry of this name in that folder is protected."""
    folded = name.lower()
    return folded in _NAMES or (folder.rpartition("/")[2].lower(), folded) in _PAIRS


def is_within_protected(path: str) -> bool:
    """Whether a folder is protected, or lies in one that is."""
    parts = path.lower().split("/")
    return not _NAMES.isdisjoint(parts) or not _PAIRS.isdisjoint(pairwise(parts))
