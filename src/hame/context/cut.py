"""Leaving out the middle of a text, between lines where it has any, and saying how much.

Sizes are bytes in UTF-8, as `hame.context.tokens` counts: a text in Chinese takes the room of one in
English with three times as many characters.
"""

from collections.abc import Callable

from hame.context.tokens import text_size

HEAD_SHARE = 0.6
"""Of what is kept, this much is the beginning."""


def cut_middle(text: str, size: int, mark: Callable[[int], str]) -> str:
    """The text in at most about `size` bytes; `mark` says what stands for the characters left out."""
    if text_size(text) <= size:
        return text
    head_size = int(size * HEAD_SHARE)
    head = _whole_lines(_beginning(text, head_size))
    tail = _whole_lines_back(_end(text, size - head_size))
    return f"{head}\n{mark(len(text) - len(head) - len(tail))}\n{tail}"


def _beginning(text: str, size: int) -> str:
    """As much of a text as has so many bytes; from a denser one a little less."""
    return text[: _chars(text[:size], size)]


def _end(text: str, size: int) -> str:
    found = text[max(len(text) - size, 0) :]
    return found[len(found) - _chars(found[::-1], size) :]


def _chars(text: str, size: int) -> int:
    """How many characters of a text have at most so many bytes together."""
    while (bytes_in_it := text_size(text)) > size:
        text = text[: min(int(len(text) * size / bytes_in_it), len(text) - 1)]
    return len(text)


def _whole_lines(head: str) -> str:
    at = head.rfind("\n", len(head) // 2)
    return head if at < 0 else head[:at]


def _whole_lines_back(tail: str) -> str:
    at = tail.find("\n", 0, len(tail) // 2)
    return tail[at + 1 :]
