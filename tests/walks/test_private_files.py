"""What hame writes is for the user alone, whatever the umask, and no link leads it elsewhere (T47)."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from hame.testing import Reply, ScriptedServer, answer, call

SOURCE = str(Path(__file__).parents[2] / "src")
PAGES = {"/v1/models": Reply(body=b'{"data": [{"id": "m"}]}')}
THEIRS = ("config.toml", "permissions.toml", "permissions/")
"""Files of the user's own below `.config/hame`: where they keep them elsewhere, the link stays a link."""


class Desk:
    """A home in which everything that hame keeps comes to be."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        (self.project / "a.txt").write_text("hello\n", encoding="utf-8")
        self.environment = {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": SOURCE,
            "LANG": "C.UTF-8",
            "TERM": "xterm",
        }

    def run(self, *arguments: str, stdin: str = "") -> int:
        """hame to its end; its exit code."""
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "hame", *arguments],
            cwd=self.project,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            umask=0,
        )
        assert "hame itself failed" not in ran.stderr, ran.stderr
        return ran.returncode

    def live(self) -> list[int]:
        """A bit of everything a user does; the exit codes."""
        steps = (
            answer(call("read_file", path="a.txt")),
            answer(call("edit_file", path="a.txt", old_string="hello", new_string="bye")),
            answer(call("run_command", command="seq 1 100000; echo x > new.txt")),
            answer(call("run_command", command="git init -q nested; echo y > nested/y.txt")),
            answer(call("run_command", command="echo in the background", background=True)),
            answer("Done."),
        )
        with ScriptedServer(*steps, pages=PAGES) as server:
            codes = [
                self.run("config", "set", "providers.lab.base_url", f"{server.url}/v1"),
                self.run("auth", "add", "lab", "--no-verify", stdin="sk-planted-key"),
                self.run("trust", stdin="y\n"),
                self.run("permissions", "add", "allow", "--", "npm", "test"),
                self.run("permissions", "add", "deny", "--everywhere", "--path", "x/**"),
                self.run("-p", "go", "--model", "lab/m", "--mode", "auto", "--verbose"),
                self.run("sessions", "search", "go"),
                self.run("usage"),
                self.run("models", "--search", "m"),
                self.run("undo", "--yes"),
                self.run("snapshots", "gc", "--older-than", "0"),
            ]
            self._talk()
        return codes

    def _talk(self) -> None:
        """A line in a conversation, so that there is a history."""
        before = os.umask(0)
        try:
            child = pexpect.spawn(
                sys.executable, ["-P", "-m", "hame"], cwd=str(self.project), env=self.environment,
                timeout=20, dimensions=(30, 100),
            )  # fmt: skip
        finally:
            os.umask(before)
        child.expect("Ctrl-D leaves")
        child.sendline("/help")
        child.expect("what can be typed here")
        child.sendline("/quit")
        child.expect(pexpect.EOF)
        child.close()

    def files(self) -> Iterator[Path]:
        """Everything below the home."""
        return self.home.rglob("*")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A desk at which somebody has worked."""
    desk = Desk(tmp_path_factory.mktemp("lived"))
    assert set(desk.live()) == {0}
    return desk


@pytest.mark.timeout(180)
def test_everything_is_private_under_any_umask(lived: Desk) -> None:
    """Was seen to fail for parents of hame's folders and for most of what lies in snapshots."""
    open_to_others = {
        f"{path.relative_to(lived.home)} {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in lived.files()
        if not path.is_symlink() and path.lstat().st_mode & 0o077
    }
    assert open_to_others == set()


def test_all_that_is_kept_was_looked_at(lived: Desk) -> None:
    names = {str(path.relative_to(lived.home)) for path in lived.files()}
    for part in (
        ".config/hame/config.toml", ".config/hame/keys.json", ".config/hame/trust.json",
        ".config/hame/permissions.toml", ".local/state/hame/log/hame.log",
        ".local/state/hame/history", ".cache/hame/sessions.sqlite",
    ):  # fmt: skip
        assert part in names, part
    for folder in ("sessions", "results", "snapshots"):
        assert any(f"hame/{folder}/" in name for name in names), folder


@pytest.mark.timeout(180)
def test_no_link_that_somebody_planted_is_written_through(lived: Desk, tmp_path: Path) -> None:
    """Was seen to fail for the history, the index of sessions and the files of a snapshot store."""
    desk = Desk(tmp_path)
    desk.project = lived.project  # Names in hame's folders are made from its path.
    victims = tmp_path / "victims"
    victims.mkdir()
    planted: dict[Path, bytes] = {}
    for path in sorted(lived.files()):
        name = str(path.relative_to(lived.home))
        own = name.removeprefix(".config/hame/").startswith(THEIRS)
        if not path.is_file() or own or "/objects/" in name:
            continue
        victim = victims / str(len(planted))
        # What hame would take for its own: a file that it can read, an empty database.
        usual = b"" if path.suffix == ".sqlite" else b"the user's own\n"
        planted[victim] = path.read_bytes() if path.suffix == ".json" else usual
        victim.write_bytes(planted[victim])
        victim.chmod(0o600)
        place = desk.home / name
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.symlink_to(victim)
    assert len(planted) > 10
    (lived.project / "a.txt").write_text("hello\n", encoding="utf-8")
    desk.live()
    changed = [victim for victim, data in planted.items() if victim.read_bytes() != data]
    assert [
        str(link.relative_to(desk.home))
        for link in desk.files()
        if link.is_symlink() and link.resolve() in changed
    ] == []
    assert changed == []
