"""The mask as a decoding grammar, in two dialects.

Both describe a finite set of lines. LLGuidance's Lark is written as one terminal: with several, a
greedy lexer can take a longer text for the first argument and leave nothing for the second.
https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md
https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

import json
from collections.abc import Sequence
from itertools import groupby

from hame.local.move import Move


def lark(moves: Sequence[Move]) -> str:
    """The moves in LLGuidance's Lark."""
    terminals: dict[tuple[str, ...], str] = {}
    lines = [_lark_line(move, terminals) for move in moves]
    rules = [
        f"{name}: " + " | ".join(_quote(choice) for choice in choices)
        for choices, name in terminals.items()
    ]
    return "\n".join(["%llguidance {}", "start: STEP", "STEP: " + "\n  | ".join(lines), *rules])


def _lark_line(move: Move, terminals: dict[tuple[str, ...], str]) -> str:
    if not move.choices:
        return _quote(move.prefix)
    name = terminals.setdefault(move.choices, f"CHOICE{len(terminals)}")
    return f"{_quote(move.prefix)} {name}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def gbnf(moves: Sequence[Move]) -> str:
    """The moves as a GBNF trie, for servers without LLGuidance.

    A flat alternation of a thousand lines costs a hundred milliseconds a token; a trie costs ten.
    """
    lines = sorted({line for move in moves for line in move.lines()})
    return f"root ::= {_trie(lines, 0)}"


def _trie(lines: Sequence[str], depth: int) -> str:
    """The rest of `lines`, sorted and alike up to `depth`, as an expression."""
    branches: list[str] = []
    for _, group in groupby(lines, lambda line: line[depth : depth + 1]):
        alike = list(group)
        stem = _common(alike[0], alike[-1], depth)
        literal = _quote(alike[0][depth:stem])
        rest = [line for line in alike if len(line) > stem]
        if not rest:
            branches.append(literal)
        elif len(rest) < len(alike):
            branches.append(f"{literal} ({_trie(rest, stem)})?")
        else:
            branches.append(f"{literal} ({_trie(rest, stem)})")
    return " | ".join(branches)


def _common(first: str, last: str, depth: int) -> int:
    """How far the first and the last of sorted lines are alike, and so all between them."""
    end = depth
    for one, other in zip(first[depth:], last[depth:], strict=False):
        if one != other:
            break
        end += 1
    return end
