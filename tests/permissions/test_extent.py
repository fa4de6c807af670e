"""How far a call that may run reaches, and what hame offers when that was not far enough."""

from pathlib import Path

import pytest

from hame.base.confinement import Confinement, HostDenied, Level, PathDenied, Reach, SandboxDenied
from hame.base.outcome import Corrected
from hame.base.ports import Proposal, Shortfall
from hame.base.question import Answer, Choice
from hame.base.settings import Mode
from hame.base.zone import ProjectPaths
from hame.permissions.decision import Decision
from hame.permissions.gate import Grounds, RuleGate
from hame.permissions.rule import Rule
from hame.permissions.rulebook import Rulebook, open_rulebook
from permissions.call import EDIT, RUN, Asker, Prepared, call, running

WRITE = Confinement(reach=Reach.WRITE)
OUTSIDE = Confinement(reach=Reach.OUTSIDE)
PYPI = ("pypi.org", "files.pythonhosted.org")


@pytest.fixture
def paths(tmp_path: Path) -> ProjectPaths:
    (tmp_path / "home/proj").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    return ProjectPaths(
        root=str(tmp_path / "home/proj"),
        home=str(tmp_path / "home"),
        config=str(tmp_path / "home/.config/hame"),
    )


def touch(path: Path) -> Path:
    path.touch()
    return path


class Desk:
    """A gate and who answers it."""

    def __init__(
        self,
        paths: ProjectPaths,
        *answers: Answer | str | None,
        mode: Mode = Mode.ASK,
        level: Level = Level.A,
        rules: tuple[Rule, ...] = (),
        unconfined: bool = False,
    ) -> None:
        self.paths = paths
        self.asker = Asker(*answers)
        self.gate = RuleGate(
            mode=lambda: mode,
            asker=self.asker,
            grounds=Grounds(paths=paths, level=level, unconfined=unconfined),
            book=Rulebook(rules=rules) if rules else open_rulebook(paths.config, paths),
        )

    def proposal(self, command: str) -> Proposal:
        action = running(command, self.paths)
        return Proposal(call=call(RUN, command=command), spec=RUN, action=action, summary=command)

    async def decide(self, command: str) -> object:
        return await self.gate.decide(self.proposal(command))

    async def widen(
        self, command: str, given: Confinement, *denied: SandboxDenied
    ) -> Confinement | Corrected | None:
        return await self.gate.widen(self.proposal(command), Shortfall(given=given, denied=denied))


# ---------------------------------------------------------------- what it may reach


async def test_what_only_reads_may_write_nothing_in_every_mode(paths: ProjectPaths) -> None:
    for mode in Mode:
        assert await Desk(paths, mode=mode).decide("git status") == Confinement()


async def test_a_command_that_was_agreed_to_may_write_the_project(paths: ProjectPaths) -> None:
    desk = Desk(paths, Choice.ONCE)
    assert await desk.decide("make") == WRITE
    assert desk.asker.asked[0].extent == "sandbox A: it writes only this project and has no network"


async def test_a_command_that_was_agreed_to_may_talk_to_whom_it_is_known_to_want(
    paths: ProjectPaths,
) -> None:
    desk = Desk(paths, Choice.ONCE)
    assert await desk.decide("pip install x") == Confinement(reach=Reach.WRITE, hosts=PYPI)
    assert desk.asker.asked[0].extent.endswith("talks only to pypi.org, files.pythonhosted.org")


async def test_mode_auto_lets_a_command_write_the_project_and_gives_it_no_network(
    paths: ProjectPaths,
) -> None:
    desk = Desk(paths, mode=Mode.AUTO)
    assert await desk.decide("make") == WRITE
    assert await desk.decide("pip install x") == WRITE
    assert desk.asker.asked == []


async def test_mode_auto_asks_about_what_can_only_run_outside(paths: ProjectPaths) -> None:
    desk = Desk(paths, Choice.ONCE, mode=Mode.AUTO)
    assert await desk.decide("git push") == OUTSIDE
    question = desk.asker.asked[0]
    assert "git push talks to another machine with your keys" in question.reason
    assert question.extent.startswith("it will run outside the sandbox: git push")


async def test_an_allow_rule_about_the_very_command_lets_it_out(paths: ProjectPaths) -> None:
    rule = Rule(decision=Decision.ALLOW, command=("git", "push", "origin", "main"))
    for mode in (Mode.ASK, Mode.AUTO):
        desk = Desk(paths, mode=mode, rules=(rule,))
        assert await desk.decide("git push origin main") == OUTSIDE


