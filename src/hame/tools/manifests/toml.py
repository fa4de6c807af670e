"""pyproject.toml and Cargo.toml, changed through tomlkit, which keeps all that it does not change."""

import re
from collections.abc import MutableMapping
from typing import Any, TypeAlias, cast

from hame.base.errors import ToolError
from hame.tools.manifests.dependency import Dependency, normalised, python_dependency
from hame.tools.manifests.keys import Setting, split_key

_Table: TypeAlias = MutableMapping[str, Any]


def add_to_pyproject(text: str, dependency: Dependency) -> str:
    """Add a requirement, or change that of the same name.

    Raises:
        ToolError: when the file cannot be read.
    """
    document = _parsed(text)
    project, poetry = _get(document, "project"), _get(document, "tool", "poetry")
    if project is None and poetry is not None:
        where = ("group", "dev", "dependencies") if dependency.dev else ("dependencies",)
        _opened(poetry, *where)[dependency.name] = dependency.version.removeprefix("==") or "*"
        return _dumped(document)
    if dependency.dev:
        groups = _opened(document, "dependency-groups")
        _put_requirement(groups, "dev", dependency)
    else:
        _put_requirement(_opened(document, "project"), "dependencies", dependency)
    return _dumped(document)


def add_to_cargo(text: str, dependency: Dependency) -> str:
    """Add a crate, or change the version of one that is there.

    Raises:
        ToolError: when the file cannot be read, or no version is given.
    """
    version = dependency.need_version(f"{dependency.name}@1.0")
    document = _parsed(text)
    table = _opened(document, "dev-dependencies" if dependency.dev else "dependencies")
    known = table.get(dependency.name)
    if isinstance(known, MutableMapping):
        cast("_Table", known)["version"] = version
    else:
        table[dependency.name] = version
    return _dumped(document)


def set_value(text: str, key: str, setting: Setting | None) -> str:
    """Set a value under a key with dots; None takes it away.

    Raises:
        ToolError: when the file cannot be read, or a part of the key is no table.
    """
    document = _parsed(text)
    *outer, last = split_key(key)
    if setting is None:
        table = _get(document, *outer) if outer else document
        if table is None or last not in table:
            raise ToolError(f"there is no {key} to remove. Nothing was changed")
        del table[last]
        return _dumped(document)
    table = _opened(document, *outer) if outer else document
    table[last] = setting.fitting(last, table.get(last))
    return _dumped(document)


def _parsed(text: str) -> _Table:
    from tomlkit import parse
    from tomlkit.exceptions import ParseError

    try:
        return cast("_Table", parse(text))
    except ParseError as error:
        raise ToolError(f"the file is no valid TOML: {error}. Nothing was changed") from error


def _dumped(document: _Table) -> str:
    from tomlkit import dumps

    return dumps(document)


def _get(table: _Table, *keys: str) -> _Table | None:
    for key in keys:
        inner = table.get(key)
        if not isinstance(inner, MutableMapping):
            return None
        table = cast("_Table", inner)
    return table


def _opened(table: _Table, *keys: str) -> _Table:
    """The table under some keys; made where there is none.

    Raises:
        ToolError: when one of them is something else.
    """
    from tomlkit import table as new_table

    for index, key in enumerate(keys):
        if key not in table:
            table[key] = new_table(is_super_table=index < len(keys) - 1)
        inner = table[key]
        if not isinstance(inner, MutableMapping):
            raise ToolError(f"{key} is a value, not a table. Nothing was changed")
        table = cast("_Table", inner)
    return table


def _put_requirement(table: _Table, key: str, dependency: Dependency) -> None:
    """A requirement in an array of them, at the end or in the place of the one of that name.

    Raises:
        ToolError: when there is something else under the key.
    """
    from tomlkit import array

    text = f"{dependency.name}{dependency.extras}{dependency.version}"
    if key not in table:
        table[key] = array()
    known = table[key]
    if not isinstance(known, list):
        raise ToolError(f"{key} is not a list. Nothing was changed")
    requirements = cast("list[Any]", known)
    for index, requirement in enumerate(requirements):
        if isinstance(requirement, str) and _names(requirement, dependency.name):
            requirements[index] = text
            return
    shown = cast("str", cast("Any", requirements).as_string())
    indent = re.search(r"\n([ \t]+)[\"']", shown)
    if indent is not None:
        cast("Any", requirements).add_line(text, indent=indent[1])
    else:
        requirements.append(text)


def _names(requirement: str, name: str) -> bool:
    try:
        return normalised(python_dependency(requirement).name) == normalised(name)
    except ToolError:
        return False
