"""What is captured, and what is not: nested repositories, limits, odd names, hostile settings."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from hame.base.errors import ToolError
from hame.base.snapshot import Attempt
from hame.workspace.snapshots import disk, folders
from hame.workspace.snapshots.store import store_of
from workspace.snapshots.conftest import Project, git, state_of


async def test_files_of_nested_repositories_and_submodules_come_back(
    project: Project, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / "lib.c").write_text("int x;\n")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "lib")
    git(project.root, "init", "-q")
    git(
        project.root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(other),
        "sub",
    )
    nested = project.root / "vendor" / "tool"
    nested.mkdir(parents=True)
    git(nested, "init", "-q")
    project.put("vendor/tool/main.go", b"package main\n")
    project.put("vendor/tool/.gitignore", b"*.o\n")
    project.put("vendor/tool/big.o", b"\0")
    inner = nested / "deep"
    inner.mkdir()
    git(inner, "init", "-q")
    project.put("vendor/tool/deep/x.txt", b"deep\n")
    before = state_of(project.root)
    session = project.session()
    await session.run("rm sub/lib.c vendor/tool/main.go vendor/tool/deep/x.txt; echo 1 > sub/new.c")
    assert "sub/new.c" in {
        change.path.removeprefix(f"{project.root}/")
        for step in await session.snapshots.steps()
        for change in step.changes
    }
    await session.undo()
    assert state_of(project.root) == before
    assert git(project.root, "status", "--porcelain", "sub").strip() in {"A  sub", ""}


def write_named(path: bytes, data: bytes) -> None:
    Path(os.fsdecode(path)).write_bytes(data)


async def test_names_that_are_no_text_come_back(project: Project) -> None:
    odd = [b"caf\xe9", b"new\nline", b" leading", b"quote\"'", b"back\\slash", b"-dash", b":colon"]
    root = os.fsencode(project.root)
    for name in odd:
        write_named(root + b"/" + name, name)
    session = project.session()
    await session.run("rm -f -- * ' leading'; ls -A | wc -l")
    assert list(project.root.iterdir()) == []
    plan, step = await session.undo()
    assert plan.conflicts == ()
    assert step.failed == ()
    assert sorted(os.fsencode(path.name) for path in project.root.iterdir()) == sorted(odd)
    again = project.session()
    assert len(await again.snapshots.steps()) == 2


async def test_modes_and_links_come_back(project: Project) -> None:
    project.put("private.key", b"k", 0o600)
    project.put("run.sh", b"#!/bin/sh\n", 0o750)
    (project.root / "dangling").symlink_to("nowhere")
    session = project.session()
    await session.run("chmod 644 run.sh; rm private.key dangling; ln -s run.sh dangling")
    await session.undo()
    assert (project.root / "private.key").stat().st_mode & 0o777 == 0o600
    assert (project.root / "run.sh").stat().st_mode & 0o100
    assert str((project.root / "dangling").readlink()) == "nowhere"


async def test_what_is_too_large_is_not_held_and_never_lost(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "LARGEST", 1000)
    monkeypatch.setattr("hame.workspace.snapshots.capture.LARGEST", 1000)
    project.put("grows.log", b"x" * 500)
    project.put("large.bin", b"y" * 5000)
    session = project.session()
    await session.run("head -c 5000 /dev/zero > grows.log; head -c 3000 /dev/zero > made.bin")
    plan, _ = await session.undo()
    held = {planned.path.rpartition("/")[2] for planned in plan.moves}
    left = {conflict.path.rpartition("/")[2] for conflict in plan.conflicts}
    # What cannot be put back by the next undo is not taken away by this one.
    assert held == set()
    assert left == {"grows.log", "made.bin"}
    assert (project.root / "large.bin").read_bytes() == b"y" * 5000
    await session.run("rm large.bin")
    plan, _ = await session.undo(2)
    assert [conflict.why for conflict in plan.conflicts] == ["it was too large to be held"]


async def test_special_files_are_passed_over(project: Project) -> None:
    os.mkfifo(project.root / "pipe")
    project.put("a.txt", b"a\n")
    session = project.session()
    await session.run("rm a.txt")
    await session.undo()
    assert (project.root / "a.txt").read_bytes() == b"a\n"
    assert (project.root / "pipe").is_fifo()


async def test_before_a_destructive_command_the_user_is_told_what_is_held(
    project: Project,
) -> None:
    project.put(".gitignore", b".env\nbig/\n")
    project.put(".env", b"K=1\n")
    for number in range(2_050):
        project.put(f"big/{number}", b"")
    session = project.session()
    await session.run("ls")
    assert session.notices == []
    await session.run("rm -rf .env")
    (words,) = session.notices
    assert words == (
        "undo holds 2 files as they are now, 1 of them ignored (.env), "
        "not big/ (ignored and too large)"
    )
    await session.undo()
    assert (project.root / ".env").read_bytes() == b"K=1\n"


async def test_a_folder_that_a_tool_deletes_comes_back_with_ignored_files(
    project: Project,
) -> None:
    project.put(".gitignore", b"*.o\n")
    project.put("src/a.c", b"a\n")
    project.put("src/a.o", b"\0")
    (project.root / "src" / "link").symlink_to("a.c")
    before = project.state()
    session = project.session()
    await session.edit("src", None)
    assert not (project.root / "src").exists()
    await session.undo()
    assert project.state() == before


async def test_a_folder_that_a_tool_made_goes(project: Project) -> None:
    session = project.session()
    place = project.root / "new"
    attempt = Attempt(call="c", tool="create_dir", title="new", record="r", paths=(str(place),))
    await session.snapshots.begin(attempt)
    place.mkdir()
    session.snapshots.end("c")
    _, step = await session.undo()
    assert not place.exists()
    await session.undo(step.number)
    assert place.is_dir()


async def test_a_file_outside_the_project_that_a_tool_changes_comes_back(
    project: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "elsewhere.txt"
    outside.write_bytes(b"a\n")
    session = project.session()
    attempt = Attempt(call="c", tool="edit_file", title="t", record="r", paths=(str(outside),))
    await session.snapshots.begin(attempt)
    outside.write_bytes(b"b\n")
    session.snapshots.end("c")
    await session.undo()
    assert outside.read_bytes() == b"a\n"


async def test_nothing_is_put_through_a_link_that_took_the_place_of_a_folder(
    project: Project, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "a.txt").write_bytes(b"not yours\n")
    project.put("src/a.txt", b"a\n")
    session = project.session()
    await session.run("rm src/a.txt")
    (project.root / "src").rmdir()
    (project.root / "src").symlink_to(victim)
    plan, step = await session.undo()
    assert [planned.path for planned in plan.moves] == [str(project.root / "src/a.txt")]
    assert step is None
    assert (victim / "a.txt").read_bytes() == b"not yours\n"


async def test_nothing_is_put_through_a_link_that_took_the_place_of_a_folder_elsewhere(
    project: Project, tmp_path: Path
) -> None:
    """Commands can write in the private /tmp, which lies outside the project."""
    victim, shared = tmp_path / "victim", tmp_path / "shared"
    victim.mkdir()
    shared.mkdir()
    file = shared / "run.desktop"
    file.write_bytes(b"[Desktop Entry]\n")
    session = project.session()
    attempt = Attempt(call="c", tool="delete", title="t", record="r", paths=(str(file),))
    await session.snapshots.begin(attempt)
    file.unlink()
    session.snapshots.end("c")
    shared.rmdir()
    shared.symlink_to(victim)
    await session.undo()
    assert state_of(victim) == {}


_EXCHANGE = """
import ctypes, sys
swap = ctypes.CDLL(None).renameat2
print(flush=True)
while not swap(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2):
    pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="two names are exchanged with renameat2(2)")
