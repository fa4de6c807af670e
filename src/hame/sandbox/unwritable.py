"""Places that a program says it could not write, rename or remove, and that its sandbox kept from it."""

import os
import re
from collections.abc import Iterator
from enum import Enum

from hame.base.zone import is_below, split
from hame.sandbox.ground import Ground, Right
from hame.sandbox.wording import Hit, Printed


class _Kind(Enum):
    READ_ONLY = "read-only"
    """Said of a mount that may not be written: hardly anything but a sandbox makes one."""
    DENIED = "denied"
    """Said of permissions too."""
    BUSY = "busy"
    """Said of a mount that may not be moved or removed."""
    MISSING = "missing"


_KINDS: dict[_Kind, re.Pattern[str]] = {
    _Kind.READ_ONLY: re.compile(
        r"read-?only file ?system|\bEROFS\b|\bErrno 30\b|\bos error 30\b", re.IGNORECASE
    ),
    _Kind.BUSY: re.compile(
        r"device or resource busy|\bEBUSY\b|\bErrno 16\b|\bos error 16\b", re.IGNORECASE
    ),
    _Kind.DENIED: re.compile(
        r"permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|\bErrno (?:1|13)\]|"
        r"\bos error (?:1|13)\)|accessdeniedexception|access to the path .{1,300} is denied|"
        r"unable to open database|do(?:es)?n['o]t have write permissions|is not writable",
        re.IGNORECASE,
    ),
    _Kind.MISSING: re.compile(
        r"no such file or directory|\bENOENT\b|\bErrno 2\]|\bos error 2\)|NoSuchFileException|"
        r"cannot connect to the docker daemon|does not exist",
        re.IGNORECASE,
    ),
}

_QUOTED = re.compile(r"['\"`]([^'\"`\n]{1,1024})['\"`]")
_ABSOLUTE = re.compile(r"(?<![\w./:-])(?:unix://)?(~?/[^\s:;,'\"`()\[\]{}<>|*?]{1,1024})")
_PROGRAM = re.compile(r"^\s*(?:/[^\s:]{1,300}): (?=.*: )")
"""`/usr/bin/ld: cannot open ...`: it names who speaks."""
_SEGMENT = re.compile(r"([^\n]{1,512}): \Z")
_AFTER = re.compile(
    r"\A[\w :()\[\]-]{0,40}?(?:: | - |@ \w{1,40} - | at path )([^\s'\"`()][^\n'\"`()]{0,512})"
)
_FRAME = re.compile(r"^\s*(?:File \"|at |\d+: )")
_TEMPORARY = re.compile(r"temp|template|\bat path \"", re.IGNORECASE)
_ALONE = re.compile(r"(?:caused by:?|cause:|error:|zip i/o error:|: system error:)?", re.IGNORECASE)
"""What stands before words whose path is told in another line."""
_CODE = re.compile(r"E[A-Z]{3,6}")
_PROPERTY = re.compile(r"\b(?:path|dest|file|filename)(?::|=| ) ?['\"]?(/[^'\"\n]{1,1024})")
"""What Node and its package managers add to a code, a line each."""
_WORDS = frozenset({
    "error", "failed", "failure", "fatal", "warning", "open", "file", "directory", "write", "create",
    "remove", "mkdir", "unlink", "rename", "exception", "errno", "writing", "reading", "execution",
})  # fmt: skip
_OF_RIGHTS = re.compile(r"\s*(?:sudo|su|u?mount|chroot|unshare|setpriv|newgrp|ping|strace|gdb): ")
"""Programs that lack a right when they are refused, and not a place."""
_DOING = re.compile(
    r"\b(?:mkdir|create|open|write|remove|unlink|delete|rename|move|lock|touch|make|access|read|stat)\b"
)
_REMOVING = re.compile(r"\b(?:remov\w+|delet\w+|unlink\w*|rmdir)\b", re.IGNORECASE)
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f]")
_OF_KERNEL = ("/proc", "/sys", "/dev")
_MOST_LOOKS = 120
"""Candidates whose place on disk is looked at."""
_EACH_LINE = 2


def name_paths(printed: Printed, ground: Ground) -> Iterator[tuple[str, bool]]:
    """Paths the program could not use, absolute, and whether the words leave little doubt about it."""
    looks = iter(range(_MOST_LOOKS))
    for kind, words in _KINDS.items():
        for hit in printed.find(words):
            if _OF_RIGHTS.match(hit.line):
                continue
            found = _kept_from(_in_line(hit, kind), kind, ground, looks)
            found = found or _kept_from(_nearby(printed, hit, kind), kind, ground, looks)
            for path in found:
                if kind is _Kind.BUSY and _REMOVING.search(hit.line) and _is_mask(path, ground):
                    continue
                if _TEMPORARY.search(hit.line) and not os.path.lexists(path):
                    path = os.path.dirname(path)  # noqa: PTH120, PLW2901 - its name is another each time
                yield path, kind is not _Kind.DENIED


