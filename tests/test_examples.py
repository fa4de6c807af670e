"""The programs in `examples/`, run as they are against a scripted server."""

import os
import subprocess
import sys
from pathlib import Path

from hame.testing import ScriptedServer, answer, call

ROOT = Path(__file__).parents[1]


def test_the_review_looks_and_lets_nothing_be_changed_however_it_begins(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    with ScriptedServer(
        answer(call("run_command", command="git status --short")),
        answer(call("run_command", command="git diff && touch changed")),
        answer("Nothing to say."),
    ) as server:
        ran = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "review.py"), str(tmp_path)],
            env={
                "PATH": os.environ["PATH"],
                "HOME": os.environ["HOME"],
                "PYTHONPATH": str(ROOT / "src"),
                "ANTHROPIC_API_KEY": "k",
                "ANTHROPIC_BASE_URL": server.url,
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert (ran.stderr, ran.returncode) == ("", 0)
    assert "Nothing to say." in ran.stdout
    assert ran.stdout.count("-> no") == 1, "looking is not asked for"
    assert not (tmp_path / "changed").exists()
    assert b"Only look" in server.questions[2].raw
