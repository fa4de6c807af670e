"""Copies of sessions, for the command line and the conversation alike."""

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
    branch = read_branch(store.path(store.find(session)))
    return fork(branch.upto(place) if place else branch, store.path(store.new_id())).stem


def export_session(
    places: Places, session: str, form: str = "", output: Path | None = None
) -> bytes:
    """A session as Markdown, JSON or HTML: as `form` says, else as the name of `output` does.

    With `output` it is written there too; a file that exists stays as it is.

    Raises:
        ConfigError: if the file exists or cannot be written.
        SessionError: if there is no such session.
    """
    store = session_store(places)
    branch = read_branch(store.path(store.find(session)))
    ending = output.suffix.lstrip(".") if output is not None else ""
    data = export(branch, ExportFormat(form or (ending if ending in {"json", "html"} else "md")))
    if output is not None:
        _save(output, data)
    return data


def _save(output: Path, data: bytes) -> None:
    """Write a file that did not exist.

    Raises:
        ConfigError: if it exists or cannot be written.
    """
    try:
        with output.open("xb") as file:
            file.write(data)
    except FileExistsError as error:
        raise ConfigError(f"{output} exists already", hint="Choose another name.") from error
    except OSError as error:
        raise ConfigError(f"cannot write {output}: {error.strerror}") from error
