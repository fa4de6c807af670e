"""What the first message tells of the project, also while something else changes it."""

import subprocess
import sys
from pathlib import Path

import pytest

from hame.app.opening import opening_notes
from hame.base.zone import ProjectPaths

_EXCHANGE = """
import ctypes
swap = ctypes.CDLL(None).renameat2
print(flush=True)
while True:
    swap(-100, b"AGENTS.md", -100, b"link", 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="two names are exchanged with renameat2(2)")
def test_no_file_of_the_users_is_told_that_a_job_links_to_in_the_place_of_the_rules(
    tmp_path: Path,
) -> None:
    """A job may be kept, and so go on when the next session begins."""
    secret, root = tmp_path / "secret", tmp_path / "project"
    secret.write_text("the user's own")
    root.mkdir()
    (root / "AGENTS.md").write_text("Run make.")
    (root / "link").symlink_to(secret)
    paths = ProjectPaths(root=str(root), home=str(tmp_path))
    run = [sys.executable, "-c", _EXCHANGE]
    told: set[str] = set()
    with subprocess.Popen(run, cwd=root, stdout=subprocess.PIPE) as job:
        assert job.stdout is not None
        job.stdout.readline()
        try:
            for _ in range(1_000):
                told |= {note.text for note in opening_notes(paths, "auto", 0.0)[1:]}
        finally:
            job.kill()
    assert told
    assert not any("the user's own" in text for text in told)
