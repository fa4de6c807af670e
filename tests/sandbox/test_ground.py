"""What a sandbox lets programs do with places."""

import pytest

from hame.base.confinement import Confinement, Level, Reach
from hame.base.zone import ProjectPaths
from hame.sandbox.ground import Right, ground_for
from hame.sandbox.site import Site

HOME = "/home/dev"
SITE = Site(
    paths=ProjectPaths(
        root=f"{HOME}/proj",
        added=("/srv/extra",),
        read_only=("/tmp/library",),
        temporary=f"{HOME}/.cache/hame/tmp/1",
        temporary_alias="/tmp",
        home=HOME,
        results=f"{HOME}/.local/share/hame/results",
        config=f"{HOME}/.config/hame",
    ),
    own=(f"{HOME}/.config/hame", f"{HOME}/.local/share/hame", f"{HOME}/.cache/hame"),
    caches=f"{HOME}/.cache/hame/builds/proj",
    scratch=f"{HOME}/.local/state/hame/sandbox",
)
WRITES = Confinement(reach=Reach.WRITE)


@pytest.mark.parametrize(
    ("path", "reads", "writes"),
    [
        (f"{HOME}/proj/a", "read", "write"),
        (f"{HOME}/proj", "read", "write"),
        (f"{HOME}/project2/a", "read", "read"),
        ("/srv/extra/a", "read", "write"),
        ("/tmp/a", "write", "write"),
        ("/tmp/library/a", "read", "read"),
        (f"{HOME}/.cache/hame/tmp/1/a", "write", "write"),
        (f"{HOME}/.cache/hame/builds/proj/npm", "none", "write"),
        (f"{HOME}/.cache/hame/other", "none", "none"),
        (f"{HOME}/.config/hame/config.toml", "none", "none"),
        (f"{HOME}/.ssh/id_rsa", "none", "none"),
        (f"{HOME}/proj/.env", "none", "none"),
        ("/run/postgresql/.s.PGSQL.5432", "none", "none"),
        ("/etc/hosts", "read", "read"),
        (f"{HOME}/.bashrc", "read", "read"),
        (f"{HOME}/proj/.git/hooks/pre-commit", "read", "read"),
        (f"{HOME}/proj/.git/config", "read", "read"),
        (f"{HOME}/proj/.git/index", "read", "write"),
        (f"{HOME}/proj/sub/.git/hooks", "read", "read"),
        ("/srv/extra/.vscode/tasks.json", "read", "read"),
        ("/", "read", "read"),
    ],
)
def test_a_place_has_the_right_of_the_innermost_that_holds_it(path: str, reads: str, writes: str):
    assert ground_for(SITE, Level.A, Confinement(), "/").right_to(path) == reads
    assert ground_for(SITE, Level.A, WRITES, "/").right_to(path) == writes


def test_what_was_granted_may_be_written():
    hooks, other = f"{HOME}/proj/.git/hooks", "/opt/tool"
    for reach in (Reach.READ, Reach.WRITE):
        granted = Confinement(reach=reach, writable=(hooks, other))
        ground = ground_for(SITE, Level.A, granted, "/")
        assert ground.right_to(f"{hooks}/pre-commit") is Right.WRITE
        assert ground.right_to(f"{other}/a") is Right.WRITE
        assert ground.right_to(f"{HOME}/proj/.git/config") is Right.READ


def test_without_namespaces_folders_are_what_they_are():
    plain = ground_for(SITE, Level.B, WRITES, "/")
    assert plain.right_to("/run/x") is Right.READ
    assert plain.right_to(f"{HOME}/proj/a") is Right.WRITE
