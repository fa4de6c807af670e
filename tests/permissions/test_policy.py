"""Mode, effect and places in, verdict out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.path import FileKind, Resolution
from hame.base.ports import Target
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import Operation, Zone
from hame.permissions.policy import Decision, judge

MODES, EFFECTS = st.sampled_from(Mode), st.sampled_from(Effect)


def spec(effect: Effect, source: str = "") -> ToolSpec:
    return ToolSpec(name="t", description="", effect=effect, source=source)


def target(zone: Zone, operation: Operation = Operation.READ) -> Target:
    place = Resolution(asked="p", real="/p", shown="p", zone=zone, kind=FileKind.FILE)
    return Target(place, operation)


def decide(mode: Mode, effect: Effect, *targets: Target, source: str = "") -> Decision:
    return judge(mode, spec(effect, source), targets).decision


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
    judgement = judge(Mode.PLAN, spec(effect), [target(Zone.PROJECT, Operation.WRITE)])
    assert judgement.decision is Decision.DENY
    assert "plan" in judgement.reason


@given(MODES, EFFECTS, st.sampled_from(Operation))
def test_secrets_are_out_of_reach_whatever_the_mode(
    mode: Mode, effect: Effect, operation: Operation
) -> None:
    assert decide(mode, effect, target(Zone.SECRET, operation)) is Decision.DENY


@given(MODES, st.sampled_from([Operation.WRITE, Operation.CREATE, Operation.DELETE]))
def test_protected_places_and_hames_own_are_never_written(mode: Mode, operation: Operation) -> None:
    assert decide(mode, Effect.WRITE, target(Zone.PROTECTED, operation)) is Decision.DENY
    assert decide(mode, Effect.WRITE, target(Zone.HAME, operation)) is Decision.DENY


def test_protected_places_and_hames_results_can_be_read() -> None:
    assert decide(Mode.ASK, Effect.READ, target(Zone.PROTECTED)) is Decision.ALLOW
    assert decide(Mode.ASK, Effect.READ, target(Zone.HAME)) is Decision.ALLOW


@given(EFFECTS, st.sampled_from([Mode.ASK, Mode.AUTO]))
def test_contributed_tools_always_ask(effect: Effect, mode: Mode) -> None:
    assert decide(mode, effect, source="weather") is Decision.ASK


TARGETS = st.builds(target, st.sampled_from(Zone), st.sampled_from(Operation))


@given(MODES, EFFECTS, st.lists(TARGETS, max_size=4), TARGETS)
def test_one_more_place_never_makes_a_call_freer(
    mode: Mode, effect: Effect, targets: list[Target], more: Target
) -> None:
    order = [Decision.ALLOW, Decision.ASK, Decision.DENY]
    before = decide(mode, effect, *targets)
    after = decide(mode, effect, *targets, more)
    assert order.index(after) >= order.index(before)
