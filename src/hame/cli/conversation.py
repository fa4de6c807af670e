"""The line conversation: a prompt, its run, the next prompt.

The prompt is shown first; what a run needs is imported while the user types.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from hame.base.errors import ChoiceError, ConfigError, HameError
from hame.cli.cells import wrap, wrap_indented
from hame.cli.drawing import Drawing
from hame.cli.exits import ExitCode, KilledError
from hame.cli.history import Prompt
from hame.cli.launch import Launch, paint_for
from hame.cli.paint import POINTER
from hame.cli.reveal import clean
from hame.cli.slash import COMMANDS, Slash, help_lines, read_slash
from hame.cli.terminal_size import terminal_size
from hame.config.accents import accent_code
from hame.version import __version__

if TYPE_CHECKING:
    from hame.cli.session import Build, Session
    from hame.cli.talk import Talk

_LISTED = 20
_PRELOADED = ("hame.cli.talk", "hame.app.build")


class Conversation:
    """One conversation in this process's terminal."""

    def __init__(self, launch: Launch, build: "Build | None" = None) -> None:
        """`build` makes the session; the real one unless a test has its own."""
        self._launch, self._build = launch, build
        self._paint = paint_for(launch, terminal=sys.stdout.isatty())
        self._drawing = Drawing(accent_code(launch.settings.accent) or "36")
        self._prompt = Prompt(launch.places.history, tuple(COMMANDS))
        self._opened: Talk | None = None
        self._held: int | None = None
        """Keeps other hames from the session that is shown, until it is opened."""
        self._leaving = False

    def hold(self, first: str) -> int:
        """Talk until the user leaves; the exit code. `first` is a prompt to start with, if any."""
        self._greet()
        if self._launch.resume is not None:
            self._hold_shown(self._launch.resume)
        # Whoever started hame in the background of a script has had it ignore Ctrl-C; here is a
        # person with a keyboard.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=self._preload, daemon=True).start()
        self._prompt.open()
        line = first or self._ask()
        try:
            while line is not None:
                self._take(line)
                line = None if self._leaving else self._following() or self._ask()
        except KilledError as killed:
            return killed.code
        finally:
            self._let_go()
            if self._opened is not None:
                self._opened.close()
        return ExitCode.DONE

    @property
    def _talk(self) -> "Talk":
        if self._opened is None:
            from hame.cli.talk import Talk

            escapes = self._paint.enabled
            self._opened = Talk(self._launch, self._open, self._drawing, escapes=escapes)
        return self._opened

    async def _open(self, launch: Launch) -> "Session":
        from hame.cli.session import build_session

        self._let_go()
        return await (self._build or build_session)(launch)

    def _preload(self) -> None:
        with suppress(Exception):  # What cannot be imported is said when it is needed.
            for name in _PRELOADED:
                import_module(name)
            self._drawing.load()

    # ------------------------------------------------------------ lines

    def _ask(self) -> str | None:
        """The next line that says something; None when the user leaves."""
        begun = self._opened.take_begun() if self._opened else ""
        mark = self._paint.accent(f"{POINTER} ") if self._paint.enabled else "> "
        interrupted = False
        while True:
            try:
                line = self._prompt.ask(mark, begun)
            except EOFError:
                sys.stdout.write("\n")
                return None
            except KeyboardInterrupt:
                sys.stdout.write("\n")
                if interrupted:
                    return None
                self._say("Ctrl-C again leaves, as does Ctrl-D.")
                interrupted, begun = True, ""
                continue
            if line.strip():
                return line
            interrupted, begun = False, ""

    def _following(self) -> str | None:
        """A line that was sent during the last run and had to wait for its end."""
        return self._opened.later.pop(0) if self._opened and self._opened.later else None

    def _take(self, line: str) -> None:
        try:
            slash = read_slash(line)
            if slash is None:
                self._talk.run(line.strip())
            else:
                self._do(slash)
        except ChoiceError as error:
            if self._chose(error):
                self._take(line)
        except HameError as error:
            self._complain(error)
        except KeyboardInterrupt:
            # Ctrl-C in a run is the run's; here it stopped a command, and the conversation goes on.
            sys.stdout.write("\n")
            self._say("stopped")

    def _chose(self, error: ChoiceError) -> bool:
        """Let the user choose a provider, once for all; False when they would not."""
        self._say(
            error.message, *self._numbered(error.candidates), "Which one? A number, or nothing."
        )
        try:
            answer = self._prompt.ask("> ", "").strip()
        except (EOFError, KeyboardInterrupt):
            answer = ""
        numbers = {str(number): name for number, name in enumerate(error.candidates, 1)}
        chosen = numbers.get(answer, answer if answer in error.candidates else "")
        if chosen:
            self._say(self._talk.do(Slash("model", chosen)))
        else:
            self._complain(error)
        return bool(chosen)

    @staticmethod
    def _numbered(names: Sequence[str]) -> list[str]:
        return [f"{number}  {name}" for number, name in enumerate(names, 1)]

    def _do(self, slash: Slash) -> None:
        match slash.name:
            case "help":
                self._say(*help_lines(terminal_size()[0] - 1))
            case "quit":
                self._leaving = True
            case "model" if self._is_search(slash.argument):
                self._say(*self._find_model(slash.argument))
            case "cost":
                self._say(*self._cost())
            case "sessions":
                self._say(*self._list_sessions())
            case "trust" | "fork" | "export":
                own = {"trust": self._trust, "fork": self._fork, "export": self._export}
                own[slash.name](slash.argument)
            case "model" | "mode" if not slash.argument:
                session = self._talk.session
                model = session.model or self._launch.settings.model or "chosen at the first prompt"
                said = {"model": f"model: {model}", "mode": f"mode: {session.mode}"}
                self._say(said[slash.name])
            case "rewind" if not slash.argument:
                self._say(*self._talk.list_steps())
            case "undo" | "rewind":
                self._take_back(slash)
            case "resume" if not slash.argument:
                self._resume(self._last_session())
            case "resume":
                self._resume(slash.argument)
            case _:
                self._say(*self._talk.do(slash).split("\n"))

    def _take_back(self, slash: Slash) -> None:
        """Show what would be done, ask, do it."""
        lines, plan = self._talk.plan_back(slash)
        self._say(*lines)
        if plan is None:
            return
        with suppress(EOFError, KeyboardInterrupt):
            if self._prompt.ask("take that back? [y/N] ").strip().lower() in {"y", "yes"}:
                self._say(*self._talk.take_back(plan))
                return
        self._say("nothing was changed")

    def _trust(self, argument: str) -> None:
        """Show what the folder brings, ask whether it is trusted, keep the answer."""
        from hame.cli.trusting import decide_trust

        launch = self._launch
        lines, grant = decide_trust(launch.project, launch.places, argument)
        self._say(*lines)
        if grant is None:
            return
        with suppress(EOFError, KeyboardInterrupt):
            if self._prompt.ask("trust this folder? [y/N] ").strip().lower() in {"y", "yes"}:
                self._say(grant())
                return
        self._say("it is not trusted")

    # ------------------------------------------------------------ sessions

    def _is_search(self, argument: str) -> bool:
        """Whether what follows /model is to be looked for: no `backend/model`, and no backend."""
        if not argument or "/" in argument:
            return False
        from hame.llm.catalog import ShippedCatalogue

        known = {*ShippedCatalogue().vendors(), *self._launch.settings.providers, "local"}
        return argument not in known

    def _find_model(self, words: str) -> list[str]:
        """Ask the one model that is meant, or list those that may be."""
        import asyncio

        from hame.app.offers import open_models
        from hame.app.shelf import Shelf, search
        from hame.cli.session import launchpad
        from hame.cli.shelves import choice_rows

        async def look() -> Shelf:
            async with open_models(launchpad(self._launch)) as models:
                return await search(models, words)

        shelf = asyncio.run(look())
        if len(shelf.choices) == 1:
            return [self._talk.do(Slash("model", shelf.choices[0].name))]
        if not shelf.choices:
            whose = " of those that could be asked" if shelf.failed else ""
            return [*shelf.failed, f"no model's name{whose} holds {words}"]
        rows = choice_rows(shelf.choices[:_LISTED])
        more = len(shelf.choices) - _LISTED
        return [*shelf.failed, *rows, *[f"and {more} more; more words find fewer"] * (more > 0)]

    def _cost(self) -> list[str]:
        from hame.cli.bills import session_rows

        session = self._opened.session.session if self._opened else ""
        return session_rows(self._launch.places, session)

    def _fork(self, place: str) -> None:
        from hame.cli.copies import fork_session, is_kept

        session = self._talk.session.session
        if not is_kept(self._launch.places, session):
            raise ConfigError(f"session {session} is in no file, so it cannot be copied")
        copy = fork_session(self._launch.places, session, place)
        self._say(f"a copy of {session}:", self._talk.do(Slash("resume", copy)))

    def _export(self, name: str) -> None:
        from pathlib import Path

        from hame.cli.copies import export_session, export_unkept, is_kept, save

        if not name:
            raise ConfigError("/export needs a file", hint="/export session.html")
        file = Path(self._launch.project, name)
        session = self._talk.session
        if is_kept(self._launch.places, session.session):
            pieces = export_session(self._launch.places, session.session, output=file)
        else:
            pieces = export_unkept(session.session, session.memory().records(), file)
        save(file, pieces)
        self._say(f"wrote {file}")

    def _list_sessions(self) -> list[str]:
        from hame.cli.listing import session_lines, summaries

        found = summaries(self._launch.places, self._launch.project)
        return session_lines(found[:_LISTED]) or ["there are no sessions of this folder yet"]

    def _resume(self, session: str) -> None:
        """Go on with another session, and show where it was left."""
        from hame.cli.listing import session_store

        name = session_store(self._launch.places).find(session)
        self._talk.do(Slash("resume", name))
        self._recap(name)

    def _hold_shown(self, session: str) -> None:
        """Show where a session was left, and let nobody else go on with it before it is opened.

        It is opened with the first prompt: that takes longer than one wants to wait for a first line.

        Raises:
            SessionError: if there is none, or another hame has it open.
        """
        from hame.cli.recap import find_session
        from hame.sessions.journal import hold_early

        self._held = hold_early(find_session(self._launch.places, session))
        self._recap(session)

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            os.close(held)

    def _recap(self, session: str) -> None:
        """Show where a session was left.

        Raises:
            SessionError: if there is none.
        """
        from hame.cli.recap import find_session, recap_lines

        self._say(*recap_lines(find_session(self._launch.places, session)), "")

    def _last_session(self) -> str:
        from hame.base.errors import SessionError
        from hame.cli.listing import summaries

        current = self._opened.session.session if self._opened else ""
        for summary in summaries(self._launch.places, self._launch.project):
            if summary.id != current:
                return summary.id
        raise SessionError("there is no other session of this folder", hint="/sessions lists them.")

    # ------------------------------------------------------------ what hame says

    def _greet(self) -> None:
        settings, paint = self._launch.settings, self._paint
        home = self._launch.places.home
        where = self._launch.project
        if where == home or where.startswith(f"{home}/"):
            where = "~" + where[len(home) :]
        sys.stdout.write(f"{paint.accent('hame')} {__version__} · {clean(where)}\n")
        parts = [settings.mode, settings.model or "", "/help lists commands", "Ctrl-D leaves"]
        self._say(" · ".join(part for part in parts if part))
        for notice in self._launch.notices:
            for part in wrap(f"! {clean(notice)}", terminal_size()[0] - 1):
                sys.stdout.write(self._paint.warn(part) + "\n")
        sys.stdout.write("\n")

    def _say(self, *lines: str) -> None:
        for line in lines:
            for part in wrap_indented(clean(line), terminal_size()[0] - 1):
                sys.stdout.write(self._paint.dim(part) + "\n")
        sys.stdout.flush()

    def _complain(self, error: HameError) -> None:
        sys.stdout.write(self._paint.bad(f"✗ {clean(error.message)}") + "\n")
        if error.hint:
            self._say(f"  {error.hint}")
