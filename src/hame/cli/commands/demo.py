"""`hame demo`: the built-in model at work on a small sample project; nothing of yours is touched."""

import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import click
import msgspec

from hame.app.demo import TASKS, Task, make_sample, observe
from hame.base.event import QuestionAnswered, QuestionAsked, RunEvent
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
    for task in TASKS:
        sys.stdout.write(f"{paint.accent(POINTER)} {paint.bold(task.prompt)}\n")
        sys.stdout.flush()
        problem = await _show(launch, task)
        wrong += problem is not None
        verdict = paint.bad(f"✗ {problem}") if problem else paint.good("✓ done, and checked")
        sys.stdout.write(f"{verdict}\n\n")
    sys.stdout.write(f"{len(TASKS) - wrong} of {len(TASKS)} tasks done.\n")
    return ExitCode.FAILED if wrong else ExitCode.DONE


@contextmanager
def _sample(launch: Launch) -> Generator[Launch]:
    """A launch in a fresh sample project with sessions of its own; all gone at the end."""
    with tempfile.TemporaryDirectory(prefix="hame-demo-") as folder:
        root = Path(folder).resolve()
        project = root / "teapot"
        project.mkdir()
        make_sample(project)
        places = msgspec.structs.replace(launch.places, data=str(root / "data"))
        yield msgspec.structs.replace(launch, project=str(project), places=places)


async def _show(launch: Launch, task: Task) -> str | None:
    """Run one task in a project of its own; what is wrong with the result."""
    with _sample(launch) as sample:
        session = await build_session(sample)
        events: list[RunEvent] = []
        session.subscribe(events.append)
        session.subscribe(_consent(session))
        try:
            await follow(session, task.prompt, _view(launch))
        finally:
            with anyio.CancelScope(shield=True):
                await session.close()
        return task.check(observe(Path(sample.project), events))


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
