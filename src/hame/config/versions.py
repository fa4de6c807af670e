"""Versions of the user's files: the way from each to the next, so that an old file always loads.

A change of a key's name or meaning is one more step here and one more file in the tests' golden folder.
"""

from collections.abc import Callable, MutableMapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias, cast

from hame.base.errors import ConfigError

KEY = "version"
"""In a file, beside the settings; a file without it is of version 1."""

Table: TypeAlias = dict[str, object]
Step: TypeAlias = Callable[[Table], Table]
"""Makes the table of one version, without its `version`, into that of the next; changes nothing in it."""

STEPS: tuple[Step, ...] = ()
"""Of `config.toml`; the first leads from version 1 to version 2."""
MODEL_STEPS: tuple[Step, ...] = ()
"""The same of `models.toml`, which hame reads and does not write."""


def current(steps: Sequence[Step] = STEPS) -> int:
    """The version that this hame writes."""
    return len(steps) + 1


def migrate(table: Table, path: str, steps: Sequence[Step] = STEPS) -> Table:
    """The settings of a file as the current version has them, without its `version`.

    Raises:
        ConfigError: if the version is no version, or a newer one than this hame knows.
    """
    version = _version_of(table, path, current(steps))
    settings = {name: value for name, value in table.items() if name != KEY}
    for step in steps[version - 1 :]:
        settings = step(deepcopy(settings))
    return settings


def upgrade(
    document: MutableMapping[str, Any], old: Table, path: str, steps: Sequence[Step] = STEPS
) -> None:
    """Bring a document that holds `old` to the current version; what need not change is not touched.

    Raises:
        ConfigError: as `migrate` does.
    """
    settings = migrate(old, path, steps)
    if _version_of(old, path, current(steps)) < current(steps):
        _align(document, {KEY: current(steps), **settings})


def _version_of(table: Table, path: str, newest: int) -> int:
    version = table.get(KEY, 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ConfigError(
            f"{path}: version should be a whole number from 1",
            hint=f"Write version = {newest} in {path}.",
        )
    if version > newest:
        raise ConfigError(
            f"{path}: was written by a newer hame (version {version}; this one knows {newest})",
            hint=f"Update hame, or move {path} aside.",
        )
    return version


def _align(table: MutableMapping[str, Any], wanted: Table) -> None:
    for name in [name for name in table if name not in wanted]:
        del table[name]
    for name, value in wanted.items():
        there = table.get(name)
        if isinstance(value, dict) and isinstance(there, MutableMapping):
            _align(cast("MutableMapping[str, Any]", there), cast("Table", value))
        elif there != value:
            table[name] = value
