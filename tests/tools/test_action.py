"""Actions: places are held and let go, approvals are bound, and nothing is told too early."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.confinement import Confinement
from hame.base.errors import PathError, ToolError
from hame.base.outcome import Done, text_content
from hame.base.path import Identity
from hame.base.zone import Operation
from hame.tools.action import HeldAction, Plan, fingerprint, hold, locate_all, require_same


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def nothing() -> Done:
    return Done(text_content("done"))


@settings(deadline=None)
@given(st.lists(st.text()), st.lists(st.text()))
def test_two_sequences_have_one_fingerprint_only_if_they_are_the_same(one, other):
    assert (fingerprint(*one) == fingerprint(*other)) == (one == other)


def test_what_was_opened_is_closed_when_a_later_path_cannot_be(desk):
    (desk.root / "loop").symlink_to("loop")
    before = descriptors()
    with pytest.raises(PathError):
        locate_all(desk.workspace, ("a", Operation.READ), ("loop", Operation.READ))
    assert descriptors() == before


async def test_places_are_closed_when_the_plan_fails_and_when_the_action_is_closed(desk):
    before = descriptors()

    async def fails() -> Plan:
        raise ToolError("no")

    async def breaks() -> Plan:
        raise ZeroDivisionError

    for planning, error in ((fails, ToolError), (breaks, ZeroDivisionError)):
        with pytest.raises(error):
            await hold(locate_all(desk.workspace, ("a", Operation.READ)), planning)
    assert descriptors() == before

    async def works() -> Plan:
        return Plan(nothing)

    action = await hold(locate_all(desk.workspace, ("a", Operation.READ)), works)
    assert descriptors() > before
    action.close()
    action.close()
    assert descriptors() == before


@pytest.mark.parametrize("path", ["~/.ssh/id_rsa", "/etc/hostname", ".env", ".git/config"])
async def test_outside_the_projects_own_files_a_failed_check_is_kept_for_later(desk, path):
    async def fails() -> Plan:
        raise ToolError("line 1 holds something secret")

    action = await hold(locate_all(desk.workspace, (path, Operation.WRITE)), fails)
    assert isinstance(action, HeldAction)
    assert len(action.targets) == 1
    assert action.view is None
    with pytest.raises(ToolError, match="secret"):
        await action.run(Confinement())
    action.close()


async def test_a_digest_follows_place_operation_and_what_is_bound(desk):
    desk.write("a", "1")
    desk.write("b", "1")

    def digest(path: str, operation: Operation, *binds: str) -> str:
        action = HeldAction(
            locate_all(desk.workspace, (path, operation)), Plan(nothing, binds=binds)
        )
        action.close()
        return action.digest

    first = digest("a", Operation.READ, "x")
    assert first == digest("a", Operation.READ, "x")
    assert first == digest("./a", Operation.READ, "x")
    others = {
        digest("b", Operation.READ, "x"),
        digest("a", Operation.WRITE, "x"),
        digest("a", Operation.READ, "y"),
        digest("a", Operation.READ, "x", ""),
    }
    assert first not in others
    assert len(others) == 4


def test_a_path_that_leads_elsewhere_now_is_noticed(desk):
    desk.write("one/f", "1")
    desk.write("two/f", "2")
    (desk.root / "link").symlink_to("one")
    places = locate_all(desk.workspace, ("link/f", Operation.WRITE))
    assert isinstance(places[0][0].resolution.identity, Identity)
    require_same(desk.workspace, places)
    (desk.root / "link").unlink()
    (desk.root / "link").symlink_to("two")
    with pytest.raises(PathError, match="changed since"):
        require_same(desk.workspace, places)
    places[0][0].close()
