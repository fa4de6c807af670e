"""Values of any type of base, made from the types themselves."""

from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
"""What a server may send where anything else was expected: also numbers that no JSON of ours holds."""

_SIMPLE: dict[object, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(),
    float: numbers,
    bool: st.booleans(),
    bytes: st.binary(max_size=12),
    NoneType: st.none(),
    object: json_values,
}


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type: a Struct, a union of them, or what their fields are made of."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Union or isinstance(kind, UnionType):
        return st.one_of(*map(values_of, arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return _tuples(arguments)
    if origin is dict:
        return st.dictionaries(*map(values_of, arguments), max_size=3)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return st.deferred(lambda: _structs(kind))
    raise TypeError(f"no values are known of {kind!r}")


def _tuples(arguments: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if len(arguments) == 2 and arguments[1] is ...:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    return st.tuples(*map(values_of, arguments))


def _structs(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    fields = {name: values_of(hint) for name, hint in get_type_hints(kind).items()}
    return st.fixed_dictionaries(fields).map(lambda members: kind(**members))
