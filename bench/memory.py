"""What hame's memory costs and keeps: long sessions in small windows, and many or large sessions on disk.

    .venv/bin/python bench/memory.py [--quick] [--json FILE]

The sessions run the real loop, context, journal and codec against a simulated provider (see
`tests/context/simulation.py`): it counts tokens by a scale of its own, prices what its cache serves,
and forgets a tenth of what it can see with every summary. `plain` is the control: the same spill and
the same cache marks, and one plain summary at 75 % of the window. Each figure comes from a process of
its own; `rss_mb` is the peak of that process, the simulation included.
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

SHAPES = (
    "many_small_messages",
    "large_results",
    "one_long_line",
    "deep_tree",
    "elided_results",
    "with_a_summary",
)
"""Of large sessions; see tests/sessions/large.py."""
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]


def measure_session(kind: str, wire: str, window: int, steps: int) -> dict[str, object]:
    """One long session; `kind` is `hame` or `plain`."""
    from tests.context.control import PlainSummary
    from tests.context.simulation import Session, started

    from hame.base.entry import CacheRead
    from hame.base.event import Compacted
    from hame.context import Window
    from hame.sessions.journal import FileJournal

    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        with FileJournal.begin(path, started(path)) as journal:
            context = PlainSummary() if kind == "plain" else Window()
            session = Session(wire, context, journal, steps=steps, window=window, keep_bodies=False)
            session.checks.append(lambda _: times.append(time.perf_counter() - session.model.own_s))
            asyncio.run(session.play())
            readings = [e.reading for e in journal.entries if isinstance(e, CacheRead)]
        written = path.stat().st_size
    model = session.model
    gaps = [later - earlier for earlier, later in pairwise(times)]
    tenth = max(len(gaps) // 10, 1)
    shortened = [each for each in session.events if isinstance(each, Compacted)]
    missed = [each for each in readings if each.kept < each.size and each.why]
    return {
        "cost_usd": round(model.cost, 3),
        "facts_known_of_40": session.known,
        "summaries": sum(bool(each.summary) for each in shortened),
        "elisions": sum(not each.summary for each in shortened),
        "overflows": model.overflows,
        "largest_request": max(each.tokens for each in model.spoken),
        "prefix_breaks": sum(each.kept < 1 for each in model.spoken),
        "misses": len(missed),
        "misses_unexplained": sum("did not serve" in each.why for each in missed),
        "step_early_ms": round(statistics.median(gaps[:tenth]) * 1e3, 2),
        "step_late_ms": round(statistics.median(gaps[-tenth:]) * 1e3, 2),
        "journal_mb": round(written / 1e6, 1),
        "rss_mb": peak(),
    }


def measure_listing(count: int) -> dict[str, object]:
    """Listing and searching many sessions, without and with the index."""
    from hame.sessions.store import SessionStore

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "sessions"
        folder.mkdir()
        for number in range(count):
            write_session(folder, number)
        index = Path(name) / "sessions.sqlite"
        figures: dict[str, object] = {"sessions": count}
        for label in ("first", "again"):
            store = SessionStore(folder, index=index)
            figures[f"list_{label}_s"] = timed(lambda s=store: s.list(None, count))
            figures[f"list_folder_{label}_s"] = timed(lambda s=store: s.list("/home/me/p3", 50))
            figures[f"search_{label}_s"] = timed(lambda s=store: s.search(["bug 4321"]))
        return figures | {"rss_mb": peak()}


def measure_opening(shape: str, megabytes: int) -> dict[str, object]:
    """Showing the end of a large session, opening it to go on with, and the view of its model."""
    from tests.sessions.large import write_large

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "s.jsonl"
        records = write_large(path, shape, megabytes * 1_050_000)
        size = path.stat().st_size
        command = [sys.executable, __file__, "--one", "opened", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return {"megabytes": size // 1_000_000, "records": records, **json.loads(done.stdout)}


def measure_opened(path: Path) -> dict[str, object]:
    from hame.base.model import ModelFacts
    from hame.context import Window
    from hame.sessions.ending import last_records
    from hame.sessions.journal import FileJournal
    from hame.sessions.pages import StoredEntries

    facts = ModelFacts(backend="b", model="m", wire="openai_chat", context_window=200_000)
    before = peak()

    def show() -> None:
        with path.open("rb") as file:
            last_records(file, path.stat().st_size, 200)

    shown_s = worked(show)
    journals: list[FileJournal] = []
    open_s = worked(lambda: journals.append(FileJournal.reopen(path)))
    opened = peak()
    window, (journal,) = Window(), journals
    view_s = worked(lambda: asyncio.run(window.fit(journal.entries, facts)))
    journal.close()
    held = journal.entries
    return {
        "show_end_s": shown_s,
        "open_s": open_s,
        "view_s": view_s,
        "entries_held": held.pages.held if isinstance(held, StoredEntries) else 0,
        "messages": len(window.projection.messages),
        "opened_mb": opened - before,
        "rss_before_mb": before,
        "rss_mb": peak(),
    }


def write_session(folder: Path, number: int) -> None:
    lines: list[bytes] = []

    def put(entry: dict[str, object]) -> None:
        place = len(lines) + 1
        parent = str(place - 1) if place > 1 else None
        record = {"id": str(place), "parent": parent, "at": 1.796e9 + number, "entry": entry}
        lines.append(json.dumps(record, separators=(",", ":")).encode() + b"\n")

    name = f"202611{number % 28 + 1:02d}-{number % 24:02d}{number % 60:02d}00-{number:06x}"
    cwd = f"/home/me/p{number % 40}"
    put({"type": "session_started", "session": name, "cwd": cwd, "hame": "0.1.0"})
    words = {"type": "text", "text": f"Please fix bug {number} in module m{number % 77}"}
    put({"type": "user_said", "message": {"role": "user", "content": [words]}})
    for _ in range(10):
        said = {"type": "text", "text": "word " * 60}
        put({"type": "model_answered", "message": {"role": "assistant", "content": [said]}})
        result = {"type": "done", "content": [{"type": "text", "text": "x" * 1_500}]}
        put({"type": "call_settled", "call_id": "c", "name": "read_file", "outcome": result})
    (folder / f"{name}.jsonl").write_bytes(b"".join(lines))


def timed(do) -> float:
    start = time.perf_counter()
    do()
    return round(time.perf_counter() - start, 3)


def worked(do) -> str:
    """Seconds by the wall and of the processor: on a shared machine only the second says much."""
    start, used = time.perf_counter(), time.process_time()
    do()
    return f"{time.perf_counter() - start:.3f} ({time.process_time() - used:.3f} cpu)"


def peak() -> int:
    """Peak memory of this program in MB; what getrusage says begins with that of its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) // 1024 if found else 0


def alone(*arguments: object) -> dict[str, object]:
    """A measurement in a process of its own."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def one(kind: str, *arguments: str) -> dict[str, object]:
    match kind:
        case "session":
            who, wire, window, steps = arguments
            return measure_session(who, wire, int(window), int(steps))
        case "listing":
            return measure_listing(int(arguments[0]))
        case "opened":
            return measure_opened(Path(arguments[0]))
        case _:
            return measure_opening(arguments[0], int(arguments[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs="+")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    steps = 400 if options.quick else 1_000
    results: dict[str, dict[str, object]] = {}
    for wire, window in (("anthropic_messages", 32_000), ("anthropic_messages", 128_000)):
        for kind in ("hame", "plain"):
            results[f"{kind} {window // 1000}k"] = alone("session", kind, wire, window, steps)
    results["list"] = alone("listing", 500 if options.quick else 5_000)
    for shape in SHAPES:
        results[f"open {shape}"] = alone("opening", shape, 20 if options.quick else 100)
    for name, figures in results.items():
        print(f"{name:24}", "  ".join(f"{key} {value}" for key, value in figures.items()))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
