"""Copies of sessions, for the command line and the conversation alike."""

from collections.abc import Iterator
from pathlib import Path

from hame.base.errors import ConfigError
from hame.cli.listing import session_store
from hame.config.places import Places
from hame.sessions.branch import read_branch
from hame.sessions.copying import fork
from hame.sessions.export import ExportFormat, export


def fork_session(places: Places, session: str, place: str = "") -> str:
    """Copy a session, up to a record or label, to one of its own; its id.

    Raises:
        SessionError: if there is no such session or place, or it cannot be written.
    """
    store = session_store(places)
    branch = read_branch(store.path(store.find(session)), place)
    return fork(branch, store.path(store.new_id())).stem


def export_session(
    places: Places, session: str, form: str = "", output: Path | None = None
) -> Iterator[bytes]:
    """A session as Markdown, JSON or HTML, in pieces: as `form` says, else as the name of `output`.

    Raises:
        SessionError: if there is no such session.
    """
    store = session_store(places)
    branch = read_branch(store.path(store.find(session)))
    ending = output.suffix.lstrip(".") if output is not None else ""
    return export(branch, ExportFormat(form or (ending if ending in {"json", "html"} else "md")))


def save(output: Path, pieces: Iterator[bytes]) -> None:
    """Write a file that did not exist.

    Raises:
        ConfigError: if it exists or cannot be written; no part of it is left then.
    """
    try:
        with output.open("xb") as file:
            try:
                file.writelines(pieces)
            except BaseException:
                output.unlink(missing_ok=True)
                raise
    except FileExistsError as error:
        raise ConfigError(f"{output} exists already", hint="Choose another name.") from error
    except OSError as error:
        raise ConfigError(f"cannot write {output}: {error.strerror}") from error
