"""A session's prompts, given to another model in a copy of its project.

Everything the model asks for really happens, in the copy: the same loop, tools, gate and sandbox as
always, in mode auto and with nobody to ask. The project itself is only read. What each side did is told
prompt by prompt, and how the files differ at the end.
"""

import os
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import chain, islice
from pathlib import Path
from secrets import token_hex
from typing import TypeAlias

import anyio
import anyio.to_thread
import msgspec
from msgspec.structs import replace

from hame.app.build import Launchpad, build_runtime
from hame.app.comparing import FileDifference, Side, compare_files, divergence, side_of
from hame.app.confinement import try_sandbox
from hame.app.runtime import Runtime
from hame.base import event
from hame.base.confinement import Level, Standing
from hame.base.entry import (
    ConstraintAdded,
    ConstraintRemoved,
    ModelAnswered,
    SessionStarted,
    UserSaid,
)
from hame.base.errors import ConfigError, SessionError
from hame.base.model import Usage
from hame.base.run import BudgetSpent, RunFailed, Stopped
from hame.base.settings import Mode, SandboxChoice, Settings
from hame.config.trust import is_trusted
from hame.sessions.branch import Branch, read_branch
from hame.sessions.keep import make_private_folder
from hame.sessions.store import SessionStore
from hame.workspace.duplicates.duplicate import Duplicate, Original
from hame.workspace.duplicates.making import duplicate
from hame.workspace.process import LocalProcesses
from hame.workspace.snapshots.past import Past, read_past
from hame.workspace.snapshots.store import store_of

_KEPT = "kept"
"""Name of an empty file that says that a copy is not to be swept away."""
Ask: TypeAlias = Callable[[Runtime, str], Awaitable[event.RunEnded]]
"""Gives a prompt to the runtime, to its end."""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt of a session, and what the user did besides."""

    words: str
    place: int
    """Of its entry in the branch."""
    steering: tuple[tuple[int, str], ...] = ()
    """What was said into the run, after so many steps."""
    demands: tuple[ConstraintAdded | ConstraintRemoved, ...] = ()
    """What the user held or took back by hand before it."""


class Compared(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one prompt, then and now."""

    number: int
    """From 1 within the session."""
    words: str
    recorded: Side
    now: Side
    divergence: str = ""
    """The first place where they are not the same; empty where both did the same."""


class Rerun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session came to with another model."""

    session: str
    model: str
    """Who was asked."""
    run_as: str
    """Id of the session in which it was done."""
    project: str
    """Where the copy was."""
    start: str
    """What the copy began as."""
    notices: tuple[str, ...]
    prompts: tuple[Compared, ...]
    left: int
    """Prompts that were not given any more."""
    files: tuple[FileDifference, ...]
    """Where the two results differ."""
    kept: bool = False
    """The copy was not removed."""
    stopped: str = ""
    """Why prompts are left, where some are."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How it is to be done."""

    model: str
    keep: bool = False
    """Leave the copy where it is."""
    ask: Ask = Runtime.prompt
    say: Callable[[str], None] = lambda _: None
    """Is told what is done on the way."""


async def rerun(branch: Branch, pad: Launchpad, wish: Wish) -> Rerun:
    """Give the prompts of a session to a model.

    Limits of steps hold for each prompt, those of money, tokens and time for all of them together.

    Raises:
        ConfigError: if the model cannot be asked, or commands cannot be confined here.
        SessionError: if the session has no prompts.
        ToolError: if the project cannot be copied.
    """
    prompts = prompts_of(branch)
    if not prompts:
        raise SessionError(f"session {branch.session} has no prompts to give again")
    async with _folder(Path(pad.places.cache, "replays"), keep=wish.keep) as folder:
        return await _Rerunning(branch, pad, wish, folder).run(prompts)


def prompts_of(branch: Branch) -> Sequence[Prompt]:
    """What the user said in a session, in order, with what they did by hand in between."""
    found: list[Prompt] = []
    demands: list[ConstraintAdded | ConstraintRemoved] = []
    steps = 0
    for place, entry in enumerate(branch.entries):
        match entry:
            case UserSaid(message=message, steering=False):
                found.append(Prompt(words=message.words, place=place, demands=tuple(demands)))
                demands, steps = [], 0
            case UserSaid(message=message) if found:
                said = (*found[-1].steering, (steps, message.words))
                found[-1] = replace(found[-1], steering=said)
            case ConstraintAdded(constraint=constraint) if constraint.found_by == "user":
                demands.append(entry)
            case ConstraintRemoved():
                demands.append(entry)
            case ModelAnswered():
                steps += 1
            case _:
                pass
    return found


