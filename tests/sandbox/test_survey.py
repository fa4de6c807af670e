"""What is found in a project, and found again when it changes."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from hame.sandbox.survey import Survey

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "root"
    folder.mkdir()
    return folder


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def relative(root: Path, paths: tuple[str, ...]) -> set[str]:
    return {str(Path(path).relative_to(root)) for path in paths}


def age(root: Path) -> None:
    """Let what was changed be old enough that its times tell later changes."""
    time.sleep(0.06)


def test_secrets_are_found_at_any_depth(root: Path):
    for path in (".env", "a/.env.local", "a/b/c/d/e/f/id_rsa", ".aws/credentials", "x/store.p12"):
        write(root / path)
    write(root / "tls" / "server.key", KEY)
    for path in (".env.example", "a/env.py", "keys.py", "tls/ca.pem"):
        write(root / path, "-----BEGIN CERTIFICATE-----\n")
    found = relative(root, Survey(str(root)).look().secrets)
    assert found == {
        ".env",
        "a/.env.local",
        "a/b/c/d/e/f/id_rsa",
        ".aws",
        "x/store.p12",
        "tls/server.key",
    }


def test_installed_packages_are_not_looked_into(root: Path):
    for path in (
        "node_modules/x/.env",
        "v/pyvenv.cfg",
        "v/lib/python3/site-packages/x/.env",
        "a/site-packages/.env",
    ):
        write(root / path)
    assert Survey(str(root)).look().secrets == ()


def test_no_marker_hides_what_is_beside_it(root: Path):
    """Seen failing while `pyvenv.cfg` ended the look: any command, and any repository, can bring one."""
    for path in ("pyvenv.cfg", "a/.env", "a/.git/hooks/x", "b/pyvenv.cfg", "b/lib/.env"):
        write(root / path)
    found = Survey(str(root)).look()
    assert set(found.secrets) == {str(root / "a/.env"), str(root / "b/lib/.env")}
    assert str(root / "a/.git/hooks") in found.protected


def test_what_was_seen_is_not_crowded_out(root: Path):
    write(root / "a/b/c/.env")
    survey = Survey(str(root), most=20)
    assert survey.look().secrets == (str(root / "a/b/c/.env"),)
    for number in range(40):
        (root / f"many{number}").mkdir()
    assert survey.look().secrets == (str(root / "a/b/c/.env"),)


def test_what_comes_and_goes_is_seen(root: Path):
    survey = Survey(str(root))
    (root / "a" / "b").mkdir(parents=True)
    assert survey.look().secrets == ()
    age(root)
    assert survey.look().secrets == ()
    write(root / "a" / "b" / ".env")
    assert relative(root, survey.look().secrets) == {"a/b/.env"}
    age(root)
    survey.look()
    (root / "a" / "b" / ".env").rename(root / "a" / "b" / ".env.local")
    assert relative(root, survey.look().secrets) == {"a/b/.env.local"}
    (root / "a").rename(root / "z")
    assert relative(root, survey.look().secrets) == {"z/b/.env.local"}


def test_times_that_were_set_back_hide_nothing(root: Path):
    """Seen failing with the time of the last change to the content alone."""
    survey = Survey(str(root))
    (root / "a").mkdir()
    age(root)
    survey.look()
    before = (root / "a").stat()
    write(root / "a" / ".env")
    os.utime(root / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert relative(root, survey.look().secrets) == {"a/.env"}


def test_what_comes_in_the_same_instant_as_a_look_is_seen_by_the_next(root: Path):
    """Before Linux 6.13 times are too coarse to tell the two apart, so such a directory is not believed."""
    survey = Survey(str(root))
    for number in range(50):
        folder = root / f"d{number}"
        folder.mkdir()
        survey.look()
        write(folder / ".env")
        assert f"d{number}/.env" in relative(root, survey.look().secrets)


def test_protected_names_are_found_and_those_of_the_root_missed(root: Path):
    for path in (
        ".vscode/x",
        "a/b/.envrc",
        "a/.idea/x",
        ".bashrc",
        ".config/fish/x",
        "a/.vscode/.envrc",
    ):
        write(root / path)
    found = Survey(str(root)).look()
    assert relative(root, found.protected) == {
        ".vscode", "a/b/.envrc", "a/.idea", ".bashrc", ".config/fish", "a/.vscode",
    }  # fmt: skip
    missing = relative(root, found.missing)
    assert {".envrc", ".mcp.json", ".hame", ".claude"} <= missing
    assert not {".vscode", ".git", "a/.vscode", ".bashrc"} & missing


def test_what_makes_git_run_programs_is_found_in_every_repository(root: Path):
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for path in ("sub/.git/config", "sub/.git/commondir", "sub/.git/worktrees/x/gitdir"):
        write(root / path)
    write(root / "tree" / ".git", "gitdir: /x\n")
    found = Survey(str(root)).look()
    assert relative(root, found.protected) == {
        ".git/hooks", ".git/config", "sub/.git/config", "sub/.git/commondir", "sub/.git/worktrees",
        "tree/.git",
    }  # fmt: skip
    in_git = {path for path in relative(root, found.missing) if ".git/" in path}
    assert in_git == {
        ".git/modules", ".git/worktrees", ".git/info/attributes", "sub/.git/hooks", "sub/.git/modules",
    }  # fmt: skip


def test_empty_folders_of_git_are_masked_for_git_takes_them_away(root: Path):
    """Seen failing, now and then, as a command that could not start while `git gc` tidied up."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in ("worktrees", "modules"):
        (root / ".git" / name).mkdir()
    write(root / ".git/info/attributes")
    found = Survey(str(root)).look()
    assert {".git/worktrees", ".git/modules"} <= relative(root, found.missing)
    assert {".git/hooks", ".git/info/attributes"} <= relative(root, found.protected)
    subprocess.run(["git", "worktree", "prune"], cwd=root, check=True)
    assert not (root / ".git" / "worktrees").exists()


