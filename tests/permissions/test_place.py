"""What may be done at a place."""

import pytest

from hame.base.path import FileKind
from hame.base.zone import Operation, ProjectPaths, Zone
from hame.permissions.decision import Decision
from hame.permissions.place import judge_place
from permissions.call import place

PATHS = ProjectPaths(
    root="/p", added=("/extra",), read_only=("/ro",), temporary="/tmp/own", home="/h",
    results="/h/results", config="/h/config",
)  # fmt: skip
R, W, D, L = Operation.READ, Operation.WRITE, Operation.DELETE, Operation.LIST


@pytest.mark.parametrize(
    ("path", "operation", "more", "expected"),
    [
        ("a", R, {}, "allow"), ("a", W, {}, "allow"), ("a", D, {}, "allow"), ("/p", L, {}, "allow"),
        ("/extra/a", W, {}, "allow"), ("/ro/a", R, {}, "allow"), ("/ro/a", W, {}, "ask"), ("/tmp/own/a", W, {}, "allow"),
        ("/tmp/a", W, {}, "ask"), ("/srv/a", R, {}, "ask"), ("/etc/hosts", R, {}, "allow"), ("/etc/hosts", W, {}, "deny"),
        ("/usr/x", L, {}, "allow"), ("/proc/self/fd/3", R, {}, "deny"), ("/proc/self/environ", R, {}, "deny"),
        (".env", R, {}, "deny"), (".env", W, {}, "ask"), (".env.local", D, {}, "ask"), ("/srv/.env", W, {}, "deny"), ("id_rsa", W, {}, "deny"),
        (".git/hooks/x", R, {}, "allow"), (".git/hooks/x", W, {}, "deny"), ("/h/results/x", R, {}, "allow"), ("/h/results/x", W, {}, "deny"),
        ("AGENTS.md", R, {}, "allow"), ("docs/Agents.md", W, {}, "ask"), (".github/workflows/ci.yml", W, {}, "ask"), (".gitlab-ci.yml", W, {}, "ask"),
        ("a", W, {"links": 2}, "ask"), ("a", D, {"links": 2}, "allow"), ("a", R, {"links": 2}, "allow"),
        ("/p", D, {}, "deny"), ("/", D, {}, "deny"), ("/extra", D, {}, "deny"), ("/h", D, {}, "deny"), ("/pq", D, {}, "ask"), ("/p/a", D, {"kind": FileKind.DIRECTORY}, "allow"),
        ("a\nb", W, {}, "ask"), ("a\u202eb", R, {}, "ask"), ("é", W, {}, "allow"),
        ("a", R, {"kind": FileKind.FIFO}, "deny"), ("a", D, {"kind": FileKind.FIFO}, "allow"), ("/dev/zero", R, {"kind": FileKind.DEVICE}, "deny"),
        ("a", L, {"kind": FileKind.SOCKET, "zone": Zone.PROJECT}, "deny"),
    ],
)  # fmt: skip
def test_a_place_gets_its_verdict(
    path: str, operation: Operation, more: dict[str, object], expected: str
) -> None:
    judgement = judge_place(place(path, PATHS, operation, **more), PATHS)
    assert judgement.decision == expected, judgement
    assert bool(judgement.reason) == (judgement.decision is not Decision.ALLOW)
