"""What a command would destroy, counted before the question: files that nothing could bring back."""

import os
from collections.abc import Iterator

import anyio
import msgspec

from hame.base.confinement import Confinement
from hame.base.errors import ToolError
from hame.base.git import STILL_ENVIRONMENT, still_command, switched_off
from hame.base.ports import Processes
from hame.base.process import Launch
from hame.base.zone import Operation
from hame.permissions.commands.found import Found
from hame.permissions.commands.ground import reach
from hame.permissions.commands.operands import written_words
from hame.permissions.commands.scene import Scene

_PATIENCE_S = 3.0
_MOST_OUTPUT = 1 << 20
_MOST_ENTRIES = 20_000


class Loss(msgspec.Struct, frozen=True):
    """What one command would destroy."""

    what: str
    """The command's effect in words: `resets the working tree`."""
    git: tuple[str, ...] = ()
    """git command that lists what is lost, one line each; empty when files are counted."""
    places: tuple[str, ...] = ()
    """Real paths that go, or are overwritten."""


def expected_losses(scene: Scene) -> list[Loss]:
    """The destructive commands of a line."""
    return [loss for found in scene.commands for loss in _losses_of(found, scene)]


async def count_losses(scene: Scene, processes: Processes | None) -> str:
    """What the line would destroy, in words with numbers; empty when it destroys nothing."""
    lines: list[str] = []
    for loss in expected_losses(scene):
        lost = _count_places(loss.places) if loss.places else ""
        if loss.git and processes is not None:
            lost = await _ask_git(loss.git, scene.folders[-1], processes)
        elif loss.git:
            lost = "not counted"
        line = f"{loss.what}: {lost}" if lost else loss.what
        if line not in lines:
            lines.append(line)
    return "; ".join(lines)


_STATUS = ("status", "--porcelain=v1", "-z")


def _losses_of(found: Found, scene: Scene) -> Iterator[Loss]:
    texts = found.texts
    match found.name:
        case "git":
            yield from _losses_of_git(texts)
        case "rm" | "rmdir" | "unlink" | "shred" | "truncate":
            places = _existing(found, scene)
            verb = {"truncate": "empties", "shred": "destroys"}.get(found.name, "deletes")
            if places:
                yield Loss(verb, places=places)
        case "mv" | "cp" | "tee" | "dd" | "install":
            places = tuple(
                place
                for place in _existing(found, scene)[-1:]
                if not os.path.isdir(place)  # noqa: PTH112 - a real path as text
            )
            if places and "-a" not in texts and "-n" not in texts:
                yield Loss("overwrites", places=places)
        case "find":
            if "-delete" in texts or "rm" in texts:
                yield Loss("deletes what find finds")
        case _:
            pass
    yield from _truncated(found, scene)


def _truncated(found: Found, scene: Scene) -> Iterator[Loss]:
    for redirect in found.redirects:
        if redirect.operator not in {">", ">|", "&>", "1>"} or not redirect.target.known:
            continue
        place = reach(redirect.target.text, scene.folders[-1], scene.ground, Operation.WRITE).real
        if os.path.isfile(place) and os.path.getsize(place):  # noqa: PTH113, PTH202 - a real path as text
            yield Loss("overwrites", places=(place,))


def _losses_of_git(texts: tuple[str, ...]) -> Iterator[Loss]:
    words = [text for text in texts if text != "--no-pager"]
    command = next((text for text in words if not text.startswith("-")), "")
    options = frozenset(texts)
    letters = {
        letter for text in texts if text[:1] == "-" and text[:2] != "--" for letter in text[1:]
    }
    match command:
        case "reset" if "--hard" in options or "--merge" in options:
            yield Loss("discards all changes that are not committed", _STATUS)
        case "checkout" | "restore" | "switch" if _discards(command, words, options, letters):
            yield Loss("discards changes that are not committed", _STATUS)
        case "clean" if "f" in letters or "--force" in options:
            dry = tuple(f"-{letter}" for letter in ("d", "x", "X") if letter in letters)
            yield Loss("deletes files that git does not know", ("clean", "-n", *dry))
        case "stash" if not {"drop", "clear"}.isdisjoint(options):
            yield Loss("throws stashed changes away", ("stash", "list"))
        case "branch" if "D" in letters:
            yield Loss("deletes a branch, merged or not")
        case "push" if (
            "f" in letters
            or any(text.startswith("--force") for text in texts)
            or any(text.startswith("+") for text in words)
        ):
            yield Loss("replaces what others may have pushed")
        case "push" if "--delete" in options or "d" in letters:
            yield Loss("deletes a branch on the server")
        case _:
            pass


