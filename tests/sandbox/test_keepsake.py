"""Setting things aside while a job that a command started goes on."""

import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from hame.sandbox.keepsake import Aside

_EXCHANGE = """
import ctypes
swap = ctypes.CDLL(None).renameat2
print(flush=True)
while True:
    for number in range(300):
        swap(-100, b"%d.hooks" % number, -100, b"%d.link" % number, 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="two names are exchanged with renameat2(2)")
def test_what_a_running_job_exchanges_with_a_link_takes_nothing_outside_with_it(
    tmp_path: Path,
) -> None:
    """To another file system things are copied and then taken away."""
    with tempfile.TemporaryDirectory(prefix="hame-test-", dir="/dev/shm") as far:
        root, outside = Path(far, "project"), Path(far, "outside")
        outside.mkdir()
        outside.chmod(0o755)
        names = [f"{number}.txt" for number in range(300)]
        for name in names:
            (outside / name).write_text("the user's\n")
        for number in range(300):
            (root / f"{number}.hooks").mkdir(parents=True)
            (root / f"{number}.hooks/run").write_text("planted\n")
            (root / f"{number}.link").symlink_to(outside)
        aside = Aside(str(tmp_path / "aside"))
        run = [sys.executable, "-c", _EXCHANGE]
        with subprocess.Popen(run, cwd=root, stdout=subprocess.PIPE) as job:
            assert job.stdout is not None
            job.stdout.readline()
            try:
                for number in range(300):
                    with suppress(OSError):
                        aside.take(str(root), str(root / f"{number}.hooks"))
            finally:
                job.kill()
        assert sorted(each.name for each in outside.iterdir()) == sorted(names)