class _Rerunning:
    """One session that is being run again."""

    def __init__(self, branch: Branch, pad: Launchpad, wish: Wish, folder: Path) -> None:
        self._branch, self._wish, self._folder = branch, wish, folder
        self._project = _project_of(branch) or pad.project
        self._added = tuple(map(os.path.realpath, pad.settings.add_dirs))
        self._root = folder / (Path(self._project).name or "project")
        self._pad = replace(
            pad,
            project=str(self._root),
            settings=replace(pad.settings, model=wish.model, mode=Mode.AUTO, add_dirs=()),
            interactive=False,
            resume=None,
            trusted=pad.trusted or is_trusted(pad.places, self._project),
            snapshots=False,
        )
        self._past = Past()
        self._notices: list[str] = []
        self._marks: list[int] = []
        """Where, in the new session, each prompt begins."""

    async def run(self, prompts: Sequence[Prompt]) -> Rerun:
        say = self._wish.say
        self._root.mkdir()
        standing = await self._try_sandbox()
        runtime = await build_runtime(self._pad)
        watch = _Watch(runtime, self._pad.settings)
        try:
            await runtime.set_model(self._wish.model)
            say(f"copying {self._project}")
            copy = await self._copy(link=standing.level is not Level.NONE)
            for notice in self._notices:
                say(notice)
            await runtime.memory().rename(f"Replay of {self._branch.session}")
            for number, prompt in enumerate(prompts, 1):
                say(f"prompt {number} of {len(prompts)}: {' '.join(prompt.words.split())[:100]}")
                if not await self._give(runtime, watch, prompt):
                    break
        finally:
            with anyio.CancelScope(shield=True):
                await runtime.close()
        return Rerun(
            session=self._branch.session,
            model=runtime.model,
            run_as=runtime.session,
            project=str(self._root),
            start=self._start(),
            notices=tuple(self._notices),
            prompts=tuple(self._compared(prompts, runtime.session)),
            left=len(prompts) - len(self._marks),
            files=tuple(await compare_files(copy)),
            kept=self._wish.keep,
            stopped=watch.stopped,
        )

    async def _try_sandbox(self) -> Standing:
        """See that commands can be held back, or that they need not be.

        Raises:
            ConfigError: if not.
        """
        pad = self._pad
        standing = await try_sandbox(pad.settings, pad.environment, pad.places, pad.project)
        if standing.level is Level.NONE and pad.settings.sandbox is not SandboxChoice.NONE:
            why = f": {standing.reason}" if standing.reason else ""
            raise ConfigError(
                f"the commands of another model cannot be confined here{why}",
                hint="--sandbox none lets them run as they are; then only the folder they begin in"
                " is a copy. hame doctor says what is missing.",
            )
        return standing

    async def _copy(self, *, link: bool) -> Duplicate:
        """Fill the copy."""
        places, environment = self._pad.places, self._pad.environment
        store = store_of(Path(places.snapshots), self._project, places.home)
        self._past = read_past(store, self._branch.session, self._project)
        original = Original(
            project=self._project,
            store=store,
            past=self._past,
            processes=LocalProcesses(
                environment, without=(self._project, *self._added, str(self._root))
            ),
            home=places.home,
        )
        copy = await duplicate(original, self._root, self._folder / "own", link=link)
        self._notices += copy.notices
        return copy

    def _start(self) -> str:
        if self._past.tree:
            return "the project as the session found it, from its snapshots"
        if self._past.found:
            count = len(self._past.found)
            return f"the project as it is now, {count} files as the session found them"
        return "the project as it is now; no snapshot holds what it was"

    async def _give(self, runtime: Runtime, watch: "_Watch", prompt: Prompt) -> bool:
        """Give one prompt; whether the next one is to follow."""
        await _settle_demands(runtime, prompt.demands)
        self._marks.append(len(runtime.journal.entries))
        watch.begin(prompt.steering)
        for words in chain([prompt.words], watch.unsaid):
            ended = await self._wish.ask(runtime, words)
            watch.ended(ended)
            if watch.stopped:
                return False
        return True

    def _compared(self, prompts: Sequence[Prompt], session: str) -> Iterator[Compared]:
        """Both sides of each prompt that was given."""
        store = SessionStore(Path(self._pad.places.sessions))
        path = store.path(session)
        now = read_branch(path).records if self._marks and path.exists() else ()
        then = self._branch.records
        ends = [*self._marks[1:], len(now)]
        places = [*(prompt.place for prompt in prompts), len(then)]
        for number, (mark, end) in enumerate(zip(self._marks, ends, strict=True)):
            recorded = side_of(islice(then, places[number], places[number + 1]), self._project)
            today = side_of(islice(now, mark, end), str(self._root))
            yield Compared(
                number=number + 1,
                words=prompts[number].words,
                recorded=recorded,
                now=today,
                divergence=divergence(recorded, today),
            )


