"""The line editor of the idle prompt: readline, with a history that keeps pasted lines together."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from hame.base.json import dump, parse
from hame.cli.stopping import read_line
from hame.config.whole import make_private_folder, write_whole

_KEPT = 1000
_OFFERED = 200
"""Names that Tab offers at most."""


class Prompt:
    """Asks for a line at the terminal."""

    def __init__(self, path: str, commands: Sequence[str]) -> None:
        """`path` is the file of the history; `commands` are completed with Tab."""
        self._path = path
        self._commands = tuple(commands)
        self._last = ""
        self._matches: list[str] = []

    def open(self) -> None:
        """Load the history and set the keys up."""
        import readline

        for entry in self._load():
            readline.add_history(entry)
        readline.set_auto_history(False)
        readline.set_history_length(_KEPT)
        readline.set_completer(self._complete)
        readline.set_completer_delims(" \n")
        readline.parse_and_bind("tab: complete")
        readline.parse_and_bind("set enable-bracketed-paste on")
        # Alt-Enter is quoted-insert and a line break: it stays in the line and does not send it.
        for keys in (r"\e\C-m", r"\e\C-j"):
            readline.parse_and_bind(rf'"{keys}": "\C-v\C-j"')

    def ask(self, mark: str, begun: str = "") -> str:
        r"""One line, or several: pasted, or each but the last ended with Alt-Enter or `\`.

        `begun` is there already.

        Raises:
            EOFError: on Ctrl-D.
            KeyboardInterrupt: on Ctrl-C.
        """
        import readline

        # Readline must be told which characters take no room.
        lines = [read_line(_hide_escapes(mark), begun)]
        while lines[-1].endswith("\\") and not lines[-1].endswith("\\\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(read_line("  "))
        line = "\n".join(lines)
        self._remember(line, readline.add_history)
        return line

    def _remember(self, line: str, add: Callable[[str], None]) -> None:
        if not line.strip() or line.startswith(" ") or line == self._last:
            return
        self._last = line
        add(line)
        try:
            make_private_folder(os.path.dirname(self._path))  # noqa: PTH120 - no pathlib at start
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(self._path, flags, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(dump(line.encode("utf-8", "replace").decode()) + "\n")
        except OSError as error:
            sys.stderr.write(f"hame: the history is not kept: {error.strerror}\n")
            self._path = os.devnull

    def _load(self) -> list[str]:
        try:
            with open(self._path, "rb") as file:  # noqa: PTH123 - no pathlib at start
                lines = file.read().splitlines()
        except OSError:
            return []
        entries: list[str] = []
        for line in lines[-_KEPT:]:
            try:
                entry = parse(line)
            except ValueError:
                continue
            if isinstance(entry, str):
                entries.append(entry)
        if len(lines) > 2 * _KEPT:
            with suppress(OSError):  # It is cut another time.
                self._rewrite(lines[-_KEPT:])
        return entries

    def _rewrite(self, lines: Sequence[bytes]) -> None:
        with suppress(OSError):  # A history that is too long is no reason not to start.
            write_whole(self._path, b"\n".join(lines) + b"\n")

    def _complete(self, text: str, state: int) -> str | None:
        import readline

        if state == 0:
            self._matches = self._match(text, at_start=readline.get_begidx() == 0)
        return self._matches[state] if state < len(self._matches) else None

    def _match(self, text: str, *, at_start: bool) -> list[str]:
        """What a word may become: a command at the start of the line, after an @ a path."""
        if text.startswith("@"):
            return [f"@{path}" for path in paths_that_begin(text[1:])]
        if not text.startswith("/") or not at_start:
            return []
        return [f"/{name} " for name in self._commands if f"/{name}".startswith(text)]


def paths_that_begin(text: str) -> list[str]:
    """Names in the folder that `text` goes into which begin with its last part, in order.

    Folders end with a slash, files with a space; hidden ones only where a dot was typed. A name with
    a space in it would end there, so it is left out.
    """
    folder, slash, begun = text.rpartition("/")
    try:
        with os.scandir(folder + slash or ".") as entries:
            found = [
                f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ' '}"
                for entry in entries
                if entry.name.startswith(begun)
                and (begun.startswith(".") or not entry.name.startswith("."))
                and entry.name.isprintable()
                and " " not in entry.name
            ]
    except OSError:
        return []
    return sorted(found)[:_OFFERED]


def _hide_escapes(mark: str) -> str:
    import re

    return re.sub(r"(\x1b\[[0-9;]*m)", "\x01\\1\x02", mark)
