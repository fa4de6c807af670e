"""Drawing Markdown, once what it takes has been loaded in the background."""

import threading
from collections.abc import Callable

from hame.cli.cells import wrap

_PATIENCE_S = 1.0
"""Longest wait for the import when a block that stays is to be drawn."""


class Drawing:
    """Draws blocks with rich; as they were written while rich is still being imported."""

    def __init__(self, accent: str) -> None:
        """`accent` are the SGR parameters of hame's colour; nothing is imported yet."""
        self._accent = accent
        self._ready = threading.Event()
        self._draw: Callable[[str, int, str], list[str]] | None = None
        self._loading = False

    def load(self) -> None:
        """Begin to import; to be called when the model has been asked and nothing else is to do."""
        if not self._loading:
            self._loading = True
            threading.Thread(target=self._load, daemon=True).start()

    def draw(self, block: str, cells: int, *, wait: bool = False) -> list[str]:
        """The lines of a block, each at most `cells` wide."""
        if wait and self._loading:
            self._ready.wait(_PATIENCE_S)
        if self._draw is None:
            return wrap(block, cells)
        return self._draw(block, cells, self._accent)

    def _load(self) -> None:
        from hame.cli.drawn import draw_block

        # The first use costs as much again: the parser and the highlighter set themselves up.
        draw_block("**a** `b`", 20, self._accent)
        self._draw = draw_block
        self._ready.set()
