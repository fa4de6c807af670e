"""Whether a line only reads: every command of it on the list, every path where reading is free."""

import glob as globbing
import os
import re
from collections.abc import Iterator
from itertools import islice
from os.path import normpath
from pathlib import Path

from hame.base.path import FileKind
from hame.base.zone import Operation, Zone
from hame.permissions.commands.characters import escape
from hame.permissions.commands.ground import (
    Ground,
    is_readable_system,
    is_within,
    reach,
    runs_from_project,
)
from hame.permissions.commands.line import Word
from hame.permissions.commands.options import Operands, Program, UnlistedError, parse_options
from hame.permissions.commands.special import BY_OPTIONS, BY_WORDS, Words
from hame.permissions.commands.table import (
    GIT_KEYS,
    GIT_PAIRS,
    TELL_VERSION,
    git_commands,
    programs,
)
from hame.permissions.names import names

_TRUSTED_FOLDERS = frozenset({"/bin", "/usr/bin"})
_NAME = re.compile(r"[A-Za-z0-9_.+-]+")
_DURATION = re.compile(r"\d{1,6}(?:\.\d{1,3})?[smh]?")
_GIT_QUIET = frozenset({"--no-pager", "-P", "--no-optional-locks"})
_MOST_MATCHES = 500
_MOST_FOLDERS = 4
_BARE_PATTERN = re.compile(r"[*?\[]")
_BRACKETS = re.compile(r"\[[!^]?[^\[\]/]+\]")
_RUNS_GPG = re.compile(r"%[-+ ]?G|%\(\*?signature")
"""Placeholders of git's formats that start `gpg.program`; `%+G?` is one too (git-log(1))."""
_SORTS_BY_SIGNATURE = re.compile(r"--sort=-?\*?signature")
_REFLOG_VERBS = names("expire delete drop exists write list migrate")


class Folders:
    """The folders a command may run in, once a `cd` may or may not have worked."""

    def __init__(self, ground: Ground) -> None:
        """Begin where the line begins."""
        self.ground = ground
        self.places = [ground.start]
        self._linked = False

    @property
    def moved(self) -> bool:
        """Whether a `cd` went before."""
        return len(self.places) > 1

    def enter(self, word: Word) -> None:
        """A `cd` to a literal folder in the project.

        Raises:
            UnlistedError: when it leads out, or its place is not certain.
        """
        if not word.literal or word.text.startswith("-") or not word.text:
            raise UnlistedError("where cd leads is not certain")
        for folder in tuple(self.places):
            place = reach(word.text, folder, self.ground, Operation.LIST)
            if place.unsure or place.zone not in {Zone.PROJECT, Zone.PROTECTED}:
                raise UnlistedError(f"cd leads to {place.real}, outside the project")
            if self._linked and ".." in word.text.split("/"):
                raise UnlistedError("cd goes up from where a link leads")
            written = word.text if word.text.startswith("/") else f"{folder}/{word.text}"
            self._linked = self._linked or place.real != normpath(written)
            if place.real not in self.places:
                self.places.append(place.real)
        if len(self.places) > _MOST_FOLDERS:
            raise UnlistedError("it changes folders too often to follow")


