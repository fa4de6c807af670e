"""The mask as a grammar in the dialect that the built-in model's engine is fastest with.

LLGuidance's Lark is written as one terminal: with several, a greedy lexer can take a longer text for
the first argument and leave nothing for the second. Other dialects are in `hame.base.lines`.
https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md
"""

import json
from collections.abc import Sequence

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
