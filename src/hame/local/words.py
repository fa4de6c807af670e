"""Pieces of a text and where they stand: runs of words, quoted texts, names of paths."""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

_QUOTED = re.compile(
    r"""(?<!\w)(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`|\u201c([^\u201d\n]+)\u201d|\u2018([^\u2019\n]+)\u2019)(?!\w)"""
)
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
_LIKE_A_FILE = re.compile(r"\w\.[A-Za-z]\w{0,9}$|^\.\w+$|^[A-Z]\w*file$")
_OUTER_LEFT = "'\"`\u201c\u2018\xab("
_OUTER_RIGHT = ".,;:?!'\"`\u201d\u2019\xbb"


class Span(msgspec.Struct, frozen=True):
    """A piece of a text and where it stands, in characters."""

    text: str
    start: int
    end: int

    def meets(self, others: Iterable["Span"]) -> bool:
        """Whether it shares a character with one of them."""
        return any(self.start < other.end and other.start < self.end for other in others)


def quoted(text: str) -> list[Span]:
    """The texts between quotation marks, in order."""
    return [
        Span(match.group(match.lastindex or 0), *match.span(match.lastindex or 0))
        for match in _QUOTED.finditer(text)
    ]


def spans(text: str, longest: int) -> Iterator[Span]:
    """Every run of at most `longest` words, without outer punctuation."""
    words = list(re.finditer(r"\S+", text))
    for place, head in enumerate(words):
        for tail in words[place : place + longest]:
            span = _trim(text, head.start(), tail.end())
            if span is not None:
                yield span


def _trim(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start] in _OUTER_LEFT:
        start += 1
    while start < end and text[end - 1] in _OUTER_RIGHT:
        end -= 1
    inner = text[start:end]
    if inner.endswith(")") and inner.count(")") > inner.count("("):
        end -= 1
    return Span(" ".join(text[start:end].split()), start, end) if start < end else None


def path_words(text: str) -> Iterator[Span]:
    """Words that look like a file's path inside the project: nothing absolute, nothing upwards."""
    for word in re.finditer(r"\S+", text):
        span = _trim(text, word.start(), word.end())
        if span is None:
            continue
        path = span.text.removeprefix("./")
        looks = _PATH.fullmatch(path) and ("/" in path or _LIKE_A_FILE.search(path))
        if looks and not path.endswith("/") and ".." not in path.split("/"):
            yield Span(path, span.start, span.end)


def occurrences(text: str, name: str) -> list[Span]:
    """Where `name` stands in `text` as a whole name, not as part of a longer one."""
    found: list[Span] = []
    start = text.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        if _begins_name(text, start) and _ends_name(text, end):
            found.append(Span(name, start, end))
        start = text.find(name, start + 1)
    return found


def _begins_name(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start]
    return not re.search(r"[\w/.-]$", before) or re.search(r"(^|[^\w/.-])\./$", before) is not None


def _ends_name(text: str, end: int) -> bool:
    return re.match(r"/?(?![\w/-]|\.\w)", text[end : end + 3]) is not None


def named_files(text: str, files: Sequence[str]) -> list[str]:
    """Files whose path or name stands in a text; in another case or by stem where none does."""
    exact = [path for path in files if path in text and occurrences(text, path)]
    names = [path for path in files if path not in exact and _by_name(text, path)]
    if exact or names:
        return exact + names
    lowered = text.lower()
    return [path for path in files if "/" not in path and _loosely(lowered, path)]


def _by_name(text: str, path: str) -> bool:
    name = path.rpartition("/")[2]
    return "." in name and name in text and bool(occurrences(text, name))


def _loosely(lowered: str, path: str) -> bool:
    """A top-level file meant by its name in another case, or like README by its stem."""
    name = path.lower()
    stem = name.partition(".")[0]
    by_stem = path.partition(".")[0].isupper() and bool(occurrences(lowered, stem))
    return by_stem or bool(occurrences(lowered, name))


def mentions(text: str, values: Iterable[str]) -> list[Span]:
    """Where a text says these; a path also by its name alone."""
    return [
        span
        for value in values
        for span in occurrences(text, value) or occurrences(text, value.rpartition("/")[2])
    ]


def named_directories(text: str, directories: Sequence[str]) -> list[str]:
    """Directories whose path stands in a text, else those whose name does."""
    exact = [path for path in directories if path in text and occurrences(text, path)]
    return exact or [
        path for path in directories if "/" in path and occurrences(text, path.rpartition("/")[2])
    ]


def unique(items: Iterable[str], most: int) -> tuple[str, ...]:
    """The first `most` different items, in order."""
    kept: dict[str, None] = {}
    for item in items:
        if len(kept) == most:
            break
        kept[item] = None
    return tuple(kept)
