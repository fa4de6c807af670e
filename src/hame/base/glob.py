r"""Globs over paths with `/`, one meaning for every tool and every workspace.

`*` and `?` stay within a name, `**` spans any number of folders (none too), `[a-z]`, `[!a-z]` and
`{one,two}` choose, `\` takes the next character as it is. A pattern without `/` matches a name at
any depth; one with `/` is anchored where the search begins; one that ends with `/` means all below.
"""

import re
from functools import lru_cache

_SPECIAL = frozenset("*?[{\\")


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """The glob as a regular expression to be used with `fullmatch` on a relative path."""
    return re.compile(_translate(_anchored(pattern)), re.DOTALL)


def is_plain(pattern: str) -> bool:
    """Whether the pattern has nothing special in it: it names one path, or one name."""
    return _SPECIAL.isdisjoint(pattern)


def names_hidden(pattern: str) -> bool:
    """Whether the pattern itself names something whose name begins with a dot."""
    return re.search(r"(?:^|[/{,])\.(?![./]|$)", pattern) is not None


def names_folder(pattern: str, folder: str) -> bool:
    """Whether one of the pattern's components is exactly that name."""
    return folder in pattern.split("/")


def fixed_folder(pattern: str) -> tuple[str, ...]:
    """The components a pattern begins with that are plain names: the search may begin there."""
    names = _anchored(pattern).split("/")[:-1]
    fixed: list[str] = []
    for name in names:
        if _SPECIAL.intersection(name) or name == "..":
            break
        fixed.append(name)
    return tuple(fixed)


def _anchored(pattern: str) -> str:
    while pattern.startswith("./"):
        pattern = pattern[2:]
    if "/" not in pattern:
        return f"**/{pattern}"
    if pattern.endswith("/"):
        pattern += "**"
    return pattern.lstrip("/")


def _translate(pattern: str) -> str:
    pieces: list[str] = []
    waiting: list[list[int]] = []
    """For each open brace: where it stands among the pieces, then the commas in it."""
    at = 0
    while at < len(pattern):
        mark = pattern[at]
        piece, at = _piece(pattern, at)
        match mark:
            case "{":
                waiting.append([len(pieces)])
            case "," if waiting:
                waiting[-1].append(len(pieces))
            case "}" if waiting:
                brace, *commas = waiting.pop()
                pieces[brace] = "(?:"
                for comma in commas:
                    pieces[comma] = "|"
                piece = ")"
            case _:
                pass
        pieces.append(piece)
    return "".join(pieces)


def _piece(pattern: str, at: int) -> tuple[str, int]:
    """The expression for what stands at a position, and the position after it."""
    match pattern[at]:
        case "*":
            return _stars(pattern, at)
        case "?":
            return "[^/]", at + 1
        case "[":
            return _class(pattern, at)
        case "\\" if at + 1 < len(pattern):
            return re.escape(pattern[at + 1]), at + 2
        case letter:
            return re.escape(letter), at + 1


def _stars(pattern: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    begins = at == 0 or pattern[at - 1] in "/{,"
    if end - at >= 2 and begins:
        if pattern[end : end + 1] == "/":
            end += 1
            # More of the same means the same, and would be tried in every combination.
            while pattern.startswith("**/", end):
                end += 3
            return "(?:[^/]+/)*", end
        if end == len(pattern) or pattern[end] in ",}":
            return ".+", end
    return "[^/]*", end


def _class(pattern: str, at: int) -> tuple[str, int]:
    """A bracket expression; a bracket that is never closed is itself."""
    start = at + 1
    negated = pattern[start : start + 1] in {"!", "^"}
    start += negated
    end = pattern.find("]", start + 1)
    if end < 0 or "/" in pattern[start:end]:
        return r"\[", at + 1
    choices = _choices(pattern[start:end])
    if choices is None:
        return r"\[", at + 1
    return f"[^/{choices}]" if negated else f"[{choices}]", end + 1


def _choices(text: str) -> str | None:
    """What stands in a bracket expression, escaped; None for a range that runs backwards."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        first = last = text[at]
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            last = text[at + 2]
            at += 2
        if last < first:
            return None
        parts.append(re.escape(first) if first == last else f"{re.escape(first)}-{re.escape(last)}")
        at += 1
    return "".join(parts)
