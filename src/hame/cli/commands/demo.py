"""`hame demo`: the built-in model at work on a small sample project; nothing of yours is touched."""

import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import click
import msgspec

from hame.app.demo import TASKS, Task, make_sample, observe
from hame.base.event import QuestionAnswered, QuestionAsked, RunEnded, RunEvent
from hame.base.question import Answer, Choice
from hame.cli.exits import ExitCode, KilledError
from hame.cli.launch import Launch, paint_for, prepare
from hame.cli.paint import POINTER
from hame.cli.plain import PlainView
from hame.cli.running import follow
from hame.cli.session import Session, build_session
from hame.cli.terminal import terminal_view
from hame.cli.view import View
from hame.local.weights import MODEL


@click.command()
@click.pass_obj
def demo(options: Mapping[str, Any]) -> int:
    """Watch a model do five small tasks in a sample project.

    It is the built-in model unless --model names another. Each result is checked; the exit code is 0
    when all were done.
    """
    launch = prepare(options, interactive=True)
    model = options["model"] or f"local/{MODEL}"
    settings = msgspec.structs.replace(launch.settings, model=model)
    launch = msgspec.structs.replace(launch, settings=settings)
    try:
        return anyio.run(_show_all, launch)
    except KilledError as killed:
        return killed.code


async def _show_all(launch: Launch) -> int:
    paint = paint_for(launch, terminal=sys.stdout.isatty())
    wrong = 0
    with _sample(launch) as sample:
        session = await build_session(sample)
        session.subscribe(_consent(session))
        try:
            for task in TASKS:
                sys.stdout.write(f"{paint.accent(POINTER)} {paint.bold(task.prompt)}\n")
                sys.stdout.flush()
                problem = await _show(session, task, sample)
                wrong += problem is not None
                verdict = (
                    paint.bad(f"✗ {problem}") if problem else paint.good("✓ done, and checked")
                )
                sys.stdout.write(f"{verdict}\n\n")
        finally:
            with anyio.CancelScope(shield=True):
                await session.close()
    sys.stdout.write(f"{len(TASKS) - wrong} of {len(TASKS)} tasks done.\n")
    return ExitCode.FAILED if wrong else ExitCode.DONE


@contextmanager
def _sample(launch: Launch) -> Generator[Launch]:
    """A launch in a sample project with sessions of its own; all gone at the end."""
    with tempfile.TemporaryDirectory(prefix="hame-demo-") as folder:
        root = Path(folder).resolve()
        (root / "teapot").mkdir()
        places = msgspec.structs.replace(launch.places, data=str(root / "data"))
        yield msgspec.structs.replace(launch, project=str(root / "teapot"), places=places)


async def _show(session: Session, task: Task, sample: Launch) -> str | None:
    """Run one task in the project as it was made; what is wrong with the result."""
    project = Path(sample.project)
    await anyio.to_thread.run_sync(make_sample, project)
    await session.clear()
    events: list[RunEvent] = []
    unsubscribe = session.subscribe(events.append)
    try:
        await follow(session, task.prompt, _view(sample))
    finally:
        unsubscribe()
    sys.stdout.write(f"{_speed(events)}\n")
    return task.check(observe(project, events))


def _speed(events: Sequence[RunEvent]) -> str:
    """How fast the model was, as far as it says what it used."""
    ended = next(event for event in reversed(events) if isinstance(event, RunEnded))
    tokens = ended.usage.input_uncached + ended.usage.output
    if not tokens:
        return f"{ended.seconds:.1f} s; the model does not say how many tokens it used"
    rate = tokens / max(ended.seconds, 0.001)
    return f"{tokens:,} tokens in {ended.seconds:.1f} s, {rate:,.0f} tokens/s"


def _consent(session: Session) -> Callable[[RunEvent], None]:
    """Answers yes: the project is the demo's own and gone after the task."""

    def answer(event: RunEvent) -> None:
        if isinstance(event, QuestionAsked):
            session.answer(event.question.id, Answer(choice=Choice.ONCE))

    return answer


class _Unasked:
    """Implements View for another one, without the questions: the demo answers them itself."""

    def __init__(self, view: View) -> None:
        self._view = view

    def show(self, event: RunEvent) -> None:
        if not isinstance(event, QuestionAsked | QuestionAnswered):
            self._view.show(event)

    def tick(self) -> None:
        self._view.tick()

    def close(self) -> None:
        self._view.close()


def _view(launch: Launch) -> View:
    if sys.stdout.isatty() and paint_for(launch, terminal=True).enabled:
        return _Unasked(terminal_view(launch))
    return _Unasked(PlainView(sys.stdout, thinking=launch.settings.show_thinking))
