"""The labelled commands, and a day of ordinary ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hame.app.rules import Checker
from hame.base.settings import Mode
from hame.base.zone import ProjectPaths
from hame.permissions.commands.analysis import analyse
from hame.permissions.commands.ground import Ground
from hame.permissions.decision import Decision

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared" / "reference"
COMMANDS, ORDINARY = SHARED / "commands.jsonl", SHARED / "ordinary-commands.txt"
GROUND = Ground(
    paths=ProjectPaths(root="/home/dev/proj", home="/home/dev", config="/home/dev/.config/hame")
)
MOST_QUESTIONS = 40


def rows() -> list[dict[str, Any]]:
    if not COMMANDS.exists():
        return []
    return [json.loads(line) for line in COMMANDS.read_text("utf-8").splitlines() if line]


@pytest.mark.skipif(not rows(), reason="the labelled commands are not on this machine")
def test_every_labelled_command_gets_its_verdict(
    record_property: Callable[[str, object], None],
) -> None:
    wrong: list[tuple[str, str, Decision, str]] = []
    for row in rows():
        ground = Ground(paths=GROUND.paths, links=row.get("symlinks", {}))
        judgement = analyse(row["command"], ground).judgement
        if judgement.decision != row["expected"]:
            wrong.append((row["id"], row["expected"], judgement.decision, judgement.reason))
    right = len(rows()) - len(wrong)
    record_property("summary", f"labelled commands: {right} of {len(rows())} right")
    assert wrong == []


@pytest.mark.skipif(not rows(), reason="the labelled commands are not on this machine")
def test_without_a_sandbox_what_needs_one_is_asked_about() -> None:
    for row in rows():
        if row.get("needs_sandbox"):
            ground = Ground(paths=GROUND.paths, level="none")
            assert analyse(row["command"], ground).judgement.decision is Decision.ASK, row[
                "command"
            ]


@pytest.mark.skipif(not ORDINARY.exists(), reason="the ordinary commands are not on this machine")
def test_a_day_of_ordinary_commands_asks_at_most_forty_times(
    record_property: Callable[[str, object], None],
) -> None:
    day = ORDINARY.read_text("utf-8").splitlines()
    judged = {line: analyse(line, GROUND).judgement for line in day}
    asks = [line for line, judgement in judged.items() if judgement.decision is Decision.ASK]
    auto = sum(
        Checker(GROUND).check(line, Mode.AUTO).judgement.decision is Decision.ASK for line in day
    )
    bare = Ground(paths=GROUND.paths, level="none")
    unconfined = sum(analyse(line, bare).judgement.decision is Decision.ASK for line in day)
    record_property(
        "summary",
        f"{len(day)} ordinary commands: {len(asks)} questions in mode ask (no rules, sandbox A), "
        f"{unconfined} without a sandbox, {auto} in mode auto",
    )
    assert not any(judgement.decision is Decision.DENY for judgement in judged.values())
    assert auto <= 8
    assert len(asks) <= MOST_QUESTIONS