class _Watch:
    """Says into a run what was said, and ends it where all prompts together have used enough."""

    def __init__(self, runtime: Runtime, settings: Settings) -> None:
        self._runtime, self._settings = runtime, settings
        self._began = anyio.current_time()
        self._usage, self._cost = Usage(), 0.0
        self._steering: list[tuple[int, str]] = []
        self.stopped = ""
        """Why no further prompt is given."""
        runtime.subscribe(self._see)

    def begin(self, steering: Sequence[tuple[int, str]]) -> None:
        """A prompt is given, into whose run this was said."""
        self._steering = list(steering)

    @property
    def unsaid(self) -> Iterator[str]:
        """What there was no more time to say into the run: prompts of their own."""
        while self._steering:
            yield self._steering.pop(0)[1]

    def ended(self, ended: event.RunEnded) -> None:
        """A run is over."""
        match ended.result:
            case BudgetSpent(what=what):
                self.stopped = self.stopped or f"the limit of {what} is reached"
            case RunFailed(failure=failure):
                self.stopped = failure.message
            case Stopped(reason=reason, by_user=True):
                self.stopped = self.stopped or reason
            case _:
                pass

    def _see(self, item: event.RunEvent) -> None:
        match item:
            case event.UsageUpdated(step_usage=usage, step_cost_usd=cost):
                self._usage += usage
                self._cost += cost or 0.0
                self._hold_limits()
            case event.StepStarted(step=step):
                while self._steering and self._steering[0][0] <= step:
                    self._runtime.steer(self._steering.pop(0)[1])
                self._hold_limits()
            case _:
                pass

    def _hold_limits(self) -> None:
        settings, used = self._settings, self._usage.input_total + self._usage.output
        seconds = anyio.current_time() - self._began
        reached = [
            what
            for what, limit, amount in (
                ("money", settings.max_cost_usd, self._cost),
                ("tokens", settings.max_tokens, used),
                ("time", settings.max_time_s, seconds),
            )
            if limit is not None and amount >= limit
        ]
        if reached and not self.stopped:
            self.stopped = f"the limit of {reached[0]} for all prompts is reached"
            self._runtime.cancel(f"stopped: {self.stopped}")


async def _settle_demands(
    runtime: Runtime, demands: Sequence[ConstraintAdded | ConstraintRemoved]
) -> None:
    """Hold and take back what the user held and took back by hand."""
    memory = runtime.memory()
    for each in demands:
        if isinstance(each, ConstraintAdded):
            await memory.add_constraint(each.constraint.text)
        elif any(held.id == each.id for held in memory.constraints()):
            await memory.remove_constraint(each.id)


def _project_of(branch: Branch) -> str:
    """The folder that a session worked in."""
    found = next(iter(branch.entries), None)
    return found.cwd if isinstance(found, SessionStarted) else ""


@asynccontextmanager
async def _folder(base: Path, *, keep: bool) -> AsyncGenerator[Path]:
    """A folder for one copy, gone at the end; those that a killed hame has left go now."""
    await anyio.to_thread.run_sync(_sweep, base)
    folder = base / f"{os.getpid()}-{token_hex(3)}"
    make_private_folder(folder)
    if keep:
        (folder / _KEPT).touch()
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_remove, folder / "own" if keep else folder)


def _sweep(base: Path) -> None:
    """Remove what processes have left that are gone."""
    for folder in base.glob("*-*"):
        process = folder.name.partition("-")[0]
        if process.isdecimal() and not (folder / _KEPT).exists() and not _is_alive(int(process)):
            _remove(folder)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _remove(folder: Path) -> None:
    """Remove a folder, also what is in it that may not be written."""
    for here, folders, _ in os.walk(folder):
        for name in folders:
            inner = Path(here, name)
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