def _discards(command: str, words: list[str], options: frozenset[str], letters: set[str]) -> bool:
    if command == "restore":
        return "--staged" not in options or "--worktree" in options
    if "f" in letters or "--force" in options or "--discard-changes" in options:
        return True
    return command == "checkout" and ("--" in options or "." in words)


def _existing(found: Found, scene: Scene) -> tuple[str, ...]:
    places: list[str] = []
    for word in written_words(found):
        for place in scene.reaches(word.text, Operation.DELETE):
            if os.path.lexists(place.real) and place.real not in places:
                places.append(place.real)
    return tuple(places)


def _count_places(places: tuple[str, ...]) -> str:
    files = size = 0
    more = False
    for place in places:
        for path in _walk(place):
            files += 1
            try:
                size += os.lstat(path).st_size
            except OSError:
                continue
            if files >= _MOST_ENTRIES:
                more = True
                break
    least = "at least " if more else ""
    return f"{least}{files} {'file' if files == 1 else 'files'}, {_size(size)}"


def _walk(place: str) -> Iterator[str]:
    if not os.path.isdir(place) or os.path.islink(place):  # noqa: PTH112, PTH114 - a real path as text
        yield place
        return
    for folder, _, names in os.walk(place):
        yield from (f"{folder}/{name}" for name in names)


def _size(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


async def _ask_git(command: tuple[str, ...], folder: str, processes: Processes) -> str:
    """What git lists, counted. The repository may have been made to harm: see `hame.base.git`."""
    data: bytes | None = None
    with anyio.move_on_after(_PATIENCE_S):
        try:
            listed = ("config", "--list", "--name-only", "-z")
            names = await _output_of(_launch(still_command(*listed), folder), processes) or b""
            filters = switched_off(names.decode("utf-8", "surrogateescape").split("\0"))
            words = still_command(*command, more=filters)
            data = await _output_of(_launch(words, folder), processes)
        except (ToolError, ValueError):
            data = None
    if data is None:
        return "not counted"
    if command == _STATUS:
        return _read_status(data)
    lines = data.splitlines()
    if command[0] == "clean":
        lines = [line for line in lines if not _is_empty_folder(line, folder)]
    return _count_lines(command[0], len(lines))


def _launch(words: tuple[str, ...], folder: str) -> Launch:
    return Launch(
        argv=words,
        cwd=folder,
        extra_env=STILL_ENVIRONMENT,
        merge_stderr=False,
        confinement=Confinement(),
        label="loss",
    )


async def _output_of(launch: Launch, processes: Processes) -> bytes | None:
    """What the program prints; None when it fails or prints too much."""
    data = b""
    async with processes.start(launch) as process:
        async for chunk in process.output():
            data += chunk
            if len(data) > _MOST_OUTPUT:
                return None
        ended = await process.wait()
    return data if ended.ok else None


def _read_status(data: bytes) -> str:
    modified = untracked = 0
    records = iter(data.split(b"\0"))
    for record in records:
        if record[:2] == b"??":
            untracked += 1
        elif record:
            modified += 1
            if record[:1] in {b"R", b"C"}:
                next(records, None)
    files = "file" if modified == 1 else "files"
    return f"{modified} modified {files}, {untracked} untracked"


def _is_empty_folder(line: bytes, folder: str) -> bool:
    """Whether a line of `git clean -n` names a folder without anything in it.

    Among them are those that stand in a sandbox for what it protects.
    """
    name = line.removeprefix(b"Would remove ")
    try:
        return name.endswith(b"/") and not os.listdir(os.path.join(os.fsencode(folder), name))  # noqa: PTH118, PTH208 - bytes
    except OSError:
        return False


def _count_lines(command: str, count: int) -> str:
    noun = "stash" if command == "stash" else "entry"
    many = {"stash": "stashes", "entry": "entries"}[noun]
    return f"{count} {noun if count == 1 else many}"
