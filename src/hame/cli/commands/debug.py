"""`hame debug`: what a recorded response means, and what would be sent. Nothing is asked of anybody."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import click
import msgspec

from hame.base.errors import ConfigError
from hame.base.json import JsonObject, dump
from hame.cli.exits import ExitCode
from hame.cli.launch import prepare
from hame.cli.options import add_options, merge_options
from hame.llm.recording import APIS, read_folder, read_headers, read_recording


@click.group()
def debug() -> None:
    """Read recorded responses, and see what would be sent."""


@debug.command()
@click.option("--api", type=click.Choice(list(APIS)), help="Which api answered.")
@click.option("--status", type=int, help="HTTP status of the response; 200 unless said.")
@click.option(
    "--headers",
    "headers_file",
    metavar="FILE",
    help="Its headers: a JSON object, or lines as `curl -D` writes them.",
)
@click.option("--index", "folder", metavar="DIR", help="A folder of recordings with an index.json.")
@click.argument("file", default="-")
def decode(
    *,
    api: str | None,
    status: int | None,
    headers_file: str | None,
    folder: str | None,
    file: str,
) -> int:
    """Print what a recorded response means, as one JSON object.

    FILE holds the body; without one it is read from standard input. With --index, one line for each case of the folder,
    with its `id`; exit code 1 when a case could not be read.
    """
    if folder is not None:
        return _decode_folder(Path(folder))
    headers, said = read_headers(_read(headers_file).decode("utf-8", "replace"))
    status = said if status is None else status
    meaning = read_recording(
        _given(api), _read(file), status=200 if status is None else status, headers=headers
    )
    _print(meaning, pretty=sys.stdout.isatty())
    return ExitCode.DONE


@debug.command()
@click.argument("words", nargs=-1, metavar="[PROMPT]...")
@add_options
@click.pass_obj
def request(before: Mapping[str, object], words: tuple[str, ...], **options: object) -> None:
    """Print the request that PROMPT would begin with.

    Method, URL, headers and body; keys are masked, no model is asked. With --continue or --resume,
    the next request of that session. Without PROMPT the message holds only what hame adds to it.
    """
    from hame.app.build import Launchpad
    from hame.app.debugging import preview_request

    launch = prepare(merge_options(before, options), interactive=False)
    pad = Launchpad(
        settings=launch.settings,
        environment=launch.environment,
        places=launch.places,
        project=launch.project,
        interactive=launch.interactive,
        resume=launch.resume,
        trusted=launch.trusted,
    )
    said = " ".join([*words, *_prompt_option(options)])
    _print(anyio.run(preview_request, pad, said), pretty=True)


@debug.command("path")
@click.option(
    "--layout",
    "file",
    metavar="FILE",
    required=True,
    help="JSON lines: the layout of this machine, then one path a line.",
)
def judge_paths(file: str) -> None:
    """Say what the path guard makes of each path of FILE.

    Nothing is read or written there.

    Raises:
        ConfigError: if FILE cannot be used.
    """
    from hame.app.pathguard import Layout, judge_rows

    try:
        first, *rows = [
            msgspec.json.decode(line) for line in _read(file).split(b"\n") if line.strip()
        ]
        layout = msgspec.convert(first, Layout)
        for verdict in judge_rows(layout, rows):
            _print(msgspec.to_builtins(verdict), pretty=False)
    except (msgspec.DecodeError, ValueError) as error:
        hint = "The first line is the layout, the others have id, op and input."
        raise ConfigError(f"cannot use {file}: {error}", hint=hint) from error


def _prompt_option(options: Mapping[str, Any]) -> list[str]:
    return [options["prompt"]] if options["prompt"] else []


def _decode_folder(folder: Path) -> int:
    cases = unread = 0
    for meaning in read_folder(folder):
        cases += 1
        unread += "error_reading" in meaning
        sys.stdout.write(dump(meaning) + "\n")
    if unread:
        sys.stderr.write(f"hame: {unread} of {cases} cases could not be read\n")
    return ExitCode.FAILED if unread else ExitCode.DONE


def _given(api: str | None) -> str:
    """The api that was named.

    Raises:
        ConfigError: if none was.
    """
    if api is None:
        hint = "hame debug decode --api API FILE, or hame debug decode --index DIR."
        raise ConfigError("which api answered is not said", hint=hint)
    return api


def _read(name: str | None) -> bytes:
    """The bytes of a file, or of standard input; none without a name.

    Raises:
        ConfigError: if it cannot be read.
    """
    if name is None:
        return b""
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {name}: {error.strerror}", hint="Name a file.") from error


def _print(value: JsonObject, *, pretty: bool) -> None:
    text = dump(value)
    sys.stdout.write((msgspec.json.format(text, indent=2) if pretty else text) + "\n")
