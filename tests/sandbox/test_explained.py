"""Commands in the real sandbox, and what is told of their failures."""

import socket
import tempfile
from collections.abc import Sequence

import pytest

from hame.base.confinement import Confinement, HostDenied, Level, PathDenied, Reach, SandboxDenied
from hame.sandbox.denial import explain
from hame.sandbox.ground import Ground, ground_for
from sandbox.cage import Cage


def failing(cage: Cage, command: str, reach: Reach = Reach.WRITE) -> Sequence[SandboxDenied]:
    """What is told of a command that fails."""
    said = cage.run(command, reach.value)
    assert said.code, said
    confinement = Confinement(reach=reach)
    return explain(confinement, said.output, (), ground_of(cage, confinement))


def ground_of(cage: Cage, confinement: Confinement) -> Ground:
    level = Level.B if cage.is_landlock else Level.A
    return ground_for(cage.site, level, confinement, str(cage.root))


WRITE_OUTSIDE = [
    "touch {out}/x",
    "echo a > {out}/x",
    "mkdir -p {out}/x/y",
    "cp /etc/hostname {out}/x",
    "ln -s a {out}/x",
    '{python} -c \'open("{out}/x", "w")\'',
    "git init -q {out}/x",
    "tar cf {out}/x /etc/hostname",
]


@pytest.mark.parametrize("command", WRITE_OUTSIDE)
@pytest.mark.parametrize("reach", [Reach.READ, Reach.WRITE])
def test_what_could_not_be_written_is_told(cage: Cage, command: str, reach: Reach):
    command = command.format(out=cage.outside, python="/usr/bin/python3")
    assert failing(cage, command, reach) == (PathDenied(f"{cage.outside}/x"),)


@pytest.mark.parametrize("command", ["touch new", "echo a > new", "mkdir new", "git init -q new"])
def test_what_only_reads_could_not_write_the_project(cage: Cage, command: str):
    (denied,) = failing(cage, command, Reach.READ)
    assert denied in {PathDenied(f"{cage.root}/new"), PathDenied(f"{cage.root}/new/.git")}


@pytest.mark.parametrize("mechanism", ["bubblewrap"])
def test_what_is_protected_in_the_project_is_told(cage: Cage):
    cage.git("init", "-q")
    hooks = f"{cage.root}/.git/hooks"
    assert failing(cage, "echo evil > .git/hooks/pre-commit") == (
        PathDenied(f"{hooks}/pre-commit"),
    )
    assert failing(cage, "git config a.b c") == (PathDenied(f"{cage.root}/.git/config"),)
    assert failing(cage, "mv .git .old") == (PathDenied(f"{cage.root}/.git"),)


def test_what_is_hidden_is_told(cage: Cage):
    cage.write("home/.ssh/id_rsa")
    key = f"{cage.home}/.ssh/id_rsa"
    assert failing(cage, "cat ~/.ssh/id_rsa") == (PathDenied(key),)
    assert failing(cage, "cat ~/.ssh/none") == ()


@pytest.mark.parametrize("mechanism", ["bubblewrap"])
def test_a_folder_that_is_another_inside_is_told(cage: Cage):
    """What the user has in /tmp is not what commands find there."""
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        assert failing(cage, f"cat {file.name}") == (PathDenied(file.name),)
    assert failing(cage, f"cat {file.name}") == ()


def test_a_machine_is_told(cage: Cage):
    assert failing(cage, "curl -sS https://example.org/") == (HostDenied("example.org"),)
    assert failing(cage, "git ls-remote https://example.org/x.git") == (HostDenied("example.org"),)


def test_a_service_of_this_machine_is_told(cage: Cage):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        denied = failing(cage, f"curl -sS http://localhost:{port}/")
    assert denied == (HostDenied(f"localhost:{port}"),)


@pytest.mark.parametrize(
    "command",
    [
        "false", "cat missing", "cat /etc/missing", "grep x /etc/hostname", "./missing", "test -e /x",
        "echo 'rm: cannot stat that'; exit 3", "touch locked/x", "exec 2>&1; cat locked/y",
        "curl -sS http://localhost:9/", "ls /nowhere/else", "rmdir full", "cd missing", "kill -9 $$",
    ],
)  # fmt: skip
def test_an_ordinary_failure_is_none(cage: Cage, command: str):
    cage.write(cage.root / "full" / "file")
    cage.write(cage.root / "locked" / "y", mode=0o000)
    (cage.root / "locked").chmod(0o500)
    said = cage.run(command)
    confinement = Confinement(reach=Reach.WRITE)
    assert explain(confinement, said.output, (), ground_of(cage, confinement)) == ()