async def test_nothing_is_put_or_taken_away_behind_a_folder_that_is_exchanged_with_a_link(
    project: Project, tmp_path: Path
) -> None:
    """A job that goes on while hame takes back what commands did."""
    victim = tmp_path / "victim"
    victim.mkdir()
    names = [f"{number}.txt" for number in range(400)]
    for name in names[:200]:
        project.put(f"src/{name}", b"a\n")
    session = project.session()
    await session.run("cd src && rm *.txt && for n in $(seq 200 399); do echo b > $n.txt; done")
    for name in names[200:]:
        (victim / name).write_bytes(b"b\n")
    before = state_of(victim)
    (project.root / "link").symlink_to(victim)
    swap = [sys.executable, "-c", _EXCHANGE, str(project.root / "src"), str(project.root / "link")]
    async with await anyio.open_process(swap) as job:
        assert job.stdout is not None
        await job.stdout.receive()
        try:
            with suppress(ToolError):
                await session.undo()
        finally:
            job.kill()
    assert state_of(victim) == before


async def test_settings_of_the_repository_start_nothing(project: Project, home: Path) -> None:
    """T17: fsmonitor, hooks, filters and the like of a repository, and of the user, do not run."""
    canary = project.root.parent / "canary"
    program = project.root.parent / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    program.chmod(0o755)
    git(project.root, "init", "-q")
    project.put(".gitattributes", b"* filter=evil diff=evil\n*.txt working-tree-encoding=UTF-16\n")
    for name in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv"):
        git(project.root, "config", name, str(program))
    git(project.root, "config", "filter.evil.required", "true")
    (home / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {program}\n\thooksPath = {home}\n")
    hook = project.root / ".git/hooks/post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    project.put("a.txt", b"a\r\n")
    before = project.state()
    session = project.session()
    await session.run("rm a.txt; echo b > b.txt")
    await session.undo()
    assert project.state() == before
    assert not canary.exists()


async def test_the_users_ignore_rules_count_wherever_they_are(project: Project, home: Path) -> None:
    git(project.root, "init", "-q")
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/.ignored\n")
    (home / ".ignored").write_text("*.global\n")
    (project.root / ".git/info/exclude").write_text("*.local\n")
    project.put(".gitignore", b"*.project\n")
    session = project.session()
    await session.run("touch a.global a.local a.project a.held")
    (step,) = await session.snapshots.steps()
    assert [Path(change.path).name for change in step.changes] == ["a.held"]


async def test_files_that_git_tracks_though_they_are_ignored_are_held(project: Project) -> None:
    git(project.root, "init", "-q")
    project.put(".gitignore", b"dist/\n")
    project.put("dist/tracked.js", b"1\n")
    project.put("dist/other.js", b"2\n")
    git(project.root, "add", "-f", "dist/tracked.js")
    session = project.session()
    await session.run("echo 3 > dist/tracked.js; echo 4 > dist/other.js")
    (step,) = await session.snapshots.steps()
    assert [Path(change.path).name for change in step.changes] == ["tracked.js"]


async def test_the_whole_project_can_be_deleted_and_brought_back(project: Project) -> None:
    project.put("a/b.txt", b"b\n")
    before = project.state()
    session = project.session()
    await session.run(f"rm -rf {project.root}")
    assert not project.root.exists()
    plan, _ = await session.undo()
    assert plan.conflicts == ()
    assert project.state() == before


async def test_added_folders_are_captured_too(project: Project, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "m.txt").write_bytes(b"m\n")
    project.paths = type(project.paths)(
        root=project.paths.root, home=project.paths.home, added=(str(more),)
    )
    session = project.session()
    await session.run(f"rm {more}/m.txt; echo n > {more}/n.txt")
    await session.undo()
    assert state_of(more) == {"m.txt": (b"m\n", False)}


def test_the_home_and_what_holds_it_are_not_captured(project: Project) -> None:
    paths = type(project.paths)
    assert folders.folders(paths(root="/home/me", home="/home/me")) == []
    assert folders.folders(paths(root="/", home="/home/me")) == []
    assert folders.folders(
        paths(root="/home/me/p", added=("/home/me/p/q", "/srv"), home="/home/me")
    ) == ["/home/me/p", "/srv"]


async def test_hames_own_data_within_the_project_is_left_out(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    inside = Project(root, root / "data", home)
    inside.store = store_of(root / "data" / "snapshots", str(root), str(home))
    session = inside.session()
    await session.run("echo a > a.txt")
    (step,) = await session.snapshots.steps()
    assert [change.path for change in step.changes] == [str(root / "a.txt")]


async def test_a_lock_that_a_killed_git_has_left_is_no_obstacle(project: Project) -> None:
    project.put("a.txt", b"a\n")
    session = project.session()
    await session.run("true")
    index = next(project.store.session("s1").glob("*.index"))
    index.with_name(f"{index.name}.lock").touch()
    await session.run("rm a.txt")
    await session.undo()
    assert session.notices == ["undo holds 1 file as they are now"]
    assert (project.root / "a.txt").exists()


async def test_what_is_held_is_for_the_user_alone(project: Project) -> None:
    session = project.session()
    await session.edit("a.txt", b"secret\n")
    await session.run("echo b > b.txt")
    for folder in (project.base, project.store.folder):
        assert folder.stat().st_mode & 0o777 == 0o700
