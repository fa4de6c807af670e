"""A choice of lines: what an answer is held to where only a few answers make sense.

Servers can be told of such a choice in different ways (`hame.base.model.Constraint`); here is how it is
written for each.

GBNF: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

import msgspec

from hame.base.json import JsonObject, dump, get_string, parse_object

MOST_LINES = 4_000
"""Where a server wants every line by itself."""
_STEP = "step"
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")


class Lines(msgspec.Struct, frozen=True):
    """Lines that begin alike and differ in how they end."""

    start: str
    ends: tuple[str, ...] = ("",)


def each(lines: Iterable[Lines]) -> Iterator[str]:
    """Every line by itself."""
    for some in lines:
        for end in some.ends:
            yield some.start + end


def listed(lines: Iterable[Lines]) -> list[str]:
    """Every line by itself, as far as a server can take them."""
    return list(dict.fromkeys(islice(each(lines), MOST_LINES)))


# ---------------------------------------------------------------- GBNF


def gbnf(lines: Sequence[Lines]) -> str:
    """The lines as a GBNF trie; equal endings share a rule.

    A flat alternation of a thousand lines costs a hundred milliseconds a token; a trie costs ten.
    """
    rules: dict[tuple[str, ...], str] = {}
    starts = [(some.start, _rule(some.ends, rules)) for some in lines]
    ends = [f"{name} ::= {_trie([(end, '') for end in ends])}" for ends, name in rules.items()]
    return "\n".join([f"root ::= {_trie(starts)}", *ends])


def _rule(ends: tuple[str, ...], rules: dict[tuple[str, ...], str]) -> str:
    """Name of the rule for these endings; empty where nothing follows."""
    return "" if ends == ("",) else rules.setdefault(ends, f"e{len(rules)}")


def _trie(texts: Iterable[tuple[str, str]]) -> str:
    """Texts, each with the rule for what follows it, as an expression."""
    return _rest(sorted(set(texts)), 0)


def _rest(texts: Sequence[tuple[str, str]], depth: int) -> str:
    """What comes after the first `depth` characters, in which all texts are alike."""
    options = [rule or '""' for text, rule in texts if len(text) == depth]
    longer = [each for each in texts if len(each[0]) > depth]
    for _, group in groupby(longer, lambda item: item[0][depth]):
        alike = list(group)
        stem = _common(alike[0][0], alike[-1][0], depth)
        literal = dump(alike[0][0][depth:stem])
        more = [item for item in alike if item[1] or len(item[0]) > stem]
        ends = "?" * (len(more) < len(alike))
        options.append(f"{literal} ({_rest(more, stem)}){ends}" if more else literal)
    return " | ".join(options)


def _common(first: str, last: str, depth: int) -> int:
    """How far the first and the last of sorted texts are alike, and so all between them."""
    end = depth
    for one, other in zip(first[depth:], last[depth:], strict=False):
        if one != other:
            break
        end += 1
    return end


# ---------------------------------------------------------------- other forms


def regex(lines: Iterable[Lines]) -> str:
    """The lines as a regular expression, in what all dialects have in common."""
    starts: dict[tuple[str, ...], list[str]] = {}
    for some in lines:
        starts.setdefault(some.ends, []).append(some.start)
    return _any(
        _one_of(begun) + (_one_of(ends) if ends != ("",) else "") for ends, begun in starts.items()
    )


def _one_of(texts: Iterable[str]) -> str:
    return _any(_SPECIAL.sub(r"\\\g<0>", text) for text in texts)


def _any(expressions: Iterable[str]) -> str:
    return f"({'|'.join(dict.fromkeys(expressions))})"


def lines_schema(lines: Iterable[Lines]) -> JsonObject:
    """The lines as a JSON Schema; `read_step` reads what is answered to it."""
    return {
        "type": "object",
        "properties": {_STEP: {"type": "string", "enum": listed(lines)}},
        "required": [_STEP],
        "additionalProperties": False,
    }


def read_step(answer: str) -> str | None:
    """The line in an answer that was held to `lines_schema`; None where it holds none."""
    return get_string(parse_object(answer), _STEP)
