"""What hame itself costs, in one run and as ratios: this is a shared machine, so only those compare.

    .venv/bin/python bench/harness.py [--quick] [--json FILE]

Every figure is the best or the median of interleaved repetitions; `bench/README.md` says which goal
each is held against.
"""

import argparse
import json
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PYTHON = sys.executable
HAME = str(Path(PYTHON).with_name("hame"))


class Served:
    """A running bench server."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port
        self.url = f"http://127.0.0.1:{port}/v1"

    def report(self) -> dict[str, Any]:
        out, _ = self.process.communicate(timeout=30)
        return json.loads(out)


@contextmanager
def serving(steps: int, kind: str) -> Generator[Served]:
    command = [PYTHON, str(HERE / "server.py"), str(steps), kind]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield Served(process, int(process.stdout.readline()))
        if process.poll() is None:
            process.kill()


def environment(home: Path, url: str = "") -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {"HOME": str(home), "OPENROUTER_API_KEY": "k", "OPENROUTER_BASE_URL": url}


def spawn(command: list[str], cwd: Path, env: dict[str, str]) -> tuple[float, float, float]:
    """Run to the end: when it began and ended (monotonic), and its peak memory in MB."""
    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    ended = time.monotonic()
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{command[:4]} failed")
    return began, ended, used.ru_maxrss / 1024


def interleave(jobs: dict[str, list[str]], cwd: Path, env: dict[str, str], times: int):
    """Wall seconds of each job, run in turn."""
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(times):
        for name, command in jobs.items():
            began, ended, _ = spawn(command, cwd, env)
            found[name].append(ended - began)
    return found


def measure_version(home: Path, times: int) -> dict[str, object]:
    jobs = {
        "python": [PYTHON, "-c", "pass"],
        "version": [HAME, "--version"],
        "help": [HAME, "--help"],
    }
    found = interleave(jobs, home, environment(home), times)
    best = {name: min(values) for name, values in found.items()}
    return {
        "python_ms": best["python"] * 1e3,
        "version_ms": best["version"] * 1e3,
        "version_ratio": best["version"] / best["python"],
        "help_ms": best["help"] * 1e3,
    }


def measure_first_request(home: Path, times: int) -> dict[str, object]:
    found: dict[str, list[float]] = {"bare": [], "hame": []}
    tails: list[float] = []
    for _ in range(times):
        for name, times_s in found.items():
            with serving(0, "read") as server:
                prompt = [HAME, "-p", "hi", "--model", "openrouter/mock"]
                command = prompt if name == "hame" else [PYTHON, str(HERE / "bare.py"), server.url]
                began, ended, _ = spawn(command, home, environment(home, server.url))
                seen = server.report()["requests"]
                times_s.append(seen[0]["arrived"] - began)
                if name == "hame":
                    tails.append(ended - seen[-1]["answered"])
    bare, hame = statistics.median(found["bare"]), statistics.median(found["hame"])
    return {
        "bare_ms": bare * 1e3,
        "hame_ms": hame * 1e3,
        "ratio": statistics.median(
            h / b for h, b in zip(found["hame"], found["bare"], strict=True)
        ),
        "best_ratio": min(found["hame"]) / min(found["bare"]),
        "exit_ms": statistics.median(tails) * 1e3,
    }


def measure_prompt(home: Path, times: int) -> dict[str, object]:
    """Spawn to the line prompt accepting input, in a pseudo-terminal."""
    found: list[float] = []
    for _ in range(times):
        leader, follower = pty.openpty()
        env = environment(home, "http://127.0.0.1:9/v1") | {"TERM": "xterm"}
        began = time.monotonic()
        process = subprocess.Popen(
            [HAME, "--model", "openrouter/mock"],
            cwd=home, env=env, stdin=follower, stdout=follower, stderr=follower,
            start_new_session=True,
        )  # fmt: skip
        os.close(follower)
        seen = b""
        while PROMPT_MARK not in seen:
            ready, _, _ = select.select([leader], [], [], 10)
            if not ready:
                raise SystemExit(f"no prompt came: {seen!r}")
            seen += os.read(leader, 4096)
        found.append(time.monotonic() - began)
        process.kill()
        process.wait()
        os.close(leader)
    return {"prompt_ms": min(found) * 1e3, "prompt_median_ms": statistics.median(found) * 1e3}


PROMPT_MARK = "\u276f".encode()


def measure_loop(home: Path, steps: int, kind: str) -> dict[str, object]:
    project = home / "project"
    (project / "data").mkdir(parents=True, exist_ok=True)
    for n in range(1, steps + 1):
        (project / f"data/f{n}.txt").write_text(f"file {n}\n" * 40)
    with serving(steps, kind) as server:
        command = [HAME, "-p", "go", "--model", "openrouter/mock", "--mode", "auto"]
        command += ["--max-steps", str(steps + 5)]
        _, ended, memory = spawn(command, project, environment(home, server.url))
        report = server.report()
    seen, sizes = report["requests"], report["sizes"]
    gaps = [b["arrived"] - a["answered"] for a, b in pairwise(seen)]
    return {
        "steps": len(gaps),
        "gap_ms": statistics.mean(gaps) * 1e3,
        "median_ms": statistics.median(gaps) * 1e3,
        "early_ms": statistics.median(gaps[2:7]) * 1e3,
        "late_ms": statistics.median(gaps[-5:]) * 1e3,
        "first_request_tokens": sizes[0] / 4,
        "sent_mb": sum(sizes) / 1e6,
        "kept_min": min(report["kept"]),
        "peak_mb": memory,
        "exit_ms": (ended - seen[-1]["answered"]) * 1e3,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    times = 5 if options.quick else 15
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        results = {
            "version": measure_version(home, times * 2),
            "first request": measure_first_request(home, times),
            "prompt": measure_prompt(home, times),
            "read x40": measure_loop(home, 40, "read"),
            "read x200": measure_loop(home, 200, "read"),
            "shell x40": measure_loop(home, 40, "shell"),
        }
        if not options.quick:
            results["read x1000"] = measure_loop(home, 1000, "read")
    for name, figures in results.items():
        shown = "  ".join(
            f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in figures.items()
        )
        print(f"{name:14} {shown}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
