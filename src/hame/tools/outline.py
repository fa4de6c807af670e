"""The symbols of a file as a short table of contents."""

from collections.abc import Sequence

from hame.base.edit import Symbol

_ENTRIES = 120
_LENGTH = 100


def outline_text(symbols: Sequence[Symbol]) -> str:
    """One line for each symbol: its line, and its signature indented by depth.

    When there are too many, the deepest are left out first, and that is said.
    """
    depth = max((symbol.depth for symbol in symbols), default=0)
    shown = list(symbols)
    while len(shown) > _ENTRIES and depth > 0:
        depth -= 1
        shown = [symbol for symbol in shown if symbol.depth <= depth]
    lines = [
        f"{symbol.line}\t{'  ' * symbol.depth}{symbol.signature[:_LENGTH]}"
        for symbol in shown[:_ENTRIES]
    ]
    missing = len(symbols) - len(lines)
    return "\n".join([*lines, f"[{missing} more]"] if missing else lines)
