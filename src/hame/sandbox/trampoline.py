"""What runs a program inside a sandbox and tells hame how it ended.

bubblewrap says of a program that a signal ended only what shells say (128 and the signal's number), and it
ends everything else in the sandbox at that moment. So a shell between them writes its own words about a
signal, and whether anything was still running, into a pipe. It survives the signals that hame and terminals
send to everything, for the program to be the one that acts on them.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from typing_extensions import override

from hame.base.ports import Enclosure
from hame.base.process import Exit

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash")
_SESSIONS = ("/usr/bin/setsid", "/bin/setsid", "/run/current-system/sw/bin/setsid")

_SCRIPT = """
trap : HUP INT QUIT TERM USR1 USR2
unset SHLVL OLDPWD
exec {errors}>&2 2>&{report} {report}>&-
"$@" 2>&{errors} {errors}>&-
code=$?
for each in /proc/[0-9]*; do
  each=${{each#/proc/}}
  case $each in 1|$$|$PPID) continue;; esac
  {{ IFS= read -r line < /proc/$each/stat; }} 2>/dev/null || continue
  case ${{line##*) }} in [ZX]*) ;; *) echo {left} >&2; break;; esac
done
exit $code
"""
_LEFT = "hame: left behind"
_LIMIT = 1 << 16


class Trampoline(Enclosure):
    """One program's, and the pipe through which it reports."""

    def __init__(self, opened: ExitStack) -> None:
        """`opened` is what bubblewrap needs until it was started.

        Raises:
            OSError: if there are no more descriptors.
        """
        self._reading, self._writing = os.pipe()
        opened.callback(os.close, self._writing)
        os.set_blocking(self._reading, False)
        self._opened = opened
        self._said = b""

    def wrap(self, argv: Sequence[str], passed: Sequence[int]) -> tuple[str, ...]:
        """The program in what reports; where there is no shell that can, the program itself.

        `passed` are the descriptors that the program gets.
        """
        shell = _first(_SHELLS)
        if shell is None:
            return tuple(argv)
        taken = {self._writing, *passed}
        errors = next(number for number in range(3, 1024) if number not in taken)
        script = _SCRIPT.format(errors=errors, report=self._writing, left=_LEFT)
        return (shell, "--noprofile", "--norc", "-c", script, "hame", *argv)

    @property
    def descriptor(self) -> int:
        """The end of the pipe that it writes to."""
        return self._writing

    @override
    def started(self) -> None:
        """Close what only the start has needed; may be called twice."""
        self._opened.close()

    @override
    def exit(self, ended: Exit) -> Exit:
        """How the program itself ended, given how bubblewrap did."""
        words = [line for line in self._words() if line != _LEFT]
        if not words or ended.code is None or ended.code <= 128:
            return ended
        return Exit(code=None, signal=ended.code - 128)

    @override
    def left_behind(self) -> bool:
        """Whether anything was still running when the program had ended."""
        return _LEFT in self._words()

    def close(self) -> None:
        """Keep what was said; may be called twice."""
        self.started()
        self._words()
        reading, self._reading = self._reading, -1
        if reading >= 0:
            os.close(reading)

    def _words(self) -> list[str]:
        if self._reading >= 0:
            with suppress(BlockingIOError):
                while len(self._said) < _LIMIT and (more := os.read(self._reading, _LIMIT)):
                    self._said += more
        return [line for line in self._said.decode(errors="replace").splitlines() if line.strip()]


def take_terminal(argv: Sequence[str]) -> tuple[str, ...]:
    """The program as the leader of a session whose terminal is its input, where that can be had."""
    session = _first(_SESSIONS)
    return tuple(argv) if session is None else (session, "-c", *argv)


def _first(paths: Sequence[str]) -> str | None:
    return next((path for path in paths if os.access(path, os.X_OK)), None)
