"""The process around the command line: streams, errors and exit codes."""

import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hame.cli.exits import ExitCode, code_of
from hame.cli.root import PromptCommand, ReaderGoneError, root

if TYPE_CHECKING:
    from hame.base.errors import HameError


def run(arguments: Sequence[str]) -> int:
    """Run a command line to its exit code; errors are said on stderr."""
    _open_streams()
    try:
        code = root.main(list(arguments), prog_name="hame", standalone_mode=False)
        sys.stdout.flush()
    except (BrokenPipeError, ReaderGoneError):
        _close_stdout()
        return ExitCode.BROKEN_PIPE
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.STOPPED
    except click.ClickException as error:
        return _usage_error(error, arguments)
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said
        full = _no_room(error) if isinstance(error, OSError) else None
        return _say(full or error, arguments)
    return code if isinstance(code, int) else ExitCode.DONE


def _open_streams() -> None:
    """Make sure that there are streams, and that no text is an error to print, whatever the locale."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # Started with it closed: the next file that is opened would take its place.
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, "w" if number else "r"))  # noqa: PTH123, SIM115 - no pathlib at start
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _no_room(error: OSError) -> "HameError | None":
    """A full disk in words, which is no bug of hame's; None for any other error."""
    if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return None
    from hame.base.errors import HameError

    if error.filename is None:
        # What was open already has no name: it is standard output, and a result has no room there.
        _close_stdout()
    what = str(error.filename or "the output")
    return HameError(
        f"cannot write {what}: {error.strerror}", hint="Make room there, and try again."
    )


def _close_stdout() -> None:
    """Nobody reads any more; the flush at exit must not complain about it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _usage_error(error: click.ClickException, arguments: Sequence[str]) -> int:
    from hame.base.errors import ConfigError

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        sys.stderr.write(f"{error.format_message()}\n")
        return ExitCode.USAGE
    # click lists the choices of an argument in lines of their own.
    message = " ".join(error.format_message().split())
    failed = ConfigError(message[:1].lower() + message[1:], hint=f"See {_named(error)} --help.")
    _report(failed, ExitCode.USAGE, arguments)
    return ExitCode.USAGE


def _named(error: click.ClickException) -> str:
    """The command that was used wrongly, as it is typed."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None or isinstance(context.command, PromptCommand):
        return "hame"
    return context.command_path


def _say(error: Exception, arguments: Sequence[str]) -> int:
    from hame.app.lastwords import without_secrets
    from hame.base.errors import HameError
    from hame.config.environment import read_environment

    if isinstance(error, HameError):
        code = code_of(error)
        _report(error, code, arguments)
        return code
    words = without_secrets(str(error), read_environment())
    message = f"hame itself failed: {type(error).__name__}: {words}"
    _report(
        HameError(message, hint=f"This is a bug in hame. {_keep_trace(error)}"),
        ExitCode.FAILED,
        arguments,
    )
    return ExitCode.FAILED


def _report(error: "HameError", code: int, arguments: Sequence[str]) -> None:
    """Say what went wrong where people look, and in the result where a program reads one."""
    from hame.cli.reveal import clean

    said = f"{clean(error.message)}\n{clean(error.hint)}".strip().split("\n")
    if sys.stderr.isatty():
        from hame.cli.cells import wrap
        from hame.cli.terminal_size import terminal_size

        said = [part for line in said for part in wrap(line, terminal_size()[0] - 7)]
    sys.stderr.write("hame: " + "\n      ".join(said) + "\n")
    wanted = _wanted_format(arguments)
    if wanted in {"json", "stream-json"}:
        from hame.cli.stream_json import JsonView

        JsonView(sys.stdout, events=wanted == "stream-json").fail(error, code)


def _wanted_format(arguments: Sequence[str]) -> str:
    """The output format as far as a command line that could not be used tells it."""
    from hame.config.environment import read_environment

    wanted = read_environment().get("HAME_OUTPUT_FORMAT", "")
    for word, after in zip(arguments, [*arguments[1:], ""], strict=False):
        if word == "--output-format":
            wanted = after
        elif word.startswith("--output-format="):
            wanted = word.partition("=")[2]
    return wanted


def _keep_trace(error: Exception) -> str:
    """Write the traceback without secrets to the log folder, and say where."""
    import time
    import traceback
    from pathlib import Path

    from hame.app.lastwords import without_secrets
    from hame.config.environment import read_environment
    from hame.config.places import find_places
    from hame.config.whole import write_whole

    environment = read_environment()
    folder = Path(find_places(environment).log)
    path = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        trace = without_secrets("".join(traceback.format_exception(error)), environment)
        write_whole(str(path), trace.encode("utf-8", "replace"))
    except OSError as problem:
        return f"The traceback could not be kept: {problem}"
    return f"The traceback is in {path}"
