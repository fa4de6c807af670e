"""Nothing of a command stays behind, whatever it does (issue E, shows 2); all of it: bench/stress.py."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(120)
def test_hostile_commands_leave_no_orphan_and_end_in_time() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "stress.py"), "--count", "60", "--seed", "5"],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 left alive" in done.stdout
