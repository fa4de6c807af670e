"""A copy of a project: as it is, as a session found it, and what of it changes; the project stays as it is."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hame.base.errors import ToolError
from hame.base.snapshot import FileState
from hame.workspace.duplicates import making
from hame.workspace.duplicates.duplicate import Duplicate, Original
from hame.workspace.duplicates.making import duplicate
from hame.workspace.process import LocalProcesses
from hame.workspace.snapshots.past import Past, read_past
from workspace.snapshots.conftest import Project, add_untracked, fill, git, state_of


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with everything in it, one commit, and something that no commit holds."""
    home = tmp_path / "home"
    root = home / "work" / "project"
    root.mkdir(parents=True)
    made = Project(root.resolve(), tmp_path / "data", home)
    fill(made)
    git(root, "init", "-q")
    git(root, "add", "-A", "-f", ".")
    git(root, "commit", "-q", "-m", "first")
    add_untracked(made)
    return made


async def copied(
    project: Project, past: Past | None = None, *, link: bool = False, **environment: str
) -> Duplicate:
    base = project.base.parent / "copies"
    root = base / "project"
    root.mkdir(parents=True)
    original = Original(
        project=str(project.root),
        store=project.store,
        past=past or Past(),
        processes=LocalProcesses({**os.environ, **environment}),
        home=str(project.paths.home),
    )
    return await duplicate(original, root, base / "own", link=link)


def remove(folder: Path | str) -> None:
    shutil.rmtree(folder)


def is_ignored(project: Project, path: str) -> bool:
    run = ["git", "check-ignore", "-q", "--no-index", path]
    return not subprocess.run(run, cwd=project.root, check=False).returncode


def everything(project: Project) -> dict[str, object]:
    """All that must stay as it is: the project with its repository, and the snapshots."""
    found = state_of(project.root, without=())
    if project.base.exists():
        found |= {f"snapshots {k}": v for k, v in state_of(project.base, without=()).items()}
    return found


async def test_it_is_the_project_as_it_is_byte_for_byte_without_what_is_ignored(
    project: Project,
) -> None:
    before = everything(project)
    copy = await copied(project)
    expected = {
        path: state
        for path, state in state_of(project.root).items()
        if not is_ignored(project, path)
    }
    assert state_of(Path(copy.root)) == expected
    assert everything(project) == before
    assert set(copy.found) == set(expected)
    assert git(Path(copy.root), "log", "--format=%s") == "first\n"
    assert git(Path(copy.root), "status", "--short") == git(project.root, "status", "--short")


async def test_ignored_things_are_named_and_packages_linked_only_where_nothing_can_write(
    project: Project,
) -> None:
    project.put("node_modules/tea/index.js", b"1\n")
    copy = await copied(project)
    assert any("left out" in notice and "node_modules" in notice for notice in copy.notices)
    assert not (Path(copy.root) / "node_modules").exists()
    remove(Path(copy.root).parent)
    linked = await copied(project, link=True)
    assert (Path(linked.root) / "node_modules").readlink() == project.root / "node_modules"
    assert any(notice.startswith("linked") for notice in linked.notices)
    assert not any(path.startswith("node_modules") for path in await linked.states())


async def test_packages_installed_from_the_project_itself_are_warned_of(project: Project) -> None:
    project.put(".gitignore", b".venv/\n")
    project.put(
        ".venv/lib/python3.12/site-packages/__editable__.tea.pth",
        f"{project.root}/src\n".encode(),
    )
    copy = await copied(project, link=True)
    assert any("__editable__.tea" in notice for notice in copy.notices)


async def test_links_into_the_project_lead_into_the_copy(project: Project) -> None:
    (project.root / "absolute").symlink_to(project.root / "src/app.py")
    (project.root / "outside").symlink_to("/etc/hostname")
    copy = Path((await copied(project)).root)
    assert (copy / "absolute").readlink() == copy / "src/app.py"
    assert (copy / "link").readlink() == Path("src/app.py")
    assert (copy / "outside").readlink() == Path("/etc/hostname")


