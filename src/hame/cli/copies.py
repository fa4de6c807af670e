"""Copies of sessions, for the command line and the conversation alike."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hame.base.entry import Record, UserSaid
from hame.base.errors import ConfigError
from hame.cli.listing import session_store
from hame.config.places import Places
from hame.sessions.branch import Branch, read_branch
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
    return export(branch, ExportFormat(form or _form_of(output)))


def is_kept(places: Places, session: str) -> bool:
    """Whether a session is in a file; one that nothing was said in is not, nor where none may be made."""
    return session_store(places).path(session).exists()


def export_unkept(session: str, records: Sequence[Record], output: Path) -> Iterator[bytes]:
    """A session that is in no file, in pieces, as the name of `output` says.

    Raises:
        ConfigError: if nothing was said in it.
    """
    if not any(isinstance(record.entry, UserSaid) for record in records):
        raise ConfigError("nothing was said in this session yet")
    return export(Branch(session, records), ExportFormat(_form_of(output)))


def _form_of(output: Path | None) -> str:
    ending = output.suffix.lstrip(".") if output is not None else ""
    return ending if ending in {"json", "html"} else "md"


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
