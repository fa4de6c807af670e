"""Reading a patch: the `*** Begin Patch` envelope, or a unified diff.

Unified diff: https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html; the
lines git adds: https://git-scm.com/docs/diff-format.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from hame.base.errors import ArgumentError

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_NAME = re.compile(r"(?:---|\+\+\+) (.*?)(?:\t.*)?$")
_WRAPPED = re.compile(r"\A\s*(?:```\w*\n|(?:cat|apply_patch)?\s*<<-?\s*['\"]?(\w+)['\"]?\n)")
_AFTER_HUNK = ("@@", "*** ", "diff ", "\\")
_GIT_NAMES = re.compile(r"diff --git a/(.+) b/\1|diff --git .*")
_GIT_LINE = re.compile(r"(rename from|rename to|new file mode|deleted file mode) (.+)")


class Kind(StrEnum):
    """What a patch does to a file."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """A change in one place."""

    lines: tuple[tuple[str, str], ...]
    """Mark (space, `-` or `+`) and text of every line."""
    anchors: tuple[str, ...] = ()
    """Lines that come before it, one after another, not necessarily next to it."""
    expected: int | None = None
    """The line, from 1, at which it is said to begin."""
    at_end: bool = False
    """It ends where the file ends."""
    newline: bool | None = None
    """Whether the file then ends with a line ending; None: as it does now."""
    label: str = ""
    """How errors name it."""

    @property
    def old(self) -> list[str]:
        """The lines it wants to find."""
        return [text for mark, text in self.lines if mark != "+"]

    @property
    def new(self) -> list[str]:
        """What comes in their place."""
        return [text for mark, text in self.lines if mark != "-"]


class FilePatch(msgspec.Struct, frozen=True, kw_only=True):
    """What is to become of one file."""

    kind: Kind
    path: str
    target: str | None = None
    """Where it moves."""
    hunks: tuple[Hunk, ...] = ()
    content: str = ""
    """The text of a file that is added."""


def parse_patch(text: str) -> list[FilePatch]:
    """The files of a patch.

    Raises:
        ArgumentError: naming the first line that cannot be read.
    """
    lines = _unwrapped(text.replace("\r\n", "\n")).split("\n")
    while lines and not lines[-1]:
        lines.pop()
    reader = _Reader(lines)
    begins = next((index for index, line in enumerate(lines) if line.strip() == _BEGIN), None)
    if begins is not None:
        files = _read_envelope(reader, begins + 1)
    elif any(_FILE.fullmatch(line.rstrip()) for line in lines):
        files = _read_envelope(reader, 0)
    else:
        files = _read_unified(reader)
    if not files:
        raise ArgumentError(
            f"the patch names no file; it begins with `{_BEGIN}` and `*** Update File: path`, or is"
            " a unified diff"
        )
    return files


def _unwrapped(text: str) -> str:
    """Without a code fence or a here-document around it."""
    found = _WRAPPED.match(text)
    if found is None:
        return text
    lines = text[found.end() :].rstrip("\n").split("\n")
    if lines[-1].strip() in {"```", found[1]}:
        lines.pop()
    return "\n".join(lines)


class _Reader:
    """Lines that are read one after another."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0

    @property
    def line(self) -> str | None:
        """The next line; None at the end."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    def take(self) -> str:
        line = self.lines[self.at]
        self.at += 1
        return line

    def error(self, what: str) -> ArgumentError:
        shown = (self.line or "")[:80]
        return ArgumentError(
            f"line {self.at + 1} of the patch {what}: {shown!r}. Nothing was changed"
        )


# ---------------------------------------------------------------- the envelope


def _read_envelope(reader: _Reader, start: int) -> list[FilePatch]:
    reader.at = start
    files: list[FilePatch] = []
    while (line := reader.line) is not None and line.strip() != _END:
        found = _FILE.fullmatch(line.rstrip())
        if found is None:
            if line.strip():
                raise reader.error("should be `*** Add File:`, `*** Update File:` or such")
            reader.take()
            continue
        reader.take()
        path = found[2].strip()
        match found[1]:
            case "Add":
                files.append(FilePatch(kind=Kind.ADD, path=path, content=_read_added(reader)))
            case "Delete":
                files.append(FilePatch(kind=Kind.DELETE, path=path))
            case _:
                files.append(_read_update(reader, path))
    return files


def _read_added(reader: _Reader) -> str:
    lines: list[str] = []
    while (line := reader.line) is not None and not line.startswith("*** "):
        if not line.startswith("+"):
            if not line.strip() and _only_blank_until_section(reader):
                reader.take()
                continue
            raise reader.error("of a file that is added should begin with +")
        lines.append(reader.take()[1:])
    return "".join(f"{line}\n" for line in lines)


def _only_blank_until_section(reader: _Reader) -> bool:
    for line in reader.lines[reader.at :]:
        if line.strip():
            return line.startswith("*** ")
    return True


def _read_update(reader: _Reader, path: str) -> FilePatch:
    target = None
    if reader.line is not None and reader.line.startswith("*** Move to: "):
        target = reader.take().removeprefix("*** Move to: ").strip()
    hunks: list[Hunk] = []
    while reader.line is not None and not _begins_section(reader.line):
        hunk = _read_envelope_hunk(reader, len(hunks) + 1)
        if hunk is not None:
            hunks.append(hunk)
    if not hunks and target is None:
        raise reader.error(f"ends the update of {path}, which changes nothing")
    return FilePatch(kind=Kind.UPDATE, path=path, target=target, hunks=tuple(hunks))


def _begins_section(line: str) -> bool:
    return line.rstrip() == _END or _FILE.fullmatch(line.rstrip()) is not None


def _read_envelope_hunk(reader: _Reader, number: int) -> Hunk | None:
    anchors: list[str] = []
    expected, start = None, reader.at
    while reader.line is not None and reader.line.startswith("@@"):
        line = reader.take().rstrip()
        header = _HEADER.fullmatch(line)
        if header is not None:
            expected, anchor = int(header[1]), header[5]
        else:
            anchor = line.removeprefix("@@").removesuffix("@@").strip()
        anchors += [anchor] if anchor and header is None else []
    lines = _read_hunk_lines(reader)
    at_end = reader.line is not None and reader.line.rstrip() == "*** End of File"
    if at_end:
        reader.take()
    if not lines:
        if anchors:
            raise reader.error("should begin with a space, + or -, after the @@ line")
        if reader.at == start and not reader.take().startswith("\\"):
            reader.at = start
            raise reader.error("cannot be understood")
        return None
    return Hunk(
        lines=tuple(lines), anchors=tuple(anchors), expected=expected, at_end=at_end,
        label=f"hunk {number}",
    )  # fmt: skip


def _read_hunk_lines(reader: _Reader) -> list[tuple[str, str]]:
    """Lines with a mark, up to what cannot be one of them.

    An empty line is an empty line of context, but not at the end, where it only sets sections apart.

    Raises:
        ArgumentError: for a line without a mark.
    """
    raw: list[str] = []
    while (line := reader.line) is not None and not line.startswith(_AFTER_HUNK):
        if line.startswith("--- ") and _names_a_file(reader):
            break
        if line and line[0] not in " +-":
            raise reader.error("should begin with a space, + or -")
        raw.append(reader.take())
    while raw and not raw[-1]:
        raw.pop()
    return [(line[0], line[1:]) if line else (" ", "") for line in raw]


def _names_a_file(reader: _Reader) -> bool:
    """Whether a line that begins with `---` begins another file rather than takes a line away."""
    rest = reader.lines[reader.at + 1 : reader.at + 2]
    return bool(rest) and rest[0].startswith("+++ ")


# ---------------------------------------------------------------- unified diff


def _read_unified(reader: _Reader) -> list[FilePatch]:
    files: list[FilePatch] = []
    while (line := reader.line) is not None:
        if line.startswith("diff --git "):
            files += _read_git_file(reader)
        elif line.startswith("--- "):
            files.append(_read_unified_file(reader))
        elif line.startswith("@@"):
            raise reader.error("has no `--- path` and `+++ path` before it")
        else:
            reader.take()
    return files


def _read_git_file(reader: _Reader) -> list[FilePatch]:
    """A file with git's own lines before its parts; it may have no parts at all."""
    named = _GIT_NAMES.fullmatch(reader.take())
    said: dict[str, str] = {}
    while (line := reader.line) is not None and not line.startswith(("--- ", "diff --git ")):
        found = _GIT_LINE.match(line)
        if line.startswith(("GIT binary patch", "Binary files")):
            raise reader.error("is binary, and only text can be patched")
        if line.startswith("@@"):
            raise reader.error("has no `--- path` and `+++ path` before it")
        if found is not None:
            said[found[1]] = found[2]
        reader.take()
    renamed = said.get("rename to")
    if line is not None and line.startswith("--- "):
        return [_read_unified_file(reader, renamed)]
    if renamed is not None:
        return [FilePatch(kind=Kind.UPDATE, path=said.get("rename from", ""), target=renamed)]
    if named is None or named[1] is None:
        return []
    if "new file mode" in said:
        return [FilePatch(kind=Kind.ADD, path=named[1])]
    return [FilePatch(kind=Kind.DELETE, path=named[1])] if "deleted file mode" in said else []