async def test_what_changes_in_it_is_seen_and_ignored_files_are_not(project: Project) -> None:
    copy = await copied(project)
    root = Path(copy.root)
    assert await copy.states() == copy.found
    (root / "src/app.py").write_bytes(b"other\n")
    (root / "new.txt").write_bytes(b"new\n")
    (root / "data.bin").unlink()
    (root / "node_modules").mkdir()
    (root / "node_modules/x.js").write_bytes(b"1")
    (root / "more.log").write_bytes(b"1")
    now = await copy.states()
    changed = {
        path for path in now.keys() | copy.found.keys() if now.get(path) != copy.found.get(path)
    }
    assert changed == {"src/app.py", "new.txt", "data.bin"}
    assert await copy.read("src/app.py", copy.found["src/app.py"]) == b"import os\n\nprint('hi')\n"
    assert await copy.read("src/app.py", now["src/app.py"]) == b"other\n"
    assert await copy.read("src/app.py", FileState(mode=0o100644, blob="0" * 40)) is None


async def test_it_begins_as_the_session_found_it_whatever_was_done_since(project: Project) -> None:
    before = state_of(project.root)
    session = project.session()
    await session.edit("src/app.py", b"edited before any command\n")
    await session.edit("made.txt", b"made\n")
    await session.run("echo changed > src/mixed.txt; mv data.bin moved.bin; echo n > src/new.txt")
    await session.edit("src/app.py", b"edited again\n")
    left = state_of(project.root)
    project.put("later.txt", b"by hand\n")
    project.put("src/latin.txt", b"by hand\n")
    (project.root / "src/new.txt").unlink()
    past = read_past(project.store, "s1", str(project.root))
    everything_before = everything(project)
    copy = await copied(project, past)
    assert everything(project) == everything_before
    ignored = {path for path in before if is_ignored(project, path)}
    # The command destroys something, so small ignored files were held before it too.
    assert state_of(Path(copy.root)) == before
    assert set(copy.found) == before.keys() - ignored
    recorded = copy.left_by_session()
    assert set(recorded) == {path for path in left if path not in ignored}
    for path, state in recorded.items():
        if not (project.root / path).is_symlink() and path != "src/latin.txt":
            assert await copy.read(path, state) == left[path][0], path


async def test_without_a_command_only_its_own_files_are_as_it_found_them(project: Project) -> None:
    session = project.session()
    await session.edit("src/app.py", b"edited\n")
    await session.edit("made.txt", b"made\n")
    project.put("later.txt", b"by hand\n")
    past = read_past(project.store, "s1", str(project.root))
    assert (past.tree, set(past.found)) == ("", {"src/app.py", "made.txt"})
    copy = Path((await copied(project, past)).root)
    assert (copy / "src/app.py").read_bytes() == b"import os\n\nprint('hi')\n"
    assert not (copy / "made.txt").exists()
    assert (copy / "later.txt").exists()


async def test_an_undo_counts_for_what_the_session_left(project: Project) -> None:
    session = project.session()
    await session.edit("src/app.py", b"edited\n")
    await session.undo()
    past = read_past(project.store, "s1", str(project.root))
    copy = await copied(project, past)
    assert copy.left_by_session() == copy.found


