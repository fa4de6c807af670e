"""hame is killed while it writes, 200 times: every file is the old one or the new one, whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
KILLS = 200
SEED = int(os.environ.get("HAME_KILL_SEED", "3"))

WRITER = """
import json, os, random, signal, sys, time
from pathlib import Path
import anyio, anyio.to_thread
import anyio._backends._asyncio
import hame.workspace.batch, hame.workspace.steps
from hame.base.edit import TextEdit
from hame.base.ports import FileChange
from hame.base.zone import Operation
from hame.workspace.local import open_workspace

root, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
NAMES = ("alone.txt", "one.txt", "two.txt", "link.txt")
TEXTS = {letter * 150_000 + "\\n" for letter in "ab"}

async def write_once():
    workspace = open_workspace(str(root), home="", rg="")
    place = workspace.locate("alone.txt", Operation.WRITE)
    await workspace.write_text(place, "a" * 150_000 + "\\n", None, replace=True)
    place.close()

async def write_for_ever():
    workspace = open_workspace(str(root), home="", rg="")
    def look(name):
        return workspace.locate(name, Operation.WRITE)
    def other(file):
        new = "b" if file.text.startswith("a") else "a"
        return new * 150_000 + "\\n"
    while True:
        for name in ("alone.txt", "link.txt"):
            place = look(name)
            file = await workspace.read_text(place)
            await workspace.write_text(place, other(file), file, replace=True)
            place.close()
        changes = []
        for name in ("one.txt", "two.txt"):
            place = look(name)
            file = await workspace.read_text(place)
            edit = TextEdit(0, len(file.text), other(file))
            changes.append(FileChange(place=place, before=file, edits=(edit,)))
        await workspace.apply(changes)
        for change in changes:
            change.place.close()

for name in NAMES[:3]:
    (root / name).write_text("a" * 150_000 + "\\n")
(root / "real.txt").write_text("a" * 150_000 + "\\n")
(root / "link.txt").symlink_to("real.txt")
chance = random.Random(seed)
seen, broken, left = set(), 0, 0
for _ in range(kills):
    child = os.fork()
    if child == 0:
        anyio.run(write_for_ever)
        os._exit(0)
    time.sleep(chance.uniform(0.01, 0.06))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), status
    for name in NAMES:
        text = (root / name).read_text()
        broken += text not in TEXTS
        seen.add((name, text[0]))
    left = max(left, len(list(root.glob(".hame-*.tmp"))))
    for path in root.glob(".hame-*.old"):
        path.unlink()
child = os.fork()
if child == 0:
    anyio.run(write_once)
    os._exit(0)
os.waitpid(child, 0)
print(json.dumps({
    "broken": broken, "left": left, "seen": len(seen),
    "names": sorted(path.name for path in root.iterdir()),
    "link": (root / "link.txt").is_symlink(),
}))
"""


@pytest.mark.timeout(180)
def test_every_file_is_the_old_one_or_the_new_one_whole(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", WRITER, str(tmp_path), str(KILLS), str(SEED)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    print(result)
    assert result["broken"] == 0
    assert result["link"]
    assert result["names"] == ["alone.txt", "link.txt", "one.txt", "real.txt", "two.txt"]
    assert result["seen"] >= 6, "the files were hardly written"
    assert result["left"] > 0, "no write was ever interrupted"
    # Each writer takes away what the one before it left: it never becomes a heap.
    assert result["left"] <= 3
