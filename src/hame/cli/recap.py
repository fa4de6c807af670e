"""Where a session was left: what the terminal shows when one is gone on with."""

from pathlib import Path

from hame.base.entry import ModelAnswered, RunFinished, UserSaid
from hame.base.errors import SessionError
from hame.cli.listing import session_store
from hame.cli.reveal import one_line
from hame.cli.words import ending
from hame.config.places import Places
from hame.sessions.digest import SessionFile, digest_file
from hame.sessions.ending import last_records

_RECORDS = 80
"""From the end of the session, among which its last prompt is looked for."""
_LINES, _WIDE = 8, 300
"""Of the last answer that are shown, and characters of each."""


def find_session(places: Places, session: str) -> Path:
    """The file of the session that is meant.

    Raises:
        SessionError: if there is none or more than one.
    """
    store = session_store(places)
    return store.path(store.find(session))


def recap_lines(path: Path) -> list[str]:
    """The session's name, its last prompt and the end of the last answer.

    Raises:
        SessionError: if it cannot be read.
    """
    try:
        found = path.stat()
        with path.open("rb") as file:
            records = last_records(file, found.st_size, _RECORDS)
    except OSError as error:
        raise SessionError(f"cannot read session {path.stem}: {error.strerror}") from error
    digest = digest_file(SessionFile(path, found.st_mtime, found.st_size))
    lines = [f"going on with {path.stem}  {one_line(digest.name or digest.words, 60)}".rstrip()]
    said = answered = ended = ""
    for record in records:
        match record.entry:
            case UserSaid(message=message, steering=False):
                said, answered, ended = message.words, "", ""
            case ModelAnswered(message=message) if message.text.strip():
                answered = message.text
            case RunFinished(result=result):
                ended = ending(result)[0]
            case _:
                pass
    if said:
        lines.append(f"> {one_line(said, _WIDE)}")
    shown = [line for line in answered.splitlines() if line.strip()]
    if len(shown) > _LINES:
        lines.append(f"  … {len(shown) - _LINES} lines before")
    lines += [f"  {one_line(line, _WIDE)}" for line in shown[-_LINES:]]
    return [*lines, ended] if ended else lines