async def test_a_project_that_is_gone_comes_out_of_its_snapshots(project: Project) -> None:
    session = project.session()
    await session.run("echo one > one.txt")
    past = read_past(project.store, "s1", str(project.root))
    remove(project.root)
    copy = Path((await copied(project, past)).root)
    assert (copy / "src/deep/er/crlf.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert not (copy / "one.txt").exists()


async def test_one_that_is_gone_and_was_never_held_is_an_error(project: Project) -> None:
    remove(project.root)
    with pytest.raises(ToolError, match="is gone, and no snapshot holds"):
        await copied(project)


async def test_a_folder_within_a_repository_is_copied_by_the_rules_above_it(
    project: Project,
) -> None:
    project.put("sub/keep.txt", b"1\n")
    project.put("sub/noise.log", b"1\n")
    inner = Project(project.root / "sub", project.base.parent, Path(project.paths.home))
    session = inner.session()
    await session.run("echo 2 > keep.txt")
    for past in (Past(), read_past(inner.store, "s1", str(inner.root))):
        copy = await copied(inner, past)
        assert set(copy.found) == {"keep.txt"}
        text = (Path(copy.root) / "keep.txt").read_bytes()
        assert text == (b"1\n" if past.tree else b"2\n")
        (Path(copy.root) / "new.log").write_bytes(b"1\n")
        assert set(await copy.states()) == {"keep.txt"}
        remove(Path(copy.root).parent)


async def test_without_git_files_are_found_all_the_same(project: Project, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    copy = await copied(project, PATH=str(nothing))
    assert {"src/app.py", ".gitignore", ".gitattributes", "bin/run.sh"} <= set(copy.found)
    assert not any(path.startswith(("node_modules/", "build/")) for path in copy.found)


async def test_a_project_that_is_too_large_is_refused_before_anything_is_copied(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MOST_BYTES", 1_000)
    with pytest.raises(ToolError, match="more than a copy takes") as caught:
        await copied(project)
    assert ".gitignore" in caught.value.hint
    assert list((project.base.parent / "copies/project").iterdir()) == []


async def test_a_repository_that_names_its_folder_of_files_is_not_copied(project: Project) -> None:
    git(project.root, "config", "core.worktree", str(project.root))
    copy = await copied(project)
    assert any("without its git repository" in notice for notice in copy.notices)
    assert not (Path(copy.root) / ".git").exists()


async def test_nothing_is_written_through_a_link_of_the_snapshot_to_what_lies_outside(
    project: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("profile", "large.bin", "keep"):
        (outside / name).write_bytes(b"the user's\n")
    for name in ("folder", "packed"):
        (project.root / name).symlink_to(outside)
    (project.root / "file").symlink_to(outside / "profile")
    session = project.session()
    await session.run("true")
    past = read_past(project.store, "s1", str(project.root))
    for name in ("folder", "packed", "file"):
        (project.root / name).unlink()
    large = bytes(making.LARGEST + 1)
    for name in ("file", "folder/large.bin", "folder/new.bin"):
        project.put(name, large)
    project.put("packed/node_modules/tea.js", b"1\n")
    before = state_of(outside)
    copy = await copied(project, past, link=True)
    assert state_of(outside) == before
    assert (Path(copy.root) / "file").readlink() == outside / "profile"
    assert any("folder/large.bin" in each and "links" in each for each in copy.notices)


async def test_a_repository_that_is_a_link_is_not_copied(project: Project, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "id_rsa").write_bytes(b"secret\n")
    remove(project.root / ".git")
    (project.root / ".git").symlink_to(keys)
    copy = await copied(project)
    assert (b"secret\n", False) not in state_of(Path(copy.root), without=()).values()
    assert any("without its git repository" in notice for notice in copy.notices)


async def test_the_rule_for_linked_packages_is_not_written_through_a_link_of_the_repository(
    project: Project, tmp_path: Path
) -> None:
    profile = tmp_path / "profile"
    profile.write_text("the user's\n")
    project.put(".gitignore", b"node_modules/\n")
    project.put("x\ntouch canary #/node_modules/tea.js", b"1\n")
    rules = project.root / ".git/info/exclude"
    rules.parent.mkdir(exist_ok=True)
    rules.unlink(missing_ok=True)
    rules.symlink_to(profile)
    copy = await copied(project, link=True)
    assert copy.linked
    assert profile.read_text() == "the user's\n"
    assert not any(path.endswith("node_modules") for path in await copy.states())
