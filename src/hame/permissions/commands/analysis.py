"""The verdict on a command: allow, ask or deny, with the rule and the reason."""

import msgspec

from hame.permissions.commands.characters import judge_characters
from hame.permissions.commands.departure import Departure, departure_of
from hame.permissions.commands.ground import Ground
from hame.permissions.commands.line import Flow, Line, UnreadableError, Word
from hame.permissions.commands.options import UnlistedError
from hame.permissions.commands.reading import read_certainly
from hame.permissions.commands.readonly import Folders, Needs, check_command, check_paths
from hame.permissions.commands.scan import scan
from hame.permissions.commands.scene import Scene, set_scene
from hame.permissions.decision import Decision, Judgement


class Open(msgspec.Struct, frozen=True):
    """One command of a line that is not known to only read."""

    words: tuple[Word, ...]
    reason: str
    folders: tuple[str, ...]
    """Where it may run: the start, and wherever a `cd` before it may have led."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a command line."""

    judgement: Judgement
    """For a user who has no rules of their own."""
    scene: Scene | None = None
    """The line taken apart, for rules that refuse; None where its characters were refused."""
    open: tuple[Open, ...] = ()
    """What asks, command by command: the line may run when a rule of the user allows each of them."""
    writes: tuple[Word, ...] = ()
    """Files it writes by redirection; a rule must allow these too."""
    liftable: bool = False
    """Whether rules of the user can allow it: it was read for certain."""
    departure: Departure = Departure()
    """What it will want from beyond the sandbox, where it does not only read."""


def analyse(text: str, ground: Ground) -> Analysis:
    """Judge a command line."""
    characters = judge_characters(text)
    if characters is not None and characters.decision is Decision.DENY:
        return Analysis(judgement=characters)
    scene = set_scene(text, ground)
    refused = scan(scene)
    if refused is not None:
        return Analysis(judgement=refused, scene=scene)
    if characters is not None:
        analysis = Analysis(judgement=characters, scene=scene)
    else:
        analysis = _read(text, scene)
    if analysis.judgement.decision is Decision.ALLOW:
        return analysis
    return msgspec.structs.replace(analysis, departure=departure_of(scene))


def _read(text: str, scene: Scene) -> Analysis:
    try:
        line = read_certainly(text)
    except UnreadableError as error:
        return Analysis(judgement=Judgement(Decision.ASK, str(error), "grammar"), scene=scene)
    return _judge_line(line, scene)


def _judge_line(line: Line, scene: Scene) -> Analysis:
    ground = scene.ground
    folders, needs = Folders(ground), Needs()
    found: list[Open] = []
    for words in line.commands:
        try:
            check_command(words, folders, needs)
        except UnlistedError as error:
            found.append(Open(words, str(error), tuple(folders.places)))
    writes = tuple(item.target for item in line.redirects if item.flow is Flow.WRITE)
    reads = tuple(item.target for item in line.redirects if item.flow is Flow.READ)
    try:
        check_paths(reads, folders, globs=False)
    except UnlistedError as error:
        return Analysis(judgement=Judgement(Decision.ASK, str(error), "paths"), scene=scene)
    return Analysis(
        judgement=_judge(found, writes, needs, ground),
        scene=scene,
        open=tuple(found),
        writes=writes,
        liftable=True,
    )


def _judge(found: list[Open], writes: tuple[Word, ...], needs: Needs, ground: Ground) -> Judgement:
    if found:
        return Judgement(Decision.ASK, found[0].reason, "not read-only")
    if writes:
        return Judgement(Decision.ASK, f"it writes {writes[0].text}", "redirection")
    if needs.sandbox and ground.level not in {"A", "B"}:
        reason = "it only reads, but only a sandbox keeps it from running what the repository names"
        return Judgement(Decision.ASK, reason, "sandbox")
    return Judgement(Decision.ALLOW, "it only reads", "read-only")
