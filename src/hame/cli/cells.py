"""Measuring and breaking text by the cells it takes in a terminal; plain text without escapes."""


def width(text: str) -> int:
    """Cells that a line takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, cells: int) -> str:
    """The line's beginning that fits, with `…` where something was left out."""
    if width(text) <= cells:
        return text
    kept: list[str] = []
    used = 0
    for character in text:
        used += width(character)
        if used > cells - 1:
            break
        kept.append(character)
    return "".join(kept) + "…" if cells > 0 else ""


def cut_start(text: str, cells: int) -> str:
    """The line's end that fits, with `…` where something was left out."""
    return text if width(text) <= cells else cut(text[::-1], cells)[::-1]


def wrap(text: str, cells: int) -> list[str]:
    """Lines of at most `cells` cells, broken at spaces where there are some, else anywhere.

    Nothing is left out but the one space at which a line was broken; indentation stays.
    """
    cells = max(cells, 2)
    lines: list[str] = []
    for line in text.expandtabs(4).split("\n"):
        lines += _wrap_line(line, cells)
    return lines


def wrap_indented(line: str, cells: int) -> list[str]:
    """Like `wrap`, for one line; what goes on below is indented like its beginning."""
    body = line.lstrip(" ")
    indent = line[: len(line) - len(body)]
    return [indent + part for part in wrap(body, cells - len(indent))]


def _wrap_line(line: str, cells: int) -> list[str]:
    lines: list[str] = []
    while width(line) > cells:
        end = _fitting(line, cells)
        space = line.rfind(" ", 1, end + 1)
        if space > 0 and line[:space].strip():
            lines.append(line[:space])
            line = line[space + 1 :]
        else:
            lines.append(line[:end])
            line = line[end:]
    return [*lines, line]


def _fitting(line: str, cells: int) -> int:
    """How many characters of the line fit, at least one."""
    if line.isascii():
        return cells
    used = 0
    for index, character in enumerate(line):
        used += width(character)
        if used > cells:
            return max(index, 1)
    return len(line)
