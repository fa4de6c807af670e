"""The path guard's verdict: what may be done at a place that was resolved."""

import unicodedata

from hame.base.instructions import OBEYED_NAMES
from hame.base.path import FileKind
from hame.base.ports import Target
from hame.base.zone import Operation, ProjectPaths, Zone, fold, is_below, split
from hame.permissions.commands.ground import is_readable_system
from hame.permissions.decision import Decision, Judgement

READING = frozenset({Operation.READ, Operation.LIST})

_PIPELINES = (
    (".github", "workflows"), (".github", "actions"), (".gitlab-ci.yml",), (".circleci",), (".woodpecker",),
    ("azure-pipelines.yml",), ("jenkinsfile",), (".travis.yml",), ("bitbucket-pipelines.yml",), (".drone.yml",),
    (".buildkite",), (".forgejo", "workflows"), (".gitea", "workflows"), (".pre-commit-config.yaml",),
)  # fmt: skip
"""What runs later, elsewhere, with the rights of the repository."""

_SPECIAL = {
    FileKind.FIFO: "a pipe",
    FileKind.SOCKET: "a socket",
    FileKind.DEVICE: "a device",
}


def judge_place(target: Target, paths: ProjectPaths) -> Judgement:
    """Allow, ask or deny one operation at one place."""
    place, reads = target.resolution, target.operation in READING
    if place.zone is Zone.SECRET:
        return _judge_secret(target, paths)
    if place.kind in _SPECIAL and target.operation is not Operation.DELETE:
        what = _SPECIAL[place.kind]
        return Judgement(Decision.DENY, f"{place.shown} is {what}, not a file", "path: special")
    if target.operation is Operation.DELETE and _holds_a_root(place.real, paths):
        return Judgement(
            Decision.DENY, f"{place.real} holds the project or your home", "path: whole"
        )
    match place.zone:
        case Zone.PROJECT:
            return _judge_project(target, paths)
        case Zone.PROTECTED:
            if reads:
                return Judgement(Decision.ALLOW)
            return Judgement(
                Decision.DENY,
                f"{place.shown} is protected: writing it could make other programs run code",
                "path: protected",
            )
        case Zone.HAME:
            if reads:
                return Judgement(Decision.ALLOW)
            return Judgement(Decision.DENY, f"{place.shown} belongs to hame", "path: hame")
        case Zone.OUTSIDE:
            if reads and is_readable_system(place.real):
                return Judgement(Decision.ALLOW)
            return Judgement(Decision.ASK, f"{place.real} is outside the project", "path: outside")


def _holds_a_root(real: str, paths: ProjectPaths) -> bool:
    """Whether a place is the project, an added folder or the home, or lies above one of them."""
    return any(is_below(split(root), real) for root in (*paths.roots, paths.home) if root)


def _judge_secret(target: Target, paths: ProjectPaths) -> Judgement:
    place, reads = target.resolution, target.operation in READING
    leaf = place.real.rpartition("/")[2].lower()
    own = leaf == ".env" or leaf.startswith(".env.")
    if own and not reads and is_below(split(place.real), paths.root):
        reason = f"{place.shown} holds secrets of the project"
        return Judgement(Decision.ASK, reason, "path: project secrets")
    what = "read" if reads else "changed"
    reason = f"{place.shown} holds secrets and is never {what} by a model"
    return Judgement(Decision.DENY, reason, "path: secret")


def _judge_project(target: Target, paths: ProjectPaths) -> Judgement:
    place = target.resolution
    if any(unicodedata.category(letter) in {"Cc", "Cf"} for letter in place.real):
        return Judgement(Decision.ASK, "its name holds hidden characters", "path: characters")
    if target.operation in READING:
        return Judgement(Decision.ALLOW)
    inside = fold(split(place.real)[len(split(paths.root)) :])
    if inside and inside[-1] in OBEYED_NAMES:
        reason = f"{place.shown} tells later sessions what to do"
        return Judgement(Decision.ASK, reason, "path: instructions")
    if any(inside[: len(run)] == run for run in _PIPELINES):
        reason = f"{place.shown} runs later with the repository's rights"
        return Judgement(Decision.ASK, reason, "path: pipelines")
    if place.links > 1 and target.operation is not Operation.DELETE:
        reason = f"{place.shown} has {place.links} names; the others may lie outside the project"
        return Judgement(Decision.ASK, reason, "path: hard link")
    return Judgement(Decision.ALLOW)
