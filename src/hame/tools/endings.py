r"""Line endings: a text read as if every line ended in LF, and the way back to its own bytes.

Models write LF. A CRLF pair counts as one line ending; a lone CR is data.
"""

from bisect import bisect_left

from hame.tools.difference import split_lines


class EvenText:
    """A text in which every CRLF reads as LF."""

    def __init__(self, original: str) -> None:
        """Take the text as it is in the file."""
        self.original = original
        self.text = even(original)
        self._dropped = _newlines_after_cr(original) if self.text is not original else ()

    def original_index(self, index: int) -> int:
        """Where a place in `text` lies in the original; before the CR of a pair, not inside it."""
        return index + bisect_left(self._dropped, index)

    def adapt(self, start: int, end: int, replacement: str) -> str:
        """A replacement for `original[start:end]` in the line endings of that place.

        Lines that stay keep their own ending, also where endings are mixed.
        """
        wanted = even(replacement)
        if "\n" not in wanted or "\r\n" not in self.original:
            return wanted
        replaced = split_lines(self.original[start:end])
        endings = {_ending(line) for line in replaced} - {""}
        if len(endings) > 1:
            return _aligned(replaced, split_lines(wanted))
        ending = endings.pop() if endings else self._ending_near(start)
        return wanted.replace("\n", ending)

    def _ending_near(self, index: int) -> str:
        """The ending of the line at `index`; of the line before it where it has none."""
        newline = self.original.find("\n", index)
        if newline < 0:
            newline = self.original.rfind("\n", 0, index)
        return "\r\n" if newline > 0 and self.original[newline - 1] == "\r" else "\n"


def even(text: str) -> str:
    """The text with LF for every CRLF; the same object when there is none."""
    return text.replace("\r\n", "\n") if "\r\n" in text else text


def only_crlf(text: str) -> bool:
    """Whether the text has lines and every one of them ends in CRLF."""
    pairs = text.count("\r\n")
    return pairs > 0 and pairs == text.count("\n")


def _newlines_after_cr(original: str) -> list[int]:
    """Places in the even text of those LFs that stand for a pair."""
    places: list[int] = []
    index = original.find("\r\n")
    while index >= 0:
        places.append(index - len(places))
        index = original.find("\r\n", index + 2)
    return places


def _ending(line: str) -> str:
    if line.endswith("\r\n"):
        return "\r\n"
    return "\n" if line.endswith("\n") else ""


def _aligned(replaced: list[str], wanted: list[str]) -> str:
    """The wanted lines: those that stay end as they did, new ones like the line before."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, [even(line) for line in replaced], wanted, autojunk=False)
    ending = next(_ending(line) for line in replaced)
    out: list[str] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            out += replaced[i1:i2]
            ending = _ending(replaced[i2 - 1]) or ending
            continue
        for offset, line in enumerate(wanted[j1:j2]):
            if i1 + offset < i2:
                ending = _ending(replaced[i1 + offset]) or ending
            out.append(line[:-1] + ending if line.endswith("\n") else line)
    return "".join(out)