def test_links_are_named_and_not_followed(root: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    write(outside / ".env")
    write(outside / "key")
    (root / "dir").symlink_to(outside)
    (root / ".vscode").symlink_to(outside)
    (root / ".env").symlink_to(outside / "key")
    (root / "a").mkdir()
    (root / "a" / ".git").symlink_to("nowhere")
    found = Survey(str(root), home=os.path.realpath(tmp_path)).look()
    assert relative(root, found.links) == {".vscode", "a/.git"}
    assert found.secrets == (os.path.realpath(outside / "key"),)
    assert Survey(str(root)).look().secrets == ()


def test_a_secrets_link_hides_no_whole_tree(root: Path, tmp_path: Path):
    for target in ("/", str(root), str(tmp_path), "."):
        (root / ".env").symlink_to(target)
        assert Survey(str(root), home=os.path.realpath(tmp_path)).look().secrets == ()
        (root / ".env").unlink()


def test_files_with_a_name_elsewhere_are_found(root: Path, tmp_path: Path):
    write(tmp_path / "theirs")
    os.link(tmp_path / "theirs", root / "one")
    write(root / "a")
    (root / "d").mkdir()
    os.link(root / "a", root / "d" / "b")
    survey = Survey(str(root))
    assert relative(root, survey.look().shared) == {"one"}
    os.link(root / "a", tmp_path / "c")
    (root / "d" / "new").touch()
    (root / "new").touch()
    assert relative(root, survey.look().shared) == {"one", "a", "d/b"}


def test_no_more_folders_are_looked_into_than_said_the_nearest_first(root: Path):
    for number in range(20):
        write(root / f"d{number:02}" / "deep" / ".env")
    write(root / ".env")
    found = relative(root, Survey(str(root), most=25).look().secrets)
    assert len(found) == 5
    assert ".env" in found


def test_what_a_repository_holds_unchanged_is_no_secret(root: Path):
    """Seen failing without the look into the index: git takes a hidden file for a changed one."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    write(root / ".env", "A=1\n")
    write(root / "x" / ".env", "B=1\n")
    write(root / "certs" / "test.key", KEY)
    for version in ("2", "3"):
        subprocess.run(["git", "add", "-f", ".env", "certs"], cwd=root, check=True)
        subprocess.run(["git", "update-index", "--index-version", version], cwd=root, check=True)
        if version == "3":
            subprocess.run(["git", "update-index", "--skip-worktree", ".env"], cwd=root, check=True)
        assert relative(root, Survey(str(root)).look().secrets) == {"x/.env"}
    survey = Survey(str(root))
    survey.look()
    write(root / ".env", "A=2\n")
    assert relative(root, survey.look().secrets) == {"x/.env", ".env"}
    subprocess.run(["git", "rm", "-q", "--cached", "certs/test.key"], cwd=root, check=True)
    assert relative(root, survey.look().secrets) == {"x/.env", ".env", "certs/test.key"}
