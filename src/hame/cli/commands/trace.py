"""`hame trace`: what happened in a session, line by line, also while it happens."""

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from hame.base.entry import Record
from hame.base.errors import SessionError
from hame.base.json import dump
from hame.cli.completing import completing, find_sessions
from hame.cli.launch import Launch, prepare
from hame.cli.listing import session_store
from hame.cli.reveal import clean, clean_json

_LOOK_S = 0.2


@click.command()
@click.argument("session", required=False, shell_complete=completing(find_sessions))
@click.option("--follow", "-f", is_flag=True, help="Go on with what comes.")
@click.option("--json", "as_json", is_flag=True, help="As lines of JSON.")
@click.pass_obj
def trace(options: dict[str, object], session: str | None, *, follow: bool, as_json: bool) -> None:
    """Show what happened in SESSION: run, time since its start, stage, detail.

    Without SESSION, in the last one of this folder.

    Raises:
        SessionError: if there is none.
    """
    from hame.sessions.trace import TraceLine, Tracer

    launch = prepare(options, interactive=False)
    path = _path(launch, session)
    tracer = Tracer()

    def show(line: TraceLine) -> None:
        if as_json:
            text = clean_json(dump(msgspec.to_builtins(line)))
        else:
            slow = "  << slow" if line.slow else ""
            parts = (line.detail, f"| {line.preview}" if line.preview else "")
            rest = " ".join(filter(None, parts))
            text = clean(
                f"{line.record:>5} r{line.run:<3} +{line.ms:>8} ms {line.stage:<8} {rest}{slow}"
            )
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    for line in tracer.lines(_following(path) if follow else _branch(path)):
        show(line)


def _path(launch: Launch, session: str | None) -> Path:
    store = session_store(launch.places)
    name = store.find(session) if session else store.latest(launch.project)
    if name is None:
        raise SessionError(f"there is no session of {launch.project} yet")
    return store.path(name)


def _branch(path: Path) -> Iterable[Record]:
    from hame.sessions.branch import read_branch

    return read_branch(path).records


def _following(path: Path) -> Iterator[Record]:
    """The records there are, then those that come, until Ctrl-C."""
    decoder = msgspec.json.Decoder(Record)
    with path.open("rb") as file:
        held = b""
        while True:
            held += file.readline()
            if not held.endswith(b"\n"):
                time.sleep(_LOOK_S)
                continue
            line, held = held, b""
            try:
                yield decoder.decode(line.strip(b"\0 \t\r\n"))
            except (msgspec.MsgspecError, UnicodeError):
                continue
