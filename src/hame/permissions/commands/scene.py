"""What the deny scan looks at: the commands at every depth, and the folders they may run in."""

from collections.abc import Iterator

import msgspec

from hame.base.zone import Operation
from hame.permissions.commands.found import UNKNOWN, Found, Spoken
from hame.permissions.commands.ground import Ground, Reach, reach
from hame.permissions.commands.loose import find_commands
from hame.permissions.commands.wrapped import SHELLS, inside, unwrap

_MOST_FOLDERS = 6
"""Folders that `cd` may have led to; what else would come is not followed."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A line, taken apart."""

    text: str
    ground: Ground
    commands: tuple[Found, ...]
    """Every command, those inside wrappers too."""
    folders: tuple[str, ...]
    """Where a command may run: the start, and wherever a `cd` may have led."""

    def reaches(self, text: str, operation: Operation) -> Iterator[Reach]:
        """Where a path may lead, from each folder; nothing when too little of it is known."""
        if text in {"-", "--", ""} or text.startswith(UNKNOWN):
            return
        for folder in self.folders if not text.startswith("/") else self.folders[:1]:
            yield reach(text, folder, self.ground, operation)


def set_scene(text: str, ground: Ground) -> Scene:
    """Take a line apart."""
    home = ground.paths.home
    found = [inner for outer in find_commands(text, home=home) for inner in unwrap(outer, home)]
    commands = (*found, *_spoken_to_shells(found, home))
    return Scene(text=text, ground=ground, commands=commands, folders=_folders(commands, ground))


def _spoken_to_shells(commands: list[Found], home: str) -> Iterator[Found]:
    """Commands that are only text until a shell reads them: `echo 'rm -rf ~' | sh`."""
    listening = {
        stage.pipeline for found in commands if found.name in SHELLS for stage in found.stages
    }
    for found in commands:
        spoken = found.name in {"echo", "printf"} and any(
            stage.pipeline in listening for stage in found.stages
        )
        if spoken:
            for inner in inside(find_commands("\n".join(found.texts), home=home), found):
                yield from unwrap(inner, home)


def readings(word: Spoken) -> Iterator[str]:
    """Every text within a word that may be a path: the word, an option's value, what follows `@`."""
    text = word.text
    if "://" in text and not text.startswith("file://"):
        return
    yield text.removeprefix("file://")
    if text.startswith("-") and "=" not in text and not text.startswith("--"):
        yield text[2:]
    _, equals, value = text.partition("=")
    if equals:
        yield value
        text = value
    _, at, value = text.rpartition("@")
    if at:
        yield value
    if ":" in text:
        yield from text.split(":")
    if "," in text:
        yield from (part.partition("=")[2] or part for part in text.split(","))


def _folders(commands: tuple[Found, ...], ground: Ground) -> tuple[str, ...]:
    folders = [ground.start]
    for found in commands:
        if found.name not in {"cd", "pushd"}:
            continue
        operands = [text for text in found.texts if not text.startswith("-")]
        target = operands[0] if operands else ground.paths.home
        if not target or UNKNOWN in target:
            continue
        for folder in tuple(folders):
            place = reach(target, folder, ground, Operation.LIST).real
            if place not in folders and len(folders) < _MOST_FOLDERS:
                folders.append(place)
    return tuple(folders)
