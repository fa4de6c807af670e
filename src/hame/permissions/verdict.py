"""Rules applied to a command line."""

from collections.abc import Callable, Iterable, Sequence

from hame.base.glob import compile_glob
from hame.base.zone import Operation, ProjectPaths, split
from hame.permissions.commands.analysis import Analysis, Open
from hame.permissions.commands.found import Found
from hame.permissions.commands.ground import reach
from hame.permissions.commands.line import Word
from hame.permissions.commands.operands import file_words, written_words
from hame.permissions.commands.scene import Scene, readings
from hame.permissions.decision import Decision, Judgement
from hame.permissions.rule import Fit, Rule, allows_words, covers_path, refuses_command

Pinned = Callable[[str], str | None]
"""Where a program is found now, by its name."""


def judge_refusals(scene: Scene | None, rules: Iterable[Rule]) -> Judgement | None:
    """What the user's deny and ask rules make of a line; the strictest, deny rules first."""
    if scene is None:
        return None
    for rule in rules:
        fit = _fit_of(rule, scene)
        if fit is Fit.YES:
            return Judgement(rule.decision, rule.reason or "a rule of yours says so", rule.name)
        if fit is Fit.PERHAPS:
            reason = "it may be what a rule of yours is about; that shows only when it runs"
            return Judgement(Decision.ASK, reason, rule.name)
    return None


def _fit_of(rule: Rule, scene: Scene) -> Fit:
    if rule.tool or rule.source or rule.host:
        return Fit.NO
    fits = {_fit_of_command(rule, found, scene) for found in scene.commands}
    return next((fit for fit in (Fit.YES, Fit.PERHAPS) if fit in fits), Fit.NO)


def _fit_of_command(rule: Rule, found: Found, scene: Scene) -> Fit:
    if rule.command:
        fit = refuses_command(rule, found)
        return fit if not rule.path or _touches(rule, found, scene) else Fit.NO
    return Fit.YES if rule.path and _touches(rule, found, scene) else Fit.NO


def _touches(rule: Rule, found: Found, scene: Scene) -> bool:
    """Whether a command names a place that a path rule is about."""
    reads = not rule.operations or not {Operation.READ, Operation.LIST}.isdisjoint(rule.operations)
    words = list(file_words(found)) if reads else []
    words += written_words(found)
    words += [redirect.target for redirect in found.redirects if redirect.writes or reads]
    return any(
        covers_path(rule, place.real, scene.ground.paths)
        for word in words
        for text in readings(word)
        for place in scene.reaches(text, Operation.READ)
    )


def allows_line(
    analysis: Analysis, rules: Sequence[Rule], paths: ProjectPaths, *, pinned: Pinned | None
) -> bool:
    """Whether allow rules cover everything in a line that asks, every command of it."""
    if not analysis.liftable or not (analysis.open or analysis.writes):
        return False
    used: list[Rule] = []
    for command in analysis.open:
        rule = next((rule for rule in rules if _allows(rule, command, paths, pinned)), None)
        if rule is None:
            return False
        used.append(rule)
    return all(_may_write(word, used or rules, analysis, paths) for word in analysis.writes)


def _allows(rule: Rule, command: Open, paths: ProjectPaths, pinned: Pinned | None) -> bool:
    if not rule.command or rule.tool or rule.source or rule.path or rule.host:
        return False
    if not allows_words(rule, command.words):
        return False
    if rule.cwd:
        wanted = split(f"{paths.root}/{rule.cwd}")
        if any(split(folder) != wanted for folder in command.folders):
            return False
    if rule.program and pinned is not None:
        return pinned(command.words[0].text) == rule.program
    return True


def _may_write(word: Word, rules: Sequence[Rule], analysis: Analysis, paths: ProjectPaths) -> bool:
    if analysis.scene is None or not word.literal:
        return False
    root = split(paths.root)
    for folder in analysis.scene.folders:
        place = reach(word.text, folder, analysis.scene.ground, Operation.WRITE)
        parts = split(place.real)
        inside = parts[: len(root)] == root
        path = "/".join(parts[len(root) :])
        globs = [glob for rule in rules for glob in rule.writes]
        if not inside or not any(compile_glob(glob).fullmatch(path) for glob in globs):
            return False
    return True
