"""Recorded responses on disk: one file, or a folder with an index, and what each of them means.

A folder holds `index.json`, a list of cases, and the bodies. A case has an `id` and an `api`; `status`
(200), `headers`, `provider` and `body` (`<api>/<id>.<ext>`) may be missing. A case that cannot be read
is told as one; it does not stop the others.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from hame.base.errors import ConfigError
from hame.base.json import JsonObject, as_list, as_object, get_int, get_object, get_string, parse
from hame.base.model import ModelFacts
from hame.llm.codecs import WIRES, codec
from hame.llm.meaning import read_meaning

APIS: Mapping[str, str] = {"anthropic": "anthropic_messages", **{wire: wire for wire in WIRES}}
"""The wire behind each name of an api."""

_BODIES = ("sse", "ndjson", "json", "body")
"""How the files of bodies end."""


def read_recording(
    api: str,
    body: bytes,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    provider: str = "",
) -> JsonObject:
    """What a recorded response means; names of headers in any case.

    Raises:
        ConfigError: if there is no such api.
    """
    wire = APIS.get(api)
    if wire is None:
        raise ConfigError(f"there is no api called {api!r}", hint=f"Use one of: {', '.join(APIS)}.")
    facts = ModelFacts(backend=provider, model="", wire=wire, vendor=provider)
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    return read_meaning(codec(wire), facts, status=status, headers=lower, body=body)


def read_folder(folder: Path) -> Iterator[JsonObject]:
    """What each case of a folder means, in the order of its index, with its `id`.

    Raises:
        ConfigError: if there is no index that can be read.
    """
    for number, case in enumerate(_index(folder), start=1):
        name = _text(case, "id") or f"case-{number}"
        try:
            yield {"id": name, **_read_case(folder, name, case)}
        except Exception as error:  # noqa: BLE001 - one bad case must not hide the others
            said = error.message if isinstance(error, ConfigError) else _words(error)
            yield {"id": name, "error_reading": said}


def read_headers(text: str) -> tuple[dict[str, str], int | None]:
    """Headers as JSON or as lines (what `curl -D` writes), and the status, where a line tells it.

    Of several blocks of lines (redirects, 100 Continue) the last counts.
    """
    try:
        found = as_object(parse(text))
    except ValueError:
        found = None
    if found is not None:
        return _headers(found), None
    headers: dict[str, str] = {}
    status: int | None = None
    for line in text.splitlines():
        if line.upper().startswith("HTTP/"):
            code = line.split()[1:2]
            status = int(code[0]) if code and code[0].isdigit() else status
            headers = {}
            continue
        name, colon, value = line.partition(":")
        if colon and name.strip():
            headers[name.strip().lower()] = value.strip()
    return headers, status


def _index(folder: Path) -> list[JsonObject]:
    """The cases of a folder: a list, a list under `cases`, or an object by id.

    Raises:
        ConfigError: if there is none.
    """
    path = folder / "index.json"
    try:
        found = parse(path.read_bytes())
    except (OSError, ValueError) as error:
        hint = 'It is a list of {"id", "api", "status", "headers"}, beside <api>/<id>.<ext>.'
        raise ConfigError(f"cannot read {path}: {_words(error)}", hint=hint) from error
    cases = as_list(found)
    members = as_object(found)
    if members is not None:
        cases = as_list(members.get("cases"))
        if cases is None:
            cases = [{"id": name, **(as_object(case) or {})} for name, case in members.items()]
    return [as_object(case) or {} for case in cases or []]


def _read_case(folder: Path, name: str, case: JsonObject) -> JsonObject:
    """What one case means.

    Raises:
        ConfigError: if its api or its body is not there.
        OSError: if its body cannot be read.
    """
    api = _text(case, "api")
    path = _body(folder, api, name, case)
    status = get_int(case, "status")
    return read_recording(
        api or path.parent.name,
        path.read_bytes(),
        status=200 if status is None else status,
        headers=_headers(get_object(case, "headers")),
        provider=_text(case, "provider"),
    )


def _body(folder: Path, api: str, name: str, case: JsonObject) -> Path:
    """Where the body of a case is.

    Raises:
        ConfigError: if it is nowhere.
    """
    named = _text(case, "body")
    if named:
        return folder / named
    places = [api] if api else list(APIS)
    for place in places:
        for ending in _BODIES:
            path = folder / place / f"{name}.{ending}"
            if path.is_file():
                return path
    raise ConfigError(f"there is no body: {'|'.join(places)}/{name}.{'|'.join(_BODIES)}")


def _text(case: JsonObject, key: str) -> str:
    return get_string(case, key) or ""


def _headers(members: JsonObject) -> dict[str, str]:
    """Headers by name; several values of one are joined as HTTP joins them."""
    lists = {name: as_list(value) or [value] for name, value in members.items()}
    return {name: ", ".join(map(str, values)) for name, values in lists.items() if values != [None]}


def _words(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{type(error).__name__}: {error}"