def _read_unified_file(reader: _Reader, target: str | None = None) -> FilePatch:
    old = _name(reader.take())
    following = reader.line or ""
    if not following.startswith("+++ "):
        raise reader.error("should be `+++ path`")
    new = _name(reader.take())
    hunks: list[Hunk] = []
    while reader.line is not None and reader.line.startswith("@@"):
        hunks.append(_read_unified_hunk(reader, len(hunks) + 1))
    if old is None and new is None:
        raise reader.error("follows a patch of no file")
    if old is None:
        content = "".join(f"{text}\n" for hunk in hunks for text in hunk.new)
        if any(hunk.newline is False for hunk in hunks):
            content = content.removesuffix("\n")
        return FilePatch(kind=Kind.ADD, path=new or "", content=content)
    if new is None:
        return FilePatch(kind=Kind.DELETE, path=old)
    if not hunks and target is None:
        raise reader.error(f"ends the patch of {old}, which has no @@ part")
    return FilePatch(kind=Kind.UPDATE, path=old, target=target, hunks=tuple(hunks))


def _name(line: str) -> str | None:
    """The path of a `---` or `+++` line; None for /dev/null."""
    found = _NAME.match(line)
    path = found[1].strip() if found else ""
    if path == "/dev/null":
        return None
    if len(path) > 1 and path[0] == path[-1] == '"':
        path = path[1:-1].encode("latin-1", "backslashreplace").decode("unicode_escape")
        path = path.encode("latin-1", "replace").decode("utf-8", "replace")
    return re.sub(r"\A[ab]/", "", path)


def _read_unified_hunk(reader: _Reader, number: int) -> Hunk:
    header = _HEADER.fullmatch(reader.take().rstrip())
    lines: list[tuple[str, str]] = []
    newline: bool | None = None
    while True:
        part = _read_hunk_lines(reader)
        lines += part
        if reader.line is None or not reader.line.startswith("\\"):
            break
        reader.take()
        # Said of the line before it: what is taken away had no line ending, or what comes has none.
        newline = part[-1:] != [] and part[-1][0] == "-" if part else newline
    if not lines:
        raise reader.error("should begin with a space, + or -")
    return Hunk(
        lines=tuple(lines),
        expected=int(header[1]) if header else None,
        at_end=newline is not None,
        newline=newline,
        label=f"hunk {number}",
    )
