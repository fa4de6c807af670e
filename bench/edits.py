"""Searching and editing in a generated repository of 20,000 files, as ratios to plain tools.

    .venv/bin/python bench/edits.py [--files N] [--seed N] [--json FILE]

Each pair is timed interleaved in one run, because only ratios compare on a shared machine: a search
with hame's tools against `rg` itself, an edit against a plain write of the same file.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from hame.base.confinement import Confinement
from hame.base.outcome import Done
from hame.base.ports import ToolContext
from hame.sandbox.unconfined import Unconfined
from hame.tools import builtin_tools
from hame.tools.matching.canonical import TextLines
from hame.tools.matching.ladder import Placed, find_inexact
from hame.workspace.local import bundled_ripgrep, open_workspace
from hame.workspace.process import LocalProcesses
from hame.workspace.syntax import Syntax

WORDS = ["load", "store", "parse", "render", "fetch", "cache", "total", "limit", "queue", "item"]
PER_FOLDER = 50


class Desk:
    """Calls hame's tools as the loop does."""

    def __init__(self, root: Path, rg: str | None) -> None:
        self.context = ToolContext(
            workspace=open_workspace(str(root), home=str(root.parent), rg=rg),
            processes=LocalProcesses(dict(os.environ), Unconfined()),
            sandbox=Unconfined(),
            progress=lambda _: None,
        )
        self.tools = {tool.spec.name: tool for tool in builtin_tools()}

    async def call(self, name: str, **arguments: object) -> Done:
        action = await self.tools[name].prepare(arguments, self.context)
        try:
            assert action.digest
            outcome = await action.run(Confinement())
        finally:
            action.close()
        assert isinstance(outcome, Done), outcome
        return outcome


def generate(root: Path, files: int, source: random.Random) -> None:
    """Python files of 20 to 200 lines, 50 to a folder; one word in 500 files is rare."""
    root.mkdir()
    (root / ".gitignore").write_text("build/\n*.log\n")
    for number in range(files):
        folder = root / f"pkg{number // (PER_FOLDER * 20)}/mod{number // PER_FOLDER % 20}"
        if number % PER_FOLDER == 0:
            folder.mkdir(parents=True, exist_ok=True)
        lines = [f'"""Module {number}."""', "", "import os", ""]
        for part in range(source.randint(3, 30)):
            one, other, third = source.choices(WORDS, k=3)
            lines += [
                f"def {one}_{other}_{part}({third}):",
                f"    {other} = {one}({third}, {source.randrange(1000)})",
                f"    if {other} is None:",
                f"        raise ValueError('no {other} in {third}')",
                f"    return {other}",
                "",
                "",
            ]
        if number % 500 == 7:
            lines.append(f"RARE_MARKER = {number}")
        (folder / f"file{number}.py").write_text("\n".join(lines) + "\n")


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def compare(
    ours: Callable[[], Awaitable[object]], plain: Callable[[], Awaitable[object]], times: int
) -> tuple[float, float]:
    """Medians in milliseconds, interleaved, after one round that does not count."""
    pairs = [(await timed(ours), await timed(plain)) for _ in range(times + 1)][1:]
    one, other = zip(*pairs, strict=True)
    return statistics.median(one) * 1000, statistics.median(other) * 1000


def running(*command: str, cwd: Path) -> Callable[[], Awaitable[object]]:
    async def run() -> object:
        return await anyio.run_process(command, cwd=cwd, check=False)

    return run


