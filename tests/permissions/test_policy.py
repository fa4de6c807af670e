"""Mode, effect and places in, concerns out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.ports import Target
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import Operation, ProjectPaths, Zone
from hame.permissions.decision import Decision
from hame.permissions.judging import judge
from hame.permissions.policy import Matter
from hame.permissions.rulebook import Rulebook
from permissions.call import place

MODES, EFFECTS = st.sampled_from(Mode), st.sampled_from(Effect)
PATHS = ProjectPaths(root="/p", home="/h")


def spec(effect: Effect, source: str = "") -> ToolSpec:
    return ToolSpec(name="t", description="", effect=effect, source=source)


def target(zone: Zone, operation: Operation = Operation.READ) -> Target:
    return place("/p/a" if zone is Zone.PROJECT else "/srv/a", PATHS, operation, zone=zone)


def decide(mode: Mode, effect: Effect, *targets: Target, source: str = "") -> Decision:
    matter = Matter(mode=mode, spec=spec(effect, source), targets=targets)
    return judge(matter, Rulebook(), PATHS).judgement.decision


@pytest.mark.parametrize("mode", Mode)
def test_reads_inside_the_project_are_free_in_every_mode(mode: Mode) -> None:
    assert decide(mode, Effect.READ, target(Zone.PROJECT)) is Decision.ALLOW


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.RUN, Effect.NETWORK])
def test_mode_ask_asks_for_everything_that_is_not_a_read(effect: Effect) -> None:
    assert decide(Mode.ASK, effect) is Decision.ASK


def test_mode_auto_lets_edits_and_commands_run_and_asks_for_what_leaves() -> None:
    write = target(Zone.PROJECT, Operation.WRITE)
    assert decide(Mode.AUTO, Effect.WRITE, write) is Decision.ALLOW
    assert decide(Mode.AUTO, Effect.RUN) is Decision.ALLOW
    assert decide(Mode.AUTO, Effect.NETWORK) is Decision.ASK
    outside = target(Zone.OUTSIDE, Operation.WRITE)
    assert decide(Mode.AUTO, Effect.WRITE, outside) is Decision.ASK


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.RUN, Effect.NETWORK])
def test_mode_plan_refuses_every_change_with_words_that_ask_for_a_plan(effect: Effect) -> None:
    places = [target(Zone.PROJECT, Operation.WRITE)]
    matter = Matter(mode=Mode.PLAN, spec=spec(effect), targets=places)
    judgement = judge(matter, Rulebook(), PATHS).judgement
    assert judgement.decision is Decision.DENY
    assert "plan" in judgement.reason


def test_contributed_tools_are_always_asked_about() -> None:
    for mode in (Mode.ASK, Mode.AUTO):
        for effect in Effect:
            assert decide(mode, effect, source="acme") is Decision.ASK


@given(MODES, EFFECTS, st.sampled_from(Operation))
def test_secrets_are_out_of_reach_whatever_the_mode(
    mode: Mode, effect: Effect, operation: Operation
) -> None:
    assert decide(mode, effect, target(Zone.SECRET, operation)) is Decision.DENY