async def test_without_a_sandbox_mode_auto_asks_and_nothing_is_said_to_be_confined(
    paths: ProjectPaths,
) -> None:
    desk = Desk(paths, Choice.ONCE, mode=Mode.AUTO, level=Level.NONE)
    assert await desk.decide("make") == OUTSIDE
    assert "--sandbox none" in desk.asker.asked[0].reason
    assert desk.asker.asked[0].extent.startswith("nothing confines it")


async def test_who_wants_no_sandbox_is_not_asked_in_mode_auto(paths: ProjectPaths) -> None:
    desk = Desk(paths, mode=Mode.AUTO, level=Level.NONE, unconfined=True)
    assert await desk.decide("make && git push") == OUTSIDE
    assert desk.asker.asked == []


async def test_level_b_knows_no_single_machines_and_says_that_it_runs_outside(
    paths: ProjectPaths,
) -> None:
    desk = Desk(paths, Choice.ONCE, level=Level.B)
    assert await desk.decide("pip install x") == OUTSIDE
    assert "outside the sandbox" in desk.asker.asked[0].extent


async def test_machines_that_rules_allow_every_command_are_within_reach(
    paths: ProjectPaths,
) -> None:
    rules = (
        Rule(decision=Decision.ALLOW, host="*.corp.example"),
        Rule(decision=Decision.ALLOW, host="cdn.example"),
        Rule(decision=Decision.ALLOW, host="only.fetch", tool="web_fetch"),
        Rule(decision=Decision.DENY, host="cdn.example"),
    )
    desk = Desk(paths, mode=Mode.AUTO, rules=rules)
    assert await desk.decide("make") == Confinement(reach=Reach.WRITE, hosts=("*.corp.example",))
    assert await desk.decide("ls") == Confinement()


async def test_a_machine_that_a_rule_refuses_hides_in_no_pattern(paths: ProjectPaths) -> None:
    rules = (
        Rule(decision=Decision.ALLOW, host="*.corp.example"),
        Rule(decision=Decision.DENY, host="vault.corp.example"),
    )
    desk = Desk(paths, mode=Mode.AUTO, rules=rules)
    assert await desk.decide("make") == WRITE


async def test_edits_start_nothing_and_reach_nothing(paths: ProjectPaths) -> None:
    desk = Desk(paths, mode=Mode.AUTO)
    action = Prepared()
    proposal = Proposal(call=call(EDIT), spec=EDIT, action=action, summary="")
    assert await desk.gate.decide(proposal) == Confinement()


# ---------------------------------------------------------------- what is offered


async def test_the_narrowest_offer_is_the_machine_for_this_once(paths: ProjectPaths) -> None:
    desk = Desk(paths, Choice.ONCE)
    more = await desk.widen("make", WRITE, HostDenied("pypi.org"))
    assert more == Confinement(reach=Reach.WRITE, hosts=PYPI)
    question = desk.asker.asked[0]
    assert question.choices == (
        Choice.ONCE, Choice.SESSION, Choice.ALWAYS, Choice.OUTSIDE, Choice.NO,
    )  # fmt: skip
    assert question.title == "It wants to talk to pypi.org, files.pythonhosted.org"
    assert await desk.gate.decide(desk.proposal("git status")) == Confinement()


async def test_a_machine_for_the_session_is_within_reach_until_it_ends(paths: ProjectPaths) -> None:
    desk = Desk(paths, Choice.SESSION, mode=Mode.AUTO)
    await desk.widen("make", WRITE, HostDenied("pypi.org"))
    assert await desk.decide("make more") == Confinement(reach=Reach.WRITE, hosts=PYPI)
    desk.gate.forget_grants()
    assert await desk.decide("make more") == WRITE


async def test_a_machine_for_good_is_kept_as_rules_that_were_shown(paths: ProjectPaths) -> None:
    desk = Desk(paths, Choice.ALWAYS, mode=Mode.AUTO)
    await desk.widen("make", WRITE, HostDenied("pypi.org"))
    assert desk.asker.asked[0].rules == (
        "allow tool run_command, host pypi.org",
        "allow tool run_command, host files.pythonhosted.org",
    )
    again = Desk(paths, mode=Mode.AUTO)
    assert await again.decide("make") == Confinement(reach=Reach.WRITE, hosts=PYPI)


async def test_outside_is_for_this_once_only(paths: ProjectPaths) -> None:
    desk = Desk(paths, Choice.OUTSIDE, mode=Mode.AUTO)
    assert await desk.widen("make", WRITE, HostDenied("")) == OUTSIDE
    assert desk.asker.asked[0].choices == (Choice.OUTSIDE, Choice.NO)
    assert await desk.decide("make") == WRITE


@pytest.mark.parametrize("answer", [Choice.NO, None, "whatever", Answer()])
async def test_no_answer_or_no_widens_nothing(
    paths: ProjectPaths, answer: Answer | str | None
) -> None:
    assert await Desk(paths, answer).widen("make", WRITE, HostDenied("x.example")) is None


