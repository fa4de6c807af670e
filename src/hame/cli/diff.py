"""A unified diff with line numbers and colours."""

import re
from collections.abc import Callable

from hame.base.outcome import DiffView
from hame.cli.cells import wrap
from hame.cli.paint import Paint

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def draw_diff(view: DiffView, paint: Paint, cells: int, show: Callable[[str], str]) -> list[str]:
    """The lines of a diff: number, sign, text. `show` makes the text of a line safe to see."""
    drawn: list[str] = []
    old = new = 0
    digits = len(
        str(max((int(n) for pair in _HUNK.findall(view.diff) for n in pair), default=0) + 99)
    )
    for line in view.diff.removesuffix("\n").split("\n"):
        if hunk := _HUNK.match(line):
            if drawn:
                drawn.append(paint.dim(" " * digits + " ⋮"))
            old, new = int(hunk[1]), int(hunk[2])
            continue
        if not (old or new):
            continue
        # An editor that strips trailing blanks makes an empty line of an empty context line.
        sign, text = line[:1] or " ", show(line[1:].rstrip("\r"))
        number = {"+": new, "-": old}.get(sign, new)
        old += sign in " -"
        new += sign in " +"
        gutter = f"{number:>{digits}}" if sign in "+- " else " " * digits
        for part in wrap(text, max(cells - digits - 3, 4)):
            drawn.append(_draw_line(gutter, sign, part, paint))
            gutter = " " * digits
    return drawn


def _draw_line(gutter: str, sign: str, text: str, paint: Paint) -> str:
    match sign:
        case "+":
            return f"{paint.dim(gutter)} {paint.good(f'+ {text}')}"
        case "-":
            return f"{paint.dim(gutter)} {paint.bad(f'- {text}')}"
        case " ":
            return f"{paint.dim(gutter)}   {text}".rstrip()
        case _:
            return paint.dim(f"{gutter} {sign}{text}")
