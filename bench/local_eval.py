"""How well the built-in model drives the real loop, one task at a time.

    python bench/local_eval.py [--sets dev,held,own,late] [--reference FILE] [--json FILE]

Every task gets a scratch project and a session of its own through the public API, in mode `auto`:
the same loop, gate, tools and journal as any prompt. The sets `dev` and `held` are read from the
reference script in `../shared/reference`; they are not copied. A task succeeds by what is in the
files and in the answer; a result that is merely shown beside the answer does not count. A wrong
edit is any change of files that the task did not want.
"""

import argparse
import asyncio
import importlib.util
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from hame.app.api import open_session
from hame.base.event import (
    AnswerCompleted,
    CallSettled,
    CallStarted,
    RunEnded,
    StepStarted,
    TextDelta,
)
from local_tasks import SETS, Task

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference" / "local_eval.py"
READING_CHECKS = {"says", "ran", "util"}
"""Checks of the reference whose tasks must leave every file as it is."""


@dataclass(frozen=True)
class Trial:
    """One task to be tried."""

    group: str
    name: str
    prompt: str
    files: dict[str, str]
    succeeded: Callable[["Seen"], bool]
    only_reads: bool


@dataclass(frozen=True)
class Seen:
    """What a run left and said; has the two members the reference's checks look at."""

    after: dict[str, str]
    answer: str
    calls: list[tuple[str, dict[str, object]]]

    def text(self, path: str) -> str | None:
        return self.after.get(path)


@dataclass(frozen=True)
class Row:
    """The outcome of one trial."""

    group: str
    name: str
    ok: bool
    wrong_edit: bool
    seconds: float
    """The whole run, the start of the engine included: every task has a process of its own."""
    asking: float
    """Seconds of them in which the model was asked."""
    steps: int
    output_tokens: int
    calls: list[str]
    answer: str
    result: str

    @property
    def tokens_per_second(self) -> float:
        return self.output_tokens / self.asking if self.asking else 0.0


def load_trials(groups: list[str], reference: Path) -> Iterator[Trial]:
    for group in groups:
        if group in SETS:
            files, tasks = SETS[group]
            for task in tasks:
                yield Trial(
                    group, task.name, task.prompt, files, _own_check(task, files), not task.leaves
                )
        else:
            yield from _reference_trials(group, reference)


def _own_check(task: Task, files: dict[str, str]) -> Callable[[Seen], bool]:
    return lambda seen: task.succeeded(seen.answer, files, seen.after)


def _reference_trials(group: str, reference: Path) -> Iterator[Trial]:
    spec = importlib.util.spec_from_file_location("local_eval_reference", reference)
    if spec is None or spec.loader is None or not reference.is_file():
        raise SystemExit(f"{reference} is not there; the sets dev and held are read from it")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, prompt, check in module.SETS[group]:
        only_reads = check.__qualname__.partition(".")[0] in READING_CHECKS

        def succeeded(seen: Seen, check: Callable[..., bool] = check) -> bool:
            return bool(check(seen, seen.answer))

        yield Trial(group, name, prompt, module.FILES, succeeded, only_reads)


async def try_one(trial: Trial, model: str) -> Row:
    root = Path(tempfile.mkdtemp(prefix="hame-bench-"))
    try:
        for path, text in trial.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        began = time.perf_counter()
        seen, ended, asking = await _run(root, trial.prompt, model)
        seconds = time.perf_counter() - began
    finally:
        shutil.rmtree(root, ignore_errors=True)
    ok = trial.succeeded(seen)
    changed = seen.after != trial.files
    return Row(
        group=trial.group,
        name=trial.name,
        ok=ok,
        wrong_edit=changed and (trial.only_reads or not ok),
        seconds=round(seconds, 2),
        asking=round(asking, 2),
        steps=ended.steps,
        output_tokens=ended.usage.output,
        calls=[f"{name} {json.dumps(arguments)}" for name, arguments in seen.calls],
        answer=seen.answer,
        result=type(ended.result).__name__,
    )


async def _run(root: Path, prompt: str, model: str) -> tuple[Seen, RunEnded, float]:
    said: list[str] = []
    calls: list[tuple[str, dict[str, object]]] = []
    ended: RunEnded | None = None
    asking = began = 0.0
    async with open_session(root, model=model, mode="auto") as session:
        async for event in session.prompt(prompt):
            match event:
                case TextDelta(text=text):
                    said.append(text)
                case CallStarted(tool=tool, arguments=arguments):
                    # The reference's checks know the test runner by this name.
                    name = "run_tests" if tool == "run_command" else tool
                    calls.append((name, arguments))
                case StepStarted():
                    began = time.perf_counter()
                case AnswerCompleted():
                    asking += time.perf_counter() - began
                case CallSettled():
                    said.clear()
                case RunEnded():
                    ended = event
                case _:
                    pass
    if ended is None:
        raise SystemExit("the run did not end")
    return Seen(_read_all(root), "".join(said), calls), ended, asking


def _read_all(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def report(rows: list[Row], groups: list[str]) -> None:
    for group in groups:
        mine = [row for row in rows if row.group == group]
        good, wrong = sum(row.ok for row in mine), sum(row.wrong_edit for row in mine)
        seconds, asking = sum(row.seconds for row in mine), sum(row.asking for row in mine)
        tokens = sum(row.output_tokens for row in mine)
        unasked = sum(row.output_tokens == 0 for row in mine)
        print(
            f"{group}: {good}/{len(mine)} done, {wrong} wrong edits,"
            f" {seconds / max(len(mine), 1):.2f} s a task,"
            f" {tokens / max(asking, 1e-9):.1f} tokens/s while asking,"
            f" {unasked} without a question to the model"
        )


async def main() -> None:
    parser = argparse.ArgumentParser(description="Evaluate the built-in model in the real loop.")
    parser.add_argument("--sets", default="dev,held")
    parser.add_argument("--only", default="", help="names of tasks, separated by commas")
    parser.add_argument("--model", default="local/smollm2-135m")
    parser.add_argument("--reference", type=Path, default=REFERENCE)
    parser.add_argument("--json", type=Path, help="append one line a task to this file")
    options = parser.parse_args()
    groups = options.sets.split(",")
    only = set(filter(None, options.only.split(",")))
    rows: list[Row] = []
    for trial in load_trials(groups, options.reference):
        if only and trial.name not in only:
            continue
        row = await try_one(trial, options.model)
        rows.append(row)
        mark = "ok  " if row.ok else "FAIL"
        wrong = "  WRONG EDIT" if row.wrong_edit else ""
        print(
            f"{mark} {row.group:5} {row.name:12} {row.seconds:5.1f} s"
            f" {row.tokens_per_second:4.0f} tok/s{wrong}",
            flush=True,
        )
        if not row.ok:
            print(f"       {row.result} {row.calls} -> {row.answer[:200]!r}", flush=True)
        if options.json:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    report(rows, groups)
    sys.exit(0)


if __name__ == "__main__":
    asyncio.run(main())
