"""Whether bubblewrap can be used is found by trying it."""

import os
from pathlib import Path

import pytest

from hame.sandbox.namespaces import Bwrap, Unusable, find_bwrap
from hame.workspace.process import LocalProcesses

PROCESSES = LocalProcesses({"PATH": "/usr/bin:/bin"})


def write_bwrap(folder: Path, script: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return str(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def is_container() -> bool:
    return Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()


def was_run(folder: Path) -> bool:
    return (folder / "ran").exists()


async def test_this_machines_works():
    found = await find_bwrap(os.environ["PATH"], PROCESSES)
    assert isinstance(found, Bwrap), found
    assert found.as_root == (os.geteuid() == 0)
    assert "--unshare-net" in found.options
    assert ("--cap-drop" in found.options) == found.as_root


async def test_one_that_is_not_there_is_to_be_installed(tmp_path: Path):
    found = await find_bwrap(str(tmp_path), PROCESSES)
    assert isinstance(found, Unusable)
    assert "not installed" in found.reason
    assert "bubblewrap" in found.remedy


@pytest.mark.parametrize("path", ["", ".", "relative", ":"])
async def test_it_is_looked_for_in_absolute_folders_only(path: str):
    assert isinstance(await find_bwrap(path, PROCESSES), Unusable)


async def test_one_that_others_may_have_written_is_not_looked_at(folder: Path):
    """Seen failing without the list of unsafe folders: it is run, and believed."""
    project = write_bwrap(folder / "project" / "bin", f"touch {folder}/ran; echo 0.8.0 --tmpfs")
    (folder / "link").symlink_to(project)
    for path in (project, f"{folder}/link"):
        found = await find_bwrap(path, PROCESSES, [f"{folder}/project"])
        assert isinstance(found, Unusable)
    assert not was_run(folder)


async def test_its_own_words_say_why_it_does_not_work(folder: Path):
    path = write_bwrap(
        folder,
        'case "$1" in --version) echo bubblewrap 0.9.0;; --help) echo --unshare-pid;;'
        " *) echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1;; esac",
    )
    found = await find_bwrap(path, PROCESSES)
    assert isinstance(found, Unusable)
    assert found.reason == "bwrap: setting up uid map: Permission denied"
    assert (f"profile bwrap {folder}/bwrap" in found.remedy) != is_container()


async def test_what_is_no_bubblewrap_is_not_taken_for_one(tmp_path: Path):
    for script in ("exit 1", "echo hello", "exec sleep 0.01"):
        found = await find_bwrap(write_bwrap(tmp_path, script), PROCESSES)
        assert isinstance(found, Unusable)
        assert "version" in found.reason


async def test_an_older_one_is_used_with_what_it_can(folder: Path):
    path = write_bwrap(
        folder,
        'case "$*" in *--version*) echo bubblewrap 0.4.0;; *--help*) echo --unshare-pid --unshare-net;;'
        " *disable-userns*|*cgroup*|*cap-drop*) exit 1;; esac",
    )
    found = await find_bwrap(path, PROCESSES)
    assert found == Bwrap(
        program=f"{folder}/bwrap",
        version="0.4.0",
        as_root=False,
        options=("--unshare-pid", "--unshare-net", "--unshare-user"),
        by_descriptor=False,
    )