def _is_mask(path: str, ground: Ground) -> bool:
    """Whether it stands in a project for the time of a sandbox only, see `hame.sandbox.masks`.

    Outside there is nothing to remove.
    """
    folder, name = os.path.split(path)
    if folder not in ground.projects or not name.startswith("."):
        return False
    try:
        return not os.listdir(path)  # noqa: PTH208 - a path as text
    except OSError:
        return not os.path.lexists(path)


def _kept_from(
    texts: Iterator[str], kind: _Kind, ground: Ground, looks: Iterator[int]
) -> list[str]:
    """The first of what may be paths that the sandbox kept the program from."""
    found: list[str] = []
    for text, _ in zip(texts, looks, strict=False):
        path = _absolute(text, ground)
        if path is not None and path not in found and _is_kept_from(path, kind, ground):
            found.append(path)
        if len(found) == _EACH_LINE:
            break
    return found


def _in_line(hit: Hit, kind: _Kind) -> Iterator[str]:
    """What may be a path in a line, the likeliest first."""
    quoted = [text for text in _QUOTED.findall(hit.line) if _may_be_path(text)]
    yield from quoted
    before, after = hit.line[: hit.start], hit.line[hit.end :]
    if match := _PROGRAM.match(hit.line):
        before = " " * match.end() + before[match.end() :]
    if any(text.startswith(("/", "~/", "./", "../")) for text in quoted):
        return
    absolute = [*reversed(_ABSOLUTE.findall(before)), *_ABSOLUTE.findall(after)]
    yield from (text.rstrip(".") for text in absolute)
    if absolute or any("/" in text for text in quoted):
        return
    if match := _AFTER.match(after):
        yield match[1].rstrip(".,;")
    if match := _SEGMENT.search(before):
        yield from _of_segments(match[1].split(": "), kind)


def _of_segments(segments: list[str], kind: _Kind) -> Iterator[str]:
    """`bash: line 1: a`, `tar: a: Cannot open`, `fatal: cannot mkdir a`: who speaks comes first."""
    *others, last = (segment.strip("'\"`") for segment in segments)
    if not others:
        return
    if not any(letter.isspace() for letter in last):
        yield last
    elif len(others) > 1 and not any(letter.isspace() for letter in others[-1]):
        yield others[-1]
    elif (words := last.split()) and (kind is _Kind.READ_ONLY or _DOING.search(last)):
        word = words[-1].strip("'\"`")
        if word.lower() not in _WORDS and any(letter.isalpha() for letter in word):
            yield word


def _nearby(printed: Printed, hit: Hit, kind: _Kind) -> Iterator[str]:
    """Paths in the lines that belong to one which names none."""
    if kind in {_Kind.MISSING, _Kind.BUSY}:
        return
    if _CODE.fullmatch(hit.words):
        for line in printed.around(hit, 0, 4):
            yield from _PROPERTY.findall(line)
    if not _ALONE.fullmatch(hit.line[: hit.start].strip()):
        return
    for line in printed.around(hit, 4, 1):
        texts = [*_QUOTED.findall(line), *_ABSOLUTE.findall(line)]
        texts = [text for text in texts if text.startswith(("/", "~/"))]
        if texts and not _FRAME.match(line):
            yield from texts[:2]
            return


def _may_be_path(text: str) -> bool:
    return not any(mark in text for mark in (": ", ", ", "  "))


def _absolute(text: str, ground: Ground) -> str | None:
    """A path made absolute; None for what is none."""
    text = text.strip()
    if not text or _UNUSABLE.search(text) or "://" in text or text in {".", ".."}:
        return None
    if text == "~" or text.startswith("~/"):
        text = ground.home + text[1:]
    path = os.path.normpath(os.path.join(ground.cwd, text))  # noqa: PTH118 - `..` as the program meant it
    try:
        longest = max(len(os.fsencode(part)) for part in path.split("/"))
    except UnicodeError:
        return None
    return None if longest > 255 or len(path) > 4_096 or path == "/" else path


def _is_kept_from(path: str, kind: _Kind, ground: Ground) -> bool:
    """Whether it was the sandbox that kept the program from this."""
    folder, name = os.path.split(path)
    try:
        real = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
        whole = os.path.realpath(real)
        exists = os.path.lexists(real)
        near = folder if exists or folder == "/" else _nearest_folder(folder)
    except (OSError, ValueError):
        return False
    if kind is _Kind.BUSY:
        return ground.protects(real)
    if kind is _Kind.MISSING:
        return exists and ground.hides(whole)
    if near is None or {ground.right_to(real), ground.right_to(whole)} == {Right.WRITE}:
        return False
    if kind is _Kind.READ_ONLY:
        return not _is_read_only_outside(real if exists else near)
    if near != folder or any(is_below(split(whole), top) for top in _OF_KERNEL):
        return False
    return os.access(whole if exists else folder, os.W_OK)


def _nearest_folder(folder: str) -> str | None:
    """A folder, or the nearest one above it that is there; None where that is the root.

    A path of which nothing is there is one that a test has made up.
    """
    while len(folder) > 1:
        if os.path.isdir(folder):  # noqa: PTH112
            return folder
        folder = os.path.dirname(folder)  # noqa: PTH120
    return None


def _is_read_only_outside(path: str) -> bool:
    """Whether nobody may write there, sandbox or not."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False