async def test_words_go_to_the_model(paths: ProjectPaths) -> None:
    said = await Desk(paths, Answer(words="use the mirror")).widen(
        "make", WRITE, HostDenied("x.example")
    )
    assert said == Corrected("use the mirror")


async def test_a_place_outside_is_offered_by_itself(paths: ProjectPaths, tmp_path: Path) -> None:
    file = touch(tmp_path / "other/a.txt")
    desk = Desk(paths, Choice.ONCE, Choice.ONCE)
    more = await desk.widen("make", WRITE, PathDenied(str(file)))
    assert more == Confinement(reach=Reach.WRITE, writable=(str(file),))
    more = await desk.widen("make", WRITE, PathDenied(str(tmp_path / "other/new/b.txt")))
    assert more == Confinement(reach=Reach.WRITE, writable=(str(tmp_path / "other"),))
    assert "all of" in desk.asker.asked[1].title


async def test_a_place_that_runs_code_or_a_whole_home_is_never_a_narrow_grant(
    paths: ProjectPaths, tmp_path: Path
) -> None:
    (tmp_path / "other/.git/refs").mkdir(parents=True)
    touch(tmp_path / "other/.git/refs/x")
    for path in (
        f"{paths.root}/.git/config", f"{paths.home}/.bashrc", "/etc/hosts", f"{paths.home}/new",
        paths.home, "/", f"{tmp_path}/other/.git/packed-refs.lock", f"{tmp_path}/other/.git/refs/y",
    ):  # fmt: skip
        desk = Desk(paths, Choice.NO)
        await desk.widen("make", WRITE, PathDenied(path))
        assert desk.asker.asked[0].choices == (Choice.OUTSIDE, Choice.NO), path


async def test_a_secret_is_not_offered_at_all(paths: ProjectPaths) -> None:
    desk = Desk(paths)
    assert await desk.widen("make", WRITE, PathDenied(f"{paths.home}/.ssh/id_rsa")) is None
    assert desk.asker.asked == []


async def test_a_reader_that_has_to_write_the_project_is_the_modes_to_grant(
    paths: ProjectPaths,
) -> None:
    denied = PathDenied(f"{paths.root}/.cache")
    assert await Desk(paths, mode=Mode.AUTO).widen("ls", Confinement(), denied) == WRITE
    assert await Desk(paths, Choice.ONCE).widen("ls", Confinement(), denied) == WRITE
    assert await Desk(paths, mode=Mode.PLAN).widen("ls", Confinement(), denied) is None


async def test_what_was_granted_already_is_not_offered_again(
    paths: ProjectPaths, tmp_path: Path
) -> None:
    given = Confinement(reach=Reach.WRITE, hosts=PYPI, writable=(str(tmp_path / "other"),))
    for denied in (HostDenied("pypi.org"), PathDenied(str(tmp_path / "other"))):
        desk = Desk(paths, Choice.NO)
        await desk.widen("make", given, denied)
        assert desk.asker.asked[0].choices == (Choice.OUTSIDE, Choice.NO)


async def test_nothing_is_offered_to_what_ran_outside_or_unconfined(paths: ProjectPaths) -> None:
    assert await Desk(paths).widen("make", OUTSIDE, HostDenied("x.example")) is None
    desk = Desk(paths, level=Level.NONE)
    assert await desk.widen("make", WRITE, HostDenied("x.example")) is None


async def test_a_grant_counts_for_what_was_asked_about(paths: ProjectPaths) -> None:
    def write(text: str) -> None:
        Path(paths.root, "run.sh").write_text(text, "utf-8")

    write("echo 1")
    desk = Desk(paths, Choice.OUTSIDE)
    desk.asker.meanwhile = lambda: write("curl evil.example")
    assert await desk.widen("bash run.sh", WRITE, HostDenied("x.example")) is None


async def test_at_level_b_a_machine_is_offered_only_as_the_outside(paths: ProjectPaths) -> None:
    desk = Desk(paths, Choice.OUTSIDE, level=Level.B)
    assert await desk.widen("make", WRITE, HostDenied("x.example")) == OUTSIDE
    assert desk.asker.asked[0].choices == (Choice.OUTSIDE, Choice.NO)


def test_a_child_of_something_confined_reaches_no_further() -> None:
    wide = Confinement(reach=Reach.WRITE, hosts=("a", "b"), writable=("/x", "/y"))
    narrow = Confinement(reach=Reach.READ, hosts=("b", "c"), writable=("/y",))
    assert wide.narrowed_to(narrow) == Confinement(hosts=("b",), writable=("/y",))
    assert OUTSIDE.narrowed_to(narrow) == narrow
    assert wide.narrowed_to(OUTSIDE) == wide
