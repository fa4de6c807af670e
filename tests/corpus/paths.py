"""The labelled paths of the evidence folder, and their layout on a real disk."""

import json
import os
import socket
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).resolve().parents[2] / ".." / "shared" / "reference" / "paths.jsonl"
_OF_PROCESS = "/proc/self/root"


@cache
def rows() -> list[dict[str, Any]]:
    """The layout, then the labelled paths; nothing where the evidence is absent."""
    if not FILE.exists():
        return []
    return [json.loads(line) for line in FILE.read_text("utf-8").splitlines() if line]


def posix_rows() -> list[dict[str, Any]]:
    return [row for row in rows()[1:] if row["platform"] == "posix"]


needs_paths = pytest.mark.skipif(
    not rows(), reason="the labelled paths are not on this machine (../shared)"
)


def lay_out(folder: Path) -> Path:
    """Make the layout below a folder of our own."""
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    (folder / "home/README.md").write_text("above", "utf-8")
    for entry in rows()[0]["entries"] if rows() else ():
        _put(folder, *entry)
    return folder


def _put(base: Path, what: str, path: str, more: str = "") -> None:
    place = Path(moved(path, base))
    place.parent.mkdir(parents=True, exist_ok=True)
    match what:
        case "d":
            place.mkdir(exist_ok=True)
        case "f":
            place.write_text(more, "utf-8")
        case "l":
            place.symlink_to(moved(more, base))
        case "p":
            os.mkfifo(place)
        case "s":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(os.path.relpath(place))
        case "h":
            target = Path(moved(more, base))
            target.touch()
            os.link(target, place)
        case _:
            raise AssertionError(what)


def moved(path: str, base: Path) -> str:
    """An absolute path of the layout, below our own folder; the system's own paths stay."""
    if path.startswith(f"{_OF_PROCESS}/home/"):
        return _OF_PROCESS + moved(path[len(_OF_PROCESS) :], base)
    return f"{base}{path}" if path.startswith(("/home/", "/tmp/")) else path
