"""Past commands of a project, and the rules they suggest."""

from pathlib import Path

from hame.app.rules import Checker, commands_of, ground_of, past_commands, project_paths
from hame.base.entry import CallSettled, ModelAnswered
from hame.base.message import Assistant, ToolCall
from hame.base.outcome import Denied, Done
from hame.config.places import find_places
from hame.permissions.proposing import Ran
from hame.permissions.rule import describe
from hame.sessions.store import SessionStore


def answered(*commands: tuple[str, str, str]) -> ModelAnswered:
    calls = tuple(
        ToolCall(id=name, name="run_command", arguments={"command": command, "cwd": cwd})
        for name, command, cwd in commands
    )
    return ModelAnswered(message=Assistant(content=calls))


async def test_what_past_sessions_ran_becomes_proposals(tmp_path: Path) -> None:
    places = find_places({"HOME": str(tmp_path)})
    paths = project_paths(places, "/p")
    journal = SessionStore(Path(places.sessions)).create("/p", "0")
    await journal.append(answered(("1", "npm test", ""), ("2", "npm test", "."), ("3", "x", "")))
    for name in ("1", "2"):
        await journal.append(CallSettled(call_id=name, name="run_command", outcome=Done(())))
    refused = CallSettled(call_id="3", name="run_command", outcome=Denied("no"))
    await journal.append(refused)
    ran = list(past_commands(places, paths))
    assert ran == [Ran("npm test", "/p")] * 2
    checker = Checker(ground_of(paths, {"PATH": "/nowhere"}))
    (proposal,) = checker.propose(iter(ran))
    assert describe(proposal.rule) == "allow command npm test, cwd ."
    assert proposal.saves == 2


def test_a_call_without_its_outcome_did_not_run() -> None:
    paths = project_paths(find_places({"HOME": "/h"}), "/p")
    assert list(commands_of([answered(("1", "ls", ""))], paths)) == []
