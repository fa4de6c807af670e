"""`hame sessions`: what was said before, how to find it, and how to go on with it."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from hame.base.errors import ConfigError
from hame.base.json import dump
from hame.cli.completing import completing, find_sessions
from hame.cli.launch import Launch, prepare
from hame.cli.listing import session_line, session_lines, session_store, summaries
from hame.cli.reveal import clean, clean_json, one_line

_SHOWN = 200
"""Records of a large session that are shown when it is not said how many."""


@click.group(invoke_without_command=True)
@click.option("--all", "everywhere", is_flag=True, help="Of all folders.")
@click.option("--limit", type=click.IntRange(1), default=50, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def sessions(ctx: click.Context, *, everywhere: bool, limit: int, as_json: bool) -> None:
    """List, search, copy, export and delete sessions."""
    launch = prepare(ctx.obj, interactive=False)
    ctx.obj = launch
    if ctx.invoked_subcommand is None:
        _show(launch, everywhere=everywhere, limit=limit, as_json=as_json)


@sessions.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of all folders.")
@click.option("--limit", type=click.IntRange(1), default=50, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_sessions(launch: Launch, *, everywhere: bool, limit: int, as_json: bool) -> None:
    """List the sessions of this folder, the newest first."""
    _show(launch, everywhere=everywhere, limit=limit, as_json=as_json)


@sessions.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--all", "everywhere", is_flag=True, help="In the sessions of all folders.")
@click.option("--limit", type=click.IntRange(1), default=20, help="At most so many sessions.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def search(
    launch: Launch, words: tuple[str, ...], *, everywhere: bool, limit: int, as_json: bool
) -> None:
    """Find the sessions in which all WORDS were said."""
    hits = session_store(launch.places).search(words, None if everywhere else launch.project, limit)
    if as_json:
        _write_json([msgspec.to_builtins(hit) for hit in hits])
        return
    for hit in hits:
        _write(session_line(hit.summary, with_folder=everywhere))
        for line in hit.lines:
            _write(f"    {one_line(line, 160)}")
    if not hits:
        more = "" if everywhere else "; --all searches the sessions of all folders"
        _say(f"nothing was found{more}")


@sessions.command()
@click.argument("session", shell_complete=completing(find_sessions))
@click.option("--last", type=click.IntRange(1), help="Only so many records from the end.")
@click.option("--all", "whole", is_flag=True, help="Everything, however large it is.")
@click.pass_obj
def show(launch: Launch, session: str, *, last: int | None, whole: bool) -> None:
    """Print what was said in SESSION (its id, or the beginning of it)."""
    from hame.sessions.branch import read_branch
    from hame.sessions.ending import LARGE, last_records
    from hame.sessions.export import parts_of

    store = session_store(launch.places)
    path = store.path(store.find(session))
    size = path.stat().st_size
    if last is not None or (size > LARGE and not whole):
        with path.open("rb") as file:
            records = last_records(file, size, last or _SHOWN)
        if last is None:
            _say(f"the last {len(records)} records of a large session; --all prints everything")
    else:
        branch = read_branch(path)
        records = branch.records
        for notice in branch.notices:
            _say(notice)
    for part in parts_of(records):
        match part.who:
            case "user":
                text = "\n".join(f"> {line}" for line in part.text.split("\n"))
            case "model":
                text = part.text.strip()
            case "summary":
                text = f"[summary of what came before]\n{part.text}"
            case "result":
                word = "failed" if part.error else "done"
                text = f"[{one_line(part.title, 120)}] {word}: {one_line(part.text, 160)}".rstrip(
                    ": "
                )
            case _:
                continue
        _write(f"{text}\n")


@sessions.command()
@click.argument("session", shell_complete=completing(find_sessions))
@click.argument("title", nargs=-1, required=True)
@click.pass_obj
def rename(launch: Launch, session: str, title: tuple[str, ...]) -> None:
    """Give SESSION the name TITLE."""
    name = " ".join(title)
    done = asyncio.run(session_store(launch.places).rename(session, name))
    _write(f"{done} is now called {one_line(name, 80)}")


@sessions.command()
@click.argument("session", shell_complete=completing(find_sessions))
@click.argument("name", nargs=-1)
@click.option("--at", "record", default="", help="At this record, as hame trace shows it.")
@click.pass_obj
def label(launch: Launch, session: str, name: tuple[str, ...], *, record: str) -> None:
    """Name a place in SESSION.

    Its end, unless said. Without NAME the labels are listed.
    """
    from hame.app.memory import set_label

    store = session_store(launch.places)
    if not name:
        for text, place in sorted(store.read(session).pages.labels().items()):
            _write(f"{place:>5}  {one_line(text, 80)}")
        return
    with store.resume(session) as journal:
        asyncio.run(set_label(journal, " ".join(name), record))
        place = record.removeprefix("#") or journal.ids[-2]
    _write(f"record {place} of {journal.session} is labelled {one_line(' '.join(name), 80)}")


@sessions.command()
@click.argument("names", nargs=-1, required=True, metavar="SESSION...")
@click.option("--yes", "-y", is_flag=True, help="Without asking.")
@click.pass_obj
def delete(launch: Launch, names: tuple[str, ...], *, yes: bool) -> None:
    """Delete sessions for good.

    Raises:
        ConfigError: without --yes, when nobody can be asked.
    """
    store = session_store(launch.places)
    meant = [store.find(name) for name in names]
    if not yes:
        if not sys.stdin.isatty():
            raise ConfigError("nobody is there to be asked", hint="Add --yes to delete.")
        click.confirm(f"Delete {', '.join(meant)} for good?", abort=True)
    for each in meant:
        _write(f"deleted {store.delete(each)}")


@sessions.command()
@click.argument("session", shell_complete=completing(find_sessions))
@click.option("--at", "place", help="Only up to this record or label.")
@click.pass_obj
def fork(launch: Launch, session: str, place: str | None) -> None:
    """Copy SESSION to one of its own, to go another way from there."""
    from hame.cli.copies import fork_session

    copy = fork_session(launch.places, session, place or "")
    _write(f"{copy}\nhame --resume {copy} goes on with it.")


@sessions.command("export")
@click.argument("session", shell_complete=completing(find_sessions))
@click.option(
    "--format", "form", type=click.Choice(["md", "json", "html"]), help="md unless OUTPUT says it."
)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="A file; else printed.")
@click.pass_obj
def export_session(launch: Launch, session: str, *, form: str | None, output: Path | None) -> None:
    """Write SESSION as Markdown, JSON or one HTML file."""
    from hame.cli.copies import export_session as read
    from hame.cli.copies import save

    pieces = read(launch.places, session, form or "", output)
    if output is None:
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.flush()
    else:
        save(output, pieces)
        _write(f"wrote {output}")


@sessions.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--here", is_flag=True, help="As sessions of this folder.")
@click.pass_obj
def import_sessions(launch: Launch, files: Sequence[Path], *, here: bool) -> None:
    """Take in sessions exported as JSON, or journals from elsewhere."""
    from hame.sessions.copying import import_session, read_import

    store = session_store(launch.places)
    for file in files:
        records = read_import(file)
        path = import_session(records, store.path(store.new_id()), launch.project if here else "")
        _write(f"{path.stem}  from {file}")


def _show(launch: Launch, *, everywhere: bool, limit: int, as_json: bool) -> None:
    found = summaries(launch.places, None if everywhere else launch.project, limit)
    if as_json:
        _write_json([msgspec.to_builtins(summary) for summary in found])
        return
    for line in session_lines(found, with_folder=everywhere):
        _write(line)
    if found:
        _write("\nhame --resume ID goes on with one, hame --continue with the first.")
    else:
        where = "" if everywhere else f" of {launch.project}"
        _say(f"there are no sessions{where} yet")


def _write(text: str) -> None:
    sys.stdout.write(f"{clean(text)}\n")


def _write_json(value: object) -> None:
    sys.stdout.write(f"{clean_json(dump(value))}\n")


def _say(text: str) -> None:
    sys.stderr.write(f"hame: {clean(text)}\n")
