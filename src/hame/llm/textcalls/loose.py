"""Dialects without marks of their own: fenced and bare JSON, Python calls, `Action:` lines.

Prose can look like them, so they count only at the very end of an answer, only for tools that are on
offer, as Python only with arguments that fit, and not where the words before call it an example.
"""

import ast
import re
from collections.abc import Iterable

import msgspec

from hame.base.errors import ArgumentError
from hame.base.schema import check_arguments
from hame.llm.textcalls.shapes import Spoken, calls_in, plain_name
from hame.llm.textcalls.tagged import OPEN, Tools, read_section
from hame.llm.textcalls.values import literal, read_object, read_value

FENCES = frozenset({"", "json", "tool_call", "tool_calls", "tool_code", "python", "tool", "xml"})
"""What a fence around a call may say it holds."""
_FENCE = re.compile(
    r"^[ \t]*```([\w-]*)[ \t]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_BARE = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_BEGUN = re.compile(
    r"\{\s*[\"'](?:name|tool|tool_name|function|action)[\"']\s*:\s*[\"']([\w.:-]+)[\"']"
)
_ACTION = re.compile(r"^Action:[ \t]*([\w.-]+)[ \t]*\n+Action Input:[ \t]*", re.MULTILINE)
_OBSERVATION = re.compile(r"\n\s*Observation:")
_PYTHON = re.compile(
    r"^[ \t]*(?:\[|print\()?(?:default_api\.|functions\.|tools\.)?([A-Za-z_]\w*)\(", re.MULTILINE
)
_CUT = re.compile(r"\s*\w+\s*=\s*(?:\"[^\"\n]*|'[^'\n]*|\w*)\s*")
"""The rest of a Python call that ends within its first argument."""
_EXAMPLE = re.compile(
    r"example|e\.g\.|for instance|would look like|looks like|such as|something like|would be called"
    r"|you (?:can|could|would|might) (?:call|use)|syntax|format|template|documentation",
    re.IGNORECASE,
)
_BEFORE = 240
"""Letters before a call that are looked at for a word that makes it an example."""


class Tail(msgspec.Struct, frozen=True):
    """The end of an answer that is a call, or began to be one."""

    start: int
    calls: tuple[Spoken, ...] = ()
    """Empty: it was cut, or cannot be read."""


def read_tail(text: str, tools: Tools) -> Tail | None:
    """The calls that an answer ends with; None when it ends in words."""
    for read in (_fenced, _action, _bare, _python):
        tail = read(text, tools)
        if tail is not None and not _EXAMPLE.search(
            text[max(0, tail.start - _BEFORE) : tail.start]
        ):
            return tail
    return None


def _fenced(text: str, tools: Tools) -> Tail | None:
    last = next(reversed(list(_FENCE.finditer(text))), None)
    if last is None or text[last.end() :].strip() or last[1] not in FENCES:
        return None
    body = last[2].strip()
    calls = _tagged(body, tools) or _calls_of(body, tools) or _python_calls(body, tools)
    if calls is not None:
        return Tail(last.start(), calls)
    return Tail(last.start()) if _was_begun(body, tools) else None


def _tagged(text: str, tools: Tools) -> tuple[Spoken, ...] | None:
    """A call in tags that fills the fence."""
    mark = OPEN.match(text)
    section = read_section(text, mark, tools) if mark is not None else None
    if section is None or section.broken or text[section.end :].strip():
        return None
    return _offered(section.calls, tools)


def _bare(text: str, tools: Tools) -> Tail | None:
    for line in _BARE.finditer(text):
        found = read_value(text, line.end())
        if found is not None and not text[found[1] :].strip("` \t\r\n"):
            calls = _calls_of(text[line.end() : found[1]], tools)
            if calls is not None:
                return Tail(line.start(), calls)
        if found is None and _was_begun(text[line.end() :], tools):
            return Tail(line.start())
    return None


def _calls_of(text: str, tools: Tools) -> tuple[Spoken, ...] | None:
    found = read_value(text, 0)
    if found is None or text[found[1] :].strip():
        return None
    return _offered(calls_in(found[0]), tools)


def _offered(calls: Iterable[Spoken] | None, tools: Tools) -> tuple[Spoken, ...] | None:
    """The calls, if all are of tools on offer; what does not fit them is for the model to hear."""
    found = tuple(calls or ())
    return found if found and all(call.name in tools for call in found) else None


def _fits(call: Spoken, tools: Tools) -> bool:
    spec = tools.get(call.name)
    if spec is None or call.arguments is None:
        return False
    try:
        check_arguments(call.arguments, spec.schema())
    except ArgumentError:
        return False
    return True


def _was_begun(text: str, tools: Tools) -> bool:
    """Whether a text begins like a call of a tool on offer, and does not come to its end."""
    if read_value(text, 0) is not None:
        return False
    begun = _BEGUN.match(text.lstrip("[ \n\t"))
    return begun is not None and plain_name(begun[1]) in tools


def _action(text: str, tools: Tools) -> Tail | None:
    """`Action:` and `Action Input:`; an observation that the model made up itself is cut off."""
    begun = next(reversed(list(_ACTION.finditer(text))), None)
    if begun is None or begun[1] not in tools:
        return None
    made_up = _OBSERVATION.search(text, begun.end())
    given = text[begun.end() : made_up.start() if made_up else len(text)].strip().strip("`").strip()
    arguments = read_object(given)
    if not given and _fits(Spoken(begun[1], {}), tools):
        arguments = {}
    call = Spoken(begun[1], arguments, "" if arguments is not None else given)
    return Tail(begun.start(), (call,))


def _python(text: str, tools: Tools) -> Tail | None:
    for line in _PYTHON.finditer(text):
        if line[1] in tools or line[0].strip().startswith(("[", "print(")):
            calls = _python_calls(text[line.start() :].strip(), tools)
            if calls is not None:
                return Tail(line.start(), calls)
        if line[1] in tools and _CUT.fullmatch(text, line.end()):
            return Tail(line.start())
    return None


def _python_calls(text: str, tools: Tools) -> tuple[Spoken, ...] | None:
    """Calls as Python writes them, keyword arguments only: a list of them, or one a line."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    calls: list[Spoken] = []
    for statement in tree.body:
        if not isinstance(statement, ast.Expr):
            return None
        value = statement.value
        nodes = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        for node in nodes:
            call = _python_call(node)
            if call is None:
                return None
            calls.append(call)
    return tuple(calls) if calls and all(_fits(call, tools) for call in calls) else None


def _python_call(node: ast.expr) -> Spoken | None:
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "print" and len(node.args) == 1:
        return _python_call(node.args[0])
    if node.args or any(word.arg is None for word in node.keywords):
        return None
    match node.func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            pass
        case _:
            return None
    try:
        return Spoken(name, {str(word.arg): literal(word.value) for word in node.keywords})
    except (ValueError, RecursionError):
        return None