class Needs:
    """What an allowed command needs of its surroundings."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.sandbox = False
        """Only a sandbox keeps it from following links to secrets, or running what git is told to."""


def check_command(words: Words, folders: Folders, needs: Needs) -> None:
    """Pass a command that only reads.

    Raises:
        UnlistedError: with the reason to ask.
    """
    words = _without_prefix(words)
    if not words:
        raise UnlistedError("there is no command")
    name, arguments = _program_name(words[0], folders.ground), words[1:]
    if name == "cd":
        if len(arguments) != 1:
            raise UnlistedError("where cd leads is not certain")
        folders.enter(arguments[0])
        return
    if name == "git":
        _check_git(arguments, folders, needs)
    elif len(arguments) == 1 and arguments[0].text == "--version" and _tells_version(name):
        return
    elif name == "command":
        _check_lookup(arguments)
    elif name in BY_WORDS:
        check_paths(BY_WORDS[name](arguments), folders, globs=False)
    elif name in programs():
        _check_listed(name, programs()[name], arguments, folders)
        needs.sandbox = needs.sandbox or _follows_links(name, arguments)
    else:
        raise UnlistedError(f"{escape(name)} is not known to only read")


def check_paths(words: Words, folders: Folders, *, globs: bool) -> None:
    """Pass paths that may be read without a question, from every folder the command may run in.

    Raises:
        UnlistedError: for one that may not.
    """
    for word in words:
        if word.text == "-" and word.literal:
            continue
        if word.glob:
            _check_pattern(word, folders, allowed=globs)
        else:
            _check_path(word.text, folders, tilde=word.tilde)


def _check_path(text: str, folders: Folders, *, tilde: bool = False) -> None:
    ground = folders.ground
    if not text:
        return
    if tilde:
        text = ground.paths.home + text[1:]
    for folder in folders.places if not text.startswith("/") else folders.places[:1]:
        place = reach(text, folder, ground, Operation.READ)
        if place.unsure:
            raise UnlistedError(f"{text} goes up from where a link leads")
        if place.real == "/dev/null":
            continue
        readable = place.zone in {Zone.PROJECT, Zone.PROTECTED, Zone.HAME} or (
            place.zone is Zone.OUTSIDE and is_readable_system(place.real)
        )
        if not readable:
            raise UnlistedError(f"{place.real} is outside the project")
        if folders.moved and text != place.real and not _is_project(place.zone):
            raise UnlistedError(f"{text} may be one of several files")
        if place.kind not in {FileKind.FILE, FileKind.DIRECTORY, FileKind.MISSING}:
            raise UnlistedError(f"{place.real} is a {place.kind}")


def _is_project(zone: Zone) -> bool:
    return zone in {Zone.PROJECT, Zone.PROTECTED}


def _check_pattern(word: Word, folders: Folders, *, allowed: bool) -> None:
    """A pattern behind a literal folder: it cannot become an option; what it matches is looked at.

    Raises:
        UnlistedError: for another pattern, or a match that may not be read.
    """
    head = word.text[: next(m.start() for m in _BARE_PATTERN.finditer(word.text))]
    if not allowed or "/" not in head or word.text.startswith("-") or word.tilde:
        raise UnlistedError(f"{word.text} may match anything, even what is taken for an option")
    _check_path(head.rpartition("/")[0] or "/", folders)
    # The shell's `[^a]` and `[[:alpha:]]` are not Python's: any one character stands for them.
    pattern = _BRACKETS.sub("?", word.text)
    if "[" in pattern:
        raise UnlistedError(f"what {word.text} matches is not certain")
    for folder in folders.places:
        matches = list(islice(_matches(pattern, folder), _MOST_MATCHES + 1))
        if len(matches) > _MOST_MATCHES:
            raise UnlistedError(f"{word.text} matches more than {_MOST_MATCHES} files")
        for found in matches:
            _check_path(found, folders)


def _matches(pattern: str, folder: str) -> Iterator[str]:
    # Not Path.glob: the shell's patterns may be absolute, and its names are not tidied.
    return globbing.iglob(pattern, root_dir=folder)  # noqa: PTH207 - see above


def _without_prefix(words: Words) -> Words:
    """The command behind `time`, `time -p` and `timeout N`."""
    while len(words) > 1 and words[0].literal:
        first, second = words[0].text, words[1].text
        if first == "time":
            words = words[2:] if second == "-p" else words[1:]
        elif first == "timeout" and _DURATION.fullmatch(second):
            words = words[2:]
        else:
            break
    return words


def _program_name(word: Word, ground: Ground) -> str:
    """The name of a program that is the system's.

    Raises:
        UnlistedError: for one that is not, or an odd name.
    """
    folder, slash, name = word.text.rpartition("/")
    if not word.literal or (slash and folder not in _TRUSTED_FOLDERS):
        raise UnlistedError(f"the program {escape(word.text)} is not one of the system's")
    if not _NAME.fullmatch(name) and name != "[":
        raise UnlistedError(f"the program is named {escape(name)}")
    if not slash and runs_from_project(name, ground):
        raise UnlistedError(f"{name} would be run from the project's own folder")
    return name


def _tells_version(name: str) -> bool:
    return (
        name in TELL_VERSION
        or name in programs()
        or re.fullmatch(r"python3\.\d+", name) is not None
    )


def _check_lookup(words: Words) -> None:
    """`command -v NAME`.

    Raises:
        UnlistedError: for anything else, which would run.
    """
    plain = all(word.literal for word in words)
    if len(words) < 2 or words[0].text not in {"-v", "-V"} or not plain:
        raise UnlistedError("command runs what follows")
    if not all(_NAME.fullmatch(word.text) for word in words[1:]):
        raise UnlistedError("it looks up something odd")


def _check_listed(name: str, program: Program, words: Words, folders: Folders) -> None:
    """Pass a program of the table.

    Raises:
        UnlistedError: for options or operands that are not on its list.
    """
    parsed = parse_options(program, words)
    if name in BY_OPTIONS:
        check_paths(BY_OPTIONS[name](parsed), folders, globs=program.globs)
        return
    match program.operands:
        case Operands.NONE:
            if parsed.operands:
                raise UnlistedError(f"{name} takes no operands without changing something")
        case Operands.TEXT:
            if not all(word.literal for word in parsed.operands):
                raise UnlistedError("a pattern would list files")
        case Operands.NAMES:
            if not all(_NAME.fullmatch(word.text) for word in parsed.operands):
                raise UnlistedError("it looks up something odd")
        case Operands.PATHS:
            check_paths(parsed.operands, folders, globs=program.globs)
        case Operands.PATTERN_THEN_PATHS:
            given = not parsed.options.isdisjoint({"e", "regexp", "files", "type-list"})
            rest = parsed.operands if given else parsed.operands[1:]
            if not given and parsed.operands and not parsed.operands[0].literal:
                raise UnlistedError("the pattern to look for is itself expanded")
            check_paths(rest, folders, globs=program.globs)


def _follows_links(name: str, words: Words) -> bool:
    """Whether it goes into folders that links below its operands lead to."""
    match name:
        case "grep" | "egrep" | "fgrep":
            letter = "R"
        case "diff":
            letter = "r"
        case "du":
            letter = "L"
        case _:
            return False
    return any(
        word.text == "--recursive" if word.text.startswith("--") else letter in word.text
        for word in words
        if word.text.startswith("-")
    )


# ---------------------------------------------------------------- git


def _check_git(words: Words, folders: Folders, needs: Needs) -> None:
    """Pass a git command that only reads.

    Raises:
        UnlistedError: for any other.
    """
    needs.sandbox = True
    if len(words) == 1 and words[0].text == "--version":
        needs.sandbox = False
        return
    if folders.moved:
        raise UnlistedError("git would obey the settings of another folder")
    if _has_own_repository(folders.ground):
        raise UnlistedError("git would obey the settings of another repository")
    if any(not word.literal for word in words):
        raise UnlistedError("a pattern may become an option")
    while words and words[0].text in _GIT_QUIET:
        words = words[1:]
    if not words:
        raise UnlistedError("git without a command")
    name = words[0].text
    pair = (name, words[1].text) if len(words) > 1 else (name, "")
    if name == "config":
        _check_git_key(words[1:])
    elif name == "reflog" and pair[1] != "show":
        _check_git_operands(
            GIT_PAIRS["reflog", "show"], words[1:], folders, most=1, none_of=_REFLOG_VERBS
        )
    elif pair in GIT_PAIRS:
        _check_git_operands(GIT_PAIRS[pair], words[2:], folders)
    elif name in git_commands():
        _check_git_operands(git_commands()[name], words[1:], folders)
        _check_listing(name, words[1:])
    else:
        raise UnlistedError(f"git {escape(name)} is not known to only read")


def _has_own_repository(ground: Ground) -> bool:
    """Whether a repository lies between the folder it runs in and the top of the project."""
    tops = sorted((ground.paths.root, *ground.paths.added), key=len, reverse=True)
    top = next((top for top in tops if is_within(ground.start, top)), "")
    if not top:
        return True
    folder = Path(ground.start)
    while str(folder) != top and folder != folder.parent:
        if os.path.lexists(folder / ".git") or os.path.lexists(folder / "HEAD"):
            return True
        folder = folder.parent
    return False


def _check_git_operands(
    program: Program,
    words: Words,
    folders: Folders,
    *,
    most: int | None = None,
    none_of: frozenset[str] = frozenset(),
) -> None:
    """Pass options and operands of a git command.

    Raises:
        UnlistedError: for one that does more than read, or leads out of the project.
    """
    parsed = parse_options(program, words)
    for word in (*parsed.operands, *parsed.values):
        if _RUNS_GPG.search(word.text) or _SORTS_BY_SIGNATURE.match(word.text):
            raise UnlistedError("it would run the program that checks signatures")
    if most is not None and len(parsed.operands) > most:
        raise UnlistedError(f"{parsed.operands[most].text} may be more than it takes to read")
    for word in parsed.operands:
        text = word.text
        place = text.rpartition(":")[2] if not text.startswith(":") else text
        parts = place.split("/")
        if (
            text in none_of
            or text.startswith((":(", "/", "~"))
            or place.startswith(("/", "~"))
            or ".." in parts
        ):
            raise UnlistedError(f"{text} may lead out of the project, or do more than read")
        # Outside a repository `git diff` reads any two files, through links too.
        reached = reach(text, folders.ground.start, folders.ground, Operation.READ)
        if reached.unsure or not _is_project(reached.zone):
            raise UnlistedError(f"{text} leads to {reached.real}, outside the project")


def _check_listing(name: str, words: Words) -> None:
    """`branch` and `tag` make what they are given, unless they are told to list.

    Raises:
        UnlistedError: when they would make something.
    """
    if name not in {"branch", "tag"}:
        return
    texts = [word.text for word in words]
    if "--" in texts:
        # What follows is no option, whatever it looks like.
        at = texts.index("--")
        words, after = words[:at], words[at + 1 :]
    else:
        after = ()
    listing = any(
        word.text in {"--list", "-l"} or word.text.startswith("--list=") for word in words
    )
    operands = [*(word for word in words if not word.text.startswith("-")), *after]
    if name == "branch":
        listing = any(word.text == "--list" for word in words)
    if operands and not listing:
        raise UnlistedError(f"git {name} would make {operands[0].text}")


def _check_git_key(words: Words) -> None:
    if len(words) != 2 or words[0].text != "--get" or words[1].text not in GIT_KEYS:
        raise UnlistedError("git config may change, or show, what git does")
