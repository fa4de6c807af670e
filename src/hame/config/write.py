"""Changing the user's settings file: comments and layout stay, and it is whole at every moment."""

import os
from collections.abc import Generator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError

from hame.base.errors import ConfigError
from hame.config.keys import find_key, split_key
from hame.config.places import Places
from hame.config.sources import parse_toml, read_settings_text, unknown_key
from hame.config.values import Place, read_text
from hame.config.versions import KEY, current, upgrade
from hame.config.whole import alone_beside, write_whole


def set_value(places: Places, dotted: str, text: str) -> object:
    """Set one key in the user's file; the value as it will be read.

    Raises:
        ConfigError: if there is no such key, the text is no value of it, or the file cannot be
            read or written; the file is then as it was.
    """
    key = find_key(dotted)
    if key is None:
        message, hint = unknown_key(dotted)
        raise ConfigError(message, hint=hint)
    try:
        value = read_text(key, text, Place(str(Path.cwd()), places.home))
    except ValueError as error:
        raise ConfigError(f"{dotted} {error}", hint=f"{dotted}: {key.meaning}") from error
    with _editing(places) as document:
        tables, leaf = _tables(document, dotted)
        tables[-1][leaf] = _plain(value)
    return value


def unset_value(places: Places, dotted: str) -> bool:
    """Take one key, or a whole `providers.NAME` table, out of the user's file; False if not there.

    A key that hame does not know can be taken out too.

    Raises:
        ConfigError: if the file cannot be read or written, or the key is its version.
    """
    if dotted == KEY:
        raise ConfigError(
            f"{KEY} says how the file is to be read, it is not a setting",
            hint=f"To start anew, move {places.config_file} aside.",
        )
    if read_settings_text(places.config_file) is None:
        return False
    with _editing(places) as document:
        table, leaf = _find(document, dotted)
        if table is None:
            return False
        del table[leaf]
        _drop_empty(document)
    return True


def _drop_empty(document: TOMLDocument) -> None:
    if "providers" not in document:
        return
    providers = cast("MutableMapping[str, object]", document["providers"])
    for name in [name for name, inner in providers.items() if inner == {}]:
        del providers[name]
    if not providers:
        del document["providers"]


@contextmanager
def _editing(places: Places) -> Generator[TOMLDocument]:
    """The user's file as a document; written when the block ends well, one writer at a time.

    Raises:
        ConfigError: if the file cannot be read or written.
    """
    path = os.path.realpath(places.config_file)  # A link to a file kept elsewhere stays a link.
    with alone_beside(path):
        document = _open(path)
        yield document
        text = tomlkit.dumps(document)
        parse_toml(text, path)
        write_whole(path, text.encode())


def _open(path: str) -> TOMLDocument:
    """The file as a document of the current version.

    Raises:
        ConfigError: if it cannot be read, or is of a newer version.
    """
    text = read_settings_text(path)
    table = parse_toml(text or "", path)
    try:
        document = tomlkit.parse(text or "")
    except TOMLKitError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    if text is None:
        document[KEY] = current()
    upgrade(document, table, path)
    return document


def _tables(document: TOMLDocument, dotted: str) -> tuple[list[MutableMapping[str, Any]], str]:
    """The tables down to the one that holds the key, made where they are missing."""
    *parts, leaf = split_key(dotted)
    tables: list[MutableMapping[str, Any]] = [document]
    for depth, part in enumerate(parts):
        if part not in tables[-1]:
            tables[-1][part] = tomlkit.table(is_super_table=depth == 0)
        tables.append(tables[-1][part])
    return tables, leaf


def _find(document: TOMLDocument, dotted: str) -> tuple[MutableMapping[str, Any] | None, str]:
    for parts in (split_key(dotted), tuple(dotted.split(".", 1))):
        table: object = document
        for part in parts[:-1]:
            table = cast("Any", table).get(part) if isinstance(table, MutableMapping) else None
        if isinstance(table, MutableMapping) and parts[-1] in table:
            return cast("MutableMapping[str, Any]", table), parts[-1]
    return None, ""


def _plain(value: object) -> object:
    """The value as tomlkit writes it."""
    if isinstance(value, tuple):
        return list(cast("tuple[str, ...]", value))
    return str(value) if isinstance(value, str) else value
