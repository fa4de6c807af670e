"""build.gradle and build.gradle.kts, changed in place, block by block.

https://docs.gradle.org/current/userguide/declaring_dependencies.html
"""

import re
from typing import NamedTuple

from hame.base.errors import ToolError
from hame.tools.manifests.dependency import Dependency
from hame.tools.manifests.keys import Setting

_SKIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)


class _Block(NamedTuple):
    """What stands between the braces of a block."""

    inner: int
    end: int
    indent: str


def add_dependency(text: str, dependency: Dependency, *, kotlin: bool) -> str:
    """Add a dependency, or change the version of one that is there.

    Raises:
        ToolError: when braces do not match.
    """
    known = re.compile(rf"([\"']{re.escape(dependency.name)})(?::[^\"':]+)?([\"'])")
    block = _block(text, ["dependencies"])
    version = f":{dependency.version}" if dependency.version else ""
    if block is not None and (found := known.search(text, block.inner, block.end)):
        if not version:
            raise ToolError(f"{dependency.name} is there already. Nothing was changed")
        return f"{text[: found.start()]}{found[1]}{version}{found[2]}{text[found.end() :]}"
    how = "testImplementation" if dependency.dev else "implementation"
    name = f"{dependency.name}{version}"
    line = f'{how}("{name}")' if kotlin else f"{how} '{name}'"
    return _append(text, ["dependencies"], line)


def set_value(text: str, key: str, setting: Setting | None, *, kotlin: bool) -> str:
    """Set a property, as `version` or `android.compileSdk`; None takes its line away.

    Raises:
        ToolError: when there is no such line to take away.
    """
    *blocks, name = key.split(".")
    outer = _block(text, blocks) if blocks else _Block(0, len(text), "")
    line = re.compile(
        rf"^([ \t]*{re.escape(name)}[ \t]*=?[ \t]*)(\"[^\"\n]*\"|'[^'\n]*'|[^\s=/]+)[^\n]*\n?",
        re.MULTILINE,
    )
    found = _at_depth(text, outer, line) if outer is not None else None
    if setting is None:
        if found is None:
            raise ToolError(f"there is no {key} to remove. Nothing was changed")
        return text[: found.start()] + text[found.end() :]
    quoted = found[2].strip()[:1] in {'"', "'"} if found else name.endswith("version")
    shown = _written(setting, kotlin=kotlin, quoted=quoted)
    if found is not None:
        return text[: found.start(2)] + shown + text[found.end(2) :]
    return _append(text, blocks, f"{name} = {shown}")


def _written(setting: Setting, *, kotlin: bool, quoted: bool) -> str:
    quote = '"' if kotlin else "'"
    plain = isinstance(setting.value, bool | int | float) and not quoted
    return setting.words if plain else f"{quote}{setting.words}{quote}"


def _blank(text: str) -> str:
    """The text with strings and comments made of spaces, so that their braces do not count."""
    return _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _block(text: str, names: list[str]) -> _Block | None:
    """The block of those names, one in the other, from the top of the script."""
    bare = _blank(text)
    block: _Block | None = _Block(0, len(text), "")
    for name in names:
        if block is None:
            return None
        opening = re.compile(
            rf"^([ \t]*){re.escape(name)}[ \t]*(?:\([^)\n]*\))?[ \t]*\{{", re.MULTILINE
        )
        found = _at_depth(bare, block, opening, blank=True)
        block = (
            None if found is None else _Block(found.end(), _closing(bare, found.end()), found[1])
        )
    return block


def _at_depth(
    text: str, block: _Block, pattern: re.Pattern[str], *, blank: bool = False
) -> re.Match[str] | None:
    """The first match that lies directly in a block."""
    bare = text if blank else _blank(text)
    for found in pattern.finditer(text, block.inner, block.end):
        before = bare[block.inner : found.start()]
        code = bare[found.start() : found.end()].strip()
        if before.count("{") == before.count("}") and code:
            return found
    return None


def _closing(bare: str, start: int) -> int:
    depth = 1
    for index in range(start, len(bare)):
        depth += {"{": 1, "}": -1}.get(bare[index], 0)
        if depth == 0:
            return index
    raise ToolError("a brace in the script is never closed. Nothing was changed")


def _append(text: str, blocks: list[str], line: str) -> str:
    """A line at the end of a block; blocks that are not there are made at the end of the script."""
    unit = _unit(text)
    if not blocks:
        body = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{body}{line}\n"
    block = _block(text, blocks)
    if block is None:
        *outer, name = blocks
        made = _append(
            text if outer else f"{text.rstrip()}\n\n".lstrip("\n"), outer, f"{name} {{\n}}"
        )
        return _append(made, blocks, line)
    indent = block.indent + unit
    body = text[block.inner : block.end].rstrip()
    lines = "\n".join(f"{indent}{each}" for each in line.split("\n"))
    return f"{text[: block.inner]}{body}\n{lines}\n{block.indent}{text[block.end :]}"


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "    "
