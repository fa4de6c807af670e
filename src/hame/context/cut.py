"""Leaving out the middle of a text, between lines where it has any, and saying how much."""

from collections.abc import Callable

HEAD_SHARE = 0.6
"""Of what is kept, this much is the beginning."""


def cut_middle(text: str, size: int, mark: Callable[[int], str]) -> str:
    """The text in at most about `size` characters; `mark` says what stands for those left out."""
    if len(text) <= size:
        return text
    head_size = int(size * HEAD_SHARE)
    head = _whole_lines(text[:head_size])
    tail = _whole_lines_back(text[len(text) - (size - head_size) :])
    return f"{head}\n{mark(len(text) - len(head) - len(tail))}\n{tail}"


def _whole_lines(head: str) -> str:
    at = head.rfind("\n", len(head) // 2)
    return head if at < 0 else head[:at]


def _whole_lines_back(tail: str) -> str:
    at = tail.find("\n", 0, len(tail) // 2)
    return tail[at + 1 :]
