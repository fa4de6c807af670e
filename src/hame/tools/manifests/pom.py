"""pom.xml, changed in place: comments, order and indentation stay.

Schema: https://maven.apache.org/xsd/maven-4.0.0.xsd
"""

import re
from typing import NamedTuple

from hame.base.errors import ToolError
from hame.tools.manifests.dependency import Dependency
from hame.tools.manifests.keys import Setting

_TAG = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(/?)([\w.:-]+)[^<>]*?(/?)>", re.DOTALL
)


class _Element(NamedTuple):
    """An element: the path of names to it, and where its content lies."""

    path: tuple[str, ...]
    start: int
    inner: int
    inner_end: int
    end: int


def add_dependency(text: str, dependency: Dependency) -> str:
    """Add a dependency, or change the version of one that is there.

    Raises:
        ToolError: when the file is no project.
    """
    elements = _elements(text)
    for element in elements:
        if element.path == ("project", "dependencies", "dependency") and _is(
            text, element, elements, dependency
        ):
            return _with_version(text, element, elements, dependency)
    within = _find(elements, ("project", "dependencies"))
    if within is None:
        text = _append(text, _project(elements), "<dependencies>\n</dependencies>")
        within = _find(_elements(text), ("project", "dependencies"))
    if within is None:
        raise ToolError("the file has no <project>. Nothing was changed")
    parts = [("groupId", dependency.group), ("artifactId", dependency.artifact)]
    parts += [("version", dependency.version)] if dependency.version else []
    parts += [("scope", "test")] if dependency.dev else []
    unit = _unit(text)
    body = "\n".join(f"{unit}<{name}>{_escaped(value)}</{name}>" for name, value in parts)
    return _append(text, within, f"<dependency>\n{body}\n</dependency>")


def set_value(text: str, key: str, setting: Setting | None) -> str:
    """Set an element under the project, as `version`, `parent.version` or `properties.a.b`.

    Raises:
        ToolError: when there is no such element to take away.
    """
    first, _, rest = key.partition(".")
    names = ("properties", rest) if first == "properties" and rest else tuple(key.split("."))
    found = _find(_elements(text), ("project", *names))
    if setting is None:
        if found is None:
            raise ToolError(f"there is no {key} to remove. Nothing was changed")
        line = text.rfind("\n", 0, found.start)
        return text[: max(line, 0)] + text[found.end :]
    shown = _escaped(setting.words)
    if found is not None:
        return text[: found.inner] + shown + text[found.inner_end :]
    for depth in range(1, len(names)):
        if _find(_elements(text), ("project", *names[:depth])) is None:
            outer = _find(_elements(text), ("project", *names[: depth - 1]))
            name = names[depth - 1]
            text = _append(text, outer or _project(_elements(text)), f"<{name}>\n</{name}>")
    outer = _find(_elements(text), ("project", *names[:-1]))
    return _append(text, outer or _project(_elements(text)), f"<{names[-1]}>{shown}</{names[-1]}>")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _elements(text: str) -> list[_Element]:
    """All elements, each when it ends.

    Raises:
        ToolError: when tags do not match.
    """
    open_: list[tuple[str, int, int]] = []
    found: list[_Element] = []
    for tag in _TAG.finditer(text):
        if tag[2] is None:
            continue
        path = tuple(name for name, _, _ in open_)
        if tag[3]:
            found.append(_Element((*path, tag[2]), tag.start(), tag.end(), tag.end(), tag.end()))
        elif not tag[1]:
            open_.append((tag[2], tag.start(), tag.end()))
        elif open_ and open_[-1][0] == tag[2]:
            _, start, inner = open_.pop()
            found.append(_Element(path, start, inner, tag.start(), tag.end()))
        else:
            raise ToolError(f"the file is no well-formed XML at </{tag[2]}>. Nothing was changed")
    return found


def _find(elements: list[_Element], path: tuple[str, ...]) -> _Element | None:
    return next((element for element in elements if element.path == path), None)


def _project(elements: list[_Element]) -> _Element:
    project = _find(elements, ("project",))
    if project is None:
        raise ToolError("the file has no <project>. Nothing was changed")
    return project


def _inside(element: _Element, elements: list[_Element], name: str) -> _Element | None:
    return next(
        (
            inner
            for inner in elements
            if inner.path == (*element.path, name)
            and element.inner <= inner.start < element.inner_end
        ),
        None,
    )


def _is(text: str, element: _Element, elements: list[_Element], dependency: Dependency) -> bool:
    for name, wanted in (("groupId", dependency.group), ("artifactId", dependency.artifact)):
        inner = _inside(element, elements, name)
        if inner is None or text[inner.inner : inner.inner_end].strip() != wanted:
            return False
    return True


def _with_version(
    text: str, element: _Element, elements: list[_Element], dependency: Dependency
) -> str:
    if not dependency.version:
        raise ToolError(f"{dependency.name} is there already. Nothing was changed")
    known = _inside(element, elements, "version")
    if known is None:
        return _append(text, element, f"<version>{_escaped(dependency.version)}</version>")
    return text[: known.inner] + _escaped(dependency.version) + text[known.inner_end :]


def _append(text: str, outer: _Element, block: str) -> str:
    """A block as the last thing in an element, indented as it should be."""
    start = text.rfind("\n", 0, outer.start) + 1
    indent = text[start : outer.start] if not text[start : outer.start].strip() else ""
    unit = _unit(text)
    lines = "\n".join(f"{indent}{unit}{line}" for line in block.split("\n"))
    body = text[outer.inner : outer.inner_end].rstrip()
    return f"{text[: outer.inner]}{body}\n{lines}\n{indent}{text[outer.inner_end :]}"


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)<", text)
    return found[1] if found else "  "
