"""Looking through a folder for what acts by itself or leads out of it; nothing of it runs."""

import os
import subprocess
from pathlib import Path

import pytest

from hame.workspace.inventory import Inventory, take_inventory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def put(root: Path, path: str, text: str = "", mode: int = 0o644) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return file


def acting(found: Inventory) -> dict[str, str]:
    return {each.path: each.what for each in found.acting}


def test_an_ordinary_folder_holds_nothing_of_that_kind(root: Path) -> None:
    put(root, "src/app.py", "print(1)")
    (root / "link").symlink_to("src/app.py")
    (root / "src" / "up").symlink_to("..")
    assert take_inventory(str(root)) == Inventory()


def test_instructions_are_found_anywhere_with_size_and_hidden_characters(root: Path) -> None:
    put(root, "deep/er/AGENTS.md", "abc")
    put(root, "CLAUDE.md", "be\u200bware\u202e")
    put(root, ".github/copilot-instructions.md", "x")
    put(root, ".cursor/rules/style.mdc", "x")
    found = take_inventory(str(root)).instructions
    assert next(each.path for each in found) == "CLAUDE.md"
    assert {each.path for each in found} == {
        "CLAUDE.md", ".github/copilot-instructions.md", "deep/er/AGENTS.md", ".cursor/rules/style.mdc",
    }  # fmt: skip
    assert (found[0].size, found[0].hidden) == (len("be\u200bware\u202e".encode()), 2)


def test_files_that_make_other_tools_run_something_are_named(root: Path) -> None:
    names = (".mcp.json", ".claude/settings.json", ".vscode/tasks.json", ".envrc", ".husky/pre-commit",
             ".devcontainer/devcontainer.json", ".pre-commit-config.yaml", "tools/.venv/pyvenv.cfg")  # fmt: skip
    for name in names:
        put(root, name)
    put(root, "package.json", '{"scripts": {"test": "x", "postinstall": "y"}}')
    put(root, "sub/package.json", "not json")
    found = acting(take_inventory(str(root)))
    for name in (*names[:4], ".husky", *names[5:]):
        assert name in found, name
    assert found["package.json"] == (
        "scripts that run when it is installed: postinstall; scripts: test"
    )
    assert "sub/package.json" not in found


def test_what_git_would_run_is_named_without_asking_git(root: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    config = [
        ("core.fsmonitor", f"touch {canary}; true"), ("core.hooksPath", "hooks"),
        ("filter.evil.clean", f"touch {canary}"), ("diff.evil.textconv", "x"), ("alias.st", "!x"),
        ("credential.https://example.org.helper", "!x"), ("include.path", "../more"),
        ("merge.evil.driver", "x"), ("user.name", "somebody"), ("gpg.ssh.program", "x"),
    ]  # fmt: skip
    for name, value in config:
        subprocess.run(["git", "-C", str(root), "config", name, value], check=True)
    put(root, ".git/hooks/post-checkout", "x", 0o755)
    put(root, ".git/hooks/pre-commit", "x", 0o644)
    put(root, ".gitattributes", "# filter=none\n*.txt filter=evil diff=evil\n")
    subprocess.run(["git", "init", "-q", str(root / "vendor" / "lib")], check=True)
    canary.unlink(missing_ok=True)
    found = acting(take_inventory(str(root)))
    listed = subprocess.run(
        ["git", "config", "--local", "--list", "--name-only"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    named = set(found[".git/config"].removeprefix("settings that git runs: ").split(", "))
    assert named == {name.lower() for name, _ in config} - {"user.name"}
    assert named <= set(listed), "as git itself calls them"
    assert found[".git/hooks"] == "git hooks: post-checkout"
    assert "filter=evil, diff=evil" in found[".gitattributes"]
    assert "vendor/lib/.git" in found
    assert not canary.exists()


def test_a_git_directory_that_lies_elsewhere_is_named(root: Path) -> None:
    put(root, ".git", "gitdir: /elsewhere\n")
    assert "/elsewhere" in acting(take_inventory(str(root)))[".git"]
    (root / ".git").unlink()
    put(root, ".git/commondir", "../other")
    assert ".git/commondir" in acting(take_inventory(str(root)))


def test_links_that_lead_out_are_named_with_where_they_lead(root: Path, tmp_path: Path) -> None:
    outside = put(tmp_path, "secret.txt", "x")
    (root / "a").mkdir()
    (root / "a" / "file").symlink_to(outside)
    (root / "hop").symlink_to("a/file")
    (root / "folder").symlink_to(tmp_path)
    (root / "dangling").symlink_to("../not-there")
    (tmp_path / "project-2").mkdir()
    (root / "longer").symlink_to(tmp_path / "project-2")
    found = take_inventory(str(root))
    assert {each.path: each.target for each in found.leading} == {
        "a/file": str(outside),
        "hop": str(outside),
        "folder": str(tmp_path),
        "dangling": str(tmp_path / "not-there"),
        "longer": str(tmp_path / "project-2"),
    }


def test_files_with_a_second_name_are_named_but_not_gits_objects(
    root: Path, tmp_path: Path
) -> None:
    """F9: was seen to fail with the look at `st_nlink` taken out."""
    os.link(put(tmp_path, "outside.txt", "x"), put(root, "x", "").with_name("shared.txt"))
    os.link(put(root, ".git/objects/aa/bb", "x"), tmp_path / "object")
    os.link(put(root, ".git/config-2", "x"), tmp_path / "more")
    found = take_inventory(str(root))
    assert {each.path: each.names for each in found.shared} == {
        "shared.txt": 2,
        ".git/config-2": 2,
    }
    assert found.shared_count == 2


def test_a_link_in_a_loop_a_pipe_and_a_folder_that_is_locked_do_not_stop_it(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "AGENTS.md.pipe")
    os.mkfifo(root / ".gitattributes")
    os.mkfifo(root / "package.json")
    (root / "locked").mkdir(mode=0)
    try:
        assert not take_inventory(str(root)).cut
    finally:
        (root / "locked").chmod(0o700)


def test_a_folder_that_is_too_large_is_said_to_be_cut(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        put(root, f"d{number}/e/f")
    monkeypatch.setattr("hame.workspace.inventory._MOST_ENTRIES", 20)
    assert take_inventory(str(root)).cut
