"""Refused because of the places a command would read, change or destroy."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from hame.base.path import FileKind
from hame.base.zone import (
    SECRET_NAMES,
    SECRET_PARTS,
    SECRET_PLACES,
    SECRET_SUFFIXES,
    SYSTEM_PLACES,
    Operation,
    Zone,
    fold,
    is_secret,
    split,
)
from hame.permissions.commands.found import UNKNOWN, Found, Spoken
from hame.permissions.commands.ground import Reach
from hame.permissions.commands.operands import (
    DELETERS,
    file_words,
    find_destroys,
    find_roots,
    written_words,
)
from hame.permissions.commands.scene import Scene, readings
from hame.permissions.names import names

_HARMLESS_DEVICES = frozenset(
    f"/dev/{name}" for name in ("null", "stdout", "stderr", "stdin", "tty", "zero", "full", "ptmx")
)
_RECURSIVE = names("rm chmod chown chgrp chattr setfacl shred srm trash trash-put")
_SHALLOW = {"var": 2, "home": 2, "users": 2, "root": 1, "opt": 1, "srv": 1, "mnt": 1, "media": 2}
"""Places and how deep below `/` they still count as a whole machine's or a whole person's."""


def refuse_places(found: Found, scene: Scene) -> tuple[str, str] | None:
    """The rule and the reason, when the command touches what no command may touch."""
    return (
        _refuse_secret(found, scene)
        or _refuse_destruction(found, scene)
        or _refuse_write(found, scene)
    )


# ---------------------------------------------------------------- secrets


def _refuse_secret(found: Found, scene: Scene) -> tuple[str, str] | None:
    words = [*file_words(found), *(redirect.target for redirect in found.redirects)]
    for word in words:
        for text in readings(word):
            place = _secret_place(text, word, found, scene)
            if place is not None:
                return "D3", f"{place} holds secrets"
    return None


def _secret_place(text: str, word: Spoken, found: Found, scene: Scene) -> str | None:
    if word.glob and _may_match_secret(text):
        return text
    for place in scene.reaches(text, Operation.READ):
        if place.zone is Zone.SECRET and not _is_mere_ending(text, place, found):
            return place.real.replace(UNKNOWN, "?")
    return None


def _is_mere_ending(text: str, place: Reach, found: Found) -> bool:
    """Whether only the ending sounds like a secret, and nothing tells that it is a file."""
    parts = split(place.real)
    if not parts or not parts[-1].lower().endswith(SECRET_SUFFIXES):
        return False
    plain = (*parts[:-1], "x")
    return (
        not is_secret(plain)
        and place.kind is FileKind.MISSING
        and ("/" not in text or text.startswith("."))
        and found.name
        not in {"cat", "head", "tail", "less", "more", "cp", "mv", "base64", "openssl", "xxd"}
    )


def _may_match_secret(text: str) -> bool:
    """Whether a pattern can match a name that holds secrets, and is not simply every name."""
    parts = [part for part in fold(tuple(text.split("/"))) if part]
    if any(_matches_name(part) for part in parts):
        return True
    runs = [*SECRET_PARTS, *SECRET_PLACES]
    return any(_matches_run(parts, run) for run in runs if len(run) > 1)


def _matches_name(part: str) -> bool:
    if {"*", "?", "["}.isdisjoint(part):
        return False
    letters = [letter for letter in part if letter not in "*?[]!^-"]
    telling = len(letters) >= 3 or (len(letters) == 2 and part.startswith("."))
    if not telling or part.startswith("*"):
        return False
    return any(fnmatchcase(name, part) for name in (*SECRET_NAMES, ".env"))


def _matches_run(parts: list[str], run: tuple[str, ...]) -> bool:
    for start in range(len(parts) - len(run) + 1):
        window = parts[start : start + len(run)]
        matched = all(fnmatchcase(name, part) for name, part in zip(run, window, strict=True))
        if matched and any(part not in {"*", "?*"} for part in window[-1:]):
            return True
    return False


# ---------------------------------------------------------------- destruction


def _refuse_destruction(found: Found, scene: Scene) -> tuple[str, str] | None:
    for word in _destroyed(found, scene):
        text = _without_stars(word.text)
        if word.glob and text.rpartition("/")[0] == "" and text.startswith("/"):
            # A pattern among what stands directly in the root: it can only mean system folders.
            text = "/"
        for place in scene.reaches(text, Operation.DELETE):
            if _is_whole_place(place, scene):
                return "D1", f"it would take away or open up all of {place.real}"
    return None


def _feeds_a_deleter(found: Found, scene: Scene) -> bool:
    """`find ~ | xargs rm`."""
    own = {stage.pipeline: stage.place for stage in found.stages}
    return any(
        own.get(stage.pipeline, stage.place) < stage.place
        for other in scene.commands
        if other.name in DELETERS
        for stage in other.stages
    )


def _destroyed(found: Found, scene: Scene) -> list[Spoken]:
    operands = [word for word in found.arguments if not word.text.startswith("-")]
    if found.name == "find":
        return find_roots(found) if find_destroys(found) or _feeds_a_deleter(found, scene) else []
    if found.name == "rsync":
        emptied = any(text.startswith("--del") for text in found.texts)
        return operands[-1:] if emptied else []
    if found.name == "mv":
        return operands[:-1]
    if found.name not in _RECURSIVE:
        return []
    recursive = found.name in {"shred", "trash", "trash-put"} or any(
        text == "--recursive" or (not text.startswith("--") and not {"r", "R"}.isdisjoint(text))
        for text in found.texts
        if text.startswith("-")
    )
    if not recursive:
        return []
    return operands if found.name in {"rm", "shred", "srm", "trash", "trash-put"} else operands[1:]


def _without_stars(text: str) -> str:
    while text.rpartition("/")[2] in {"*", ".*", ".[!.]*", "**"}:
        head = text.rpartition("/")[0]
        text = head or ("/" if text.startswith("/") else ".")
    return text


def _is_whole_place(place: Reach, scene: Scene) -> bool:
    parts = fold(split(place.real))
    home = fold(split(scene.ground.paths.home)) if scene.ground.paths.home else None
    root = fold(split(scene.ground.paths.root))
    if not parts or parts[-1] == ".git":
        return True
    if home is not None and home[: len(parts)] == parts:
        return True
    if len(parts) < len(root) and root[: len(parts)] == parts:
        return True
    return parts[0] in SYSTEM_PLACES or len(parts) <= _SHALLOW.get(parts[0], 0)


# ---------------------------------------------------------------- writing


def _refuse_write(found: Found, scene: Scene) -> tuple[str, str] | None:
    for word in _all_written(found):
        for place in scene.reaches(word.text, Operation.WRITE):
            refused = _refuse_written_place(place)
            if refused is not None:
                return refused
    return None


def _all_written(found: Found) -> Iterator[Spoken]:
    yield from written_words(found)
    yield from (redirect.target for redirect in found.redirects if redirect.writes)


def _refuse_written_place(place: Reach) -> tuple[str, str] | None:
    if place.real in _HARMLESS_DEVICES or place.real.startswith((
        "/dev/fd/",
        "/dev/pts/",
        "/proc/self/fd/",
    )):
        return None
    if place.real.startswith(("/dev/tcp/", "/dev/udp/")):
        return "D6", "it opens a connection through the shell"
    if place.real.startswith("/dev/") and not place.real.startswith("/dev/shm/"):  # noqa: S108 - a device, not a file of ours
        return "D2", f"it writes to the device {place.real}"
    if place.zone is Zone.PROTECTED and not place.real.startswith("/dev/"):
        return "D4", f"{place.real} is protected: writing it could make other programs run code"
    return None
