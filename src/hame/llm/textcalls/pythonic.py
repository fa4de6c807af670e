"""Calls as Python writes them, keyword arguments only: a list of them, or one a line."""

import ast

from hame.llm.textcalls.shapes import Spoken
from hame.llm.textcalls.values import literal

_METHODS = frozenset({"call", "invoke", "run"})
"""What some write behind a tool's name: `read_file.call(path=...)`."""


def read_python(text: str) -> tuple[Spoken, ...] | None:
    """The calls that a text consists of; None where it is anything else as well."""
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    calls: list[Spoken] = []
    for statement in tree.body:
        if not isinstance(statement, ast.Expr):
            return None
        value = statement.value
        nodes = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        for node in nodes:
            call = _call(node)
            if call is None:
                return None
            calls.append(call)
    return tuple(calls) or None


def _call(node: ast.expr) -> Spoken | None:
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "print" and len(node.args) == 1:
        return _call(node.args[0])
    if node.args or any(word.arg is None for word in node.keywords):
        return None
    match node.func:
        case ast.Attribute(value=ast.Name(id=name), attr=method) if method in _METHODS:
            pass
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            pass
        case _:
            return None
    try:
        return Spoken(name, {str(word.arg): literal(word.value) for word in node.keywords})
    except (ValueError, RecursionError):
        return None