async def search_figures(root: Path) -> dict[str, tuple[float, float]]:
    rg = bundled_ripgrep()
    desk, own = Desk(root, None), Desk(root, "")
    common = ("--no-config", "--sort=path", "-n")
    rows: dict[str, tuple[float, float]] = {}
    for name, pattern in (("rare word", "RARE_MARKER"), ("frequent line", r"def load_\w+_1\(")):
        plain = running(rg, "--no-config", "-n", pattern, "./", cwd=root)

        def ours(pattern: str = pattern, desk: Desk = desk) -> Awaitable[object]:
            return desk.call("search_text", pattern=pattern, regex=True)

        rows[f"search_text, {name}, to rg"] = await compare(ours, plain, 7)
        rows[f"search_text, {name}, to rg --sort=path"] = await compare(
            ours, running(rg, *common, pattern, "./", cwd=root), 5
        )
        rows[f"the same without ripgrep, {name}, to rg"] = await compare(
            lambda pattern=pattern: own.call("search_text", pattern=pattern, regex=True), plain, 3
        )
    rows["find_files **/file1*.py, to rg --files"] = await compare(
        lambda: desk.call("find_files", pattern="**/file1*.py"),
        running(rg, "--no-config", "--files", "./", cwd=root),
        7,
    )
    desk.context = ToolContext(
        workspace=desk.context.workspace,
        processes=desk.context.processes,
        sandbox=desk.context.sandbox,
        progress=desk.context.progress,
        structure=Syntax(),
    )
    rows["find_symbol of one name, to rg"] = await compare(
        lambda: desk.call("find_symbol", query="load_store_29"),
        running(rg, "--no-config", "-i", "load_store_29", "./", cwd=root),
        5,
    )
    return rows


async def edit_figures(root: Path) -> dict[str, tuple[float, float]]:
    desk = Desk(root, None)
    path = "pkg0/mod0/file0.py"
    file = root / path
    turn = 0

    async def edit() -> object:
        nonlocal turn
        turn += 1
        return await desk.call(
            "edit_file", path=path, old_string=file.read_text().split("\n")[0],
            new_string=f'"""Module of turn {turn}."""',
        )  # fmt: skip

    async def plain() -> object:
        return file.write_text(file.read_text().replace("Module", "Module", 1))

    async def synced() -> object:
        data = file.read_bytes()
        beside = file.with_suffix(".new")
        with beside.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(file)
        return data

    rows = {
        "edit_file, to a plain write": await compare(edit, plain, 40),
        "edit_file, to a write that is synced and renamed": await compare(edit, synced, 40),
    }
    paths = [f"pkg0/mod{n}/file{n * PER_FOLDER}.py" for n in range(20)]

    async def patch() -> object:
        nonlocal turn
        turn += 1
        sections = [
            f"*** Update File: {each}\n-{(root / each).read_text().split(chr(10))[0]}\n"
            f'+"""Patched {turn}."""'
            for each in paths
        ]
        text = "\n".join(["*** Begin Patch", *sections, "*** End Patch"])
        return await desk.call("apply_patch", input=text)

    async def plain_20() -> object:
        for each in paths:
            (root / each).write_text((root / each).read_text())
        return None

    rows["apply_patch over 20 files, to 20 plain writes"] = await compare(patch, plain_20, 15)
    return rows


def inexact_figure(source: random.Random) -> float:
    """Milliseconds to find a block of 12 lines that is remembered inexactly, in 10,000 lines."""
    lines: list[str] = []
    for number in range(2_000):
        one, other = source.choices(WORDS, k=2)
        lines += [
            f"def {one}_{other}_{number}(value):", "    # what is done here",
            f"    {one} = value + {number}", f"    return {one}", "",
        ]  # fmt: skip
    text = "\n".join(lines)
    old = "\n".join(lines[6_000:6_012]).replace("what is done", "what was done", 1)
    spent: list[float] = []
    for _ in range(9):
        began = time.perf_counter()
        found = find_inexact(TextLines(text), old, f"{old}\n    more()")
        spent.append(time.perf_counter() - began)
        assert isinstance(found, Placed), found
    return statistics.median(spent) * 1000


async def measure(files: int, seed: int) -> dict[str, object]:
    source = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "repository")
        generate(root, files, source)
        rows = await search_figures(root) | await edit_figures(root)
    found = inexact_figure(source)
    print(f"{'what':<52} {'hame':>9} {'plain':>9} {'ratio':>7}")
    for name, (ours, plain) in rows.items():
        print(f"{name:<52} {ours:>6.1f} ms {plain:>6.1f} ms {ours / plain:>6.2f}x")
    print(f"an inexact block of 12 lines is found in 10,000 lines in {found:.1f} ms")
    figures = {name: {"ms": ours, "plain_ms": plain} for name, (ours, plain) in rows.items()}
    return {"files": files, "seed": seed, "figures": figures, "inexact_ms": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures = anyio.run(measure, arguments.files, arguments.seed)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
