"""A Jupyter notebook as text: its cells in order, with what they printed.

Format: https://nbformat.readthedocs.io/en/latest/format_description.html
"""

import re

from hame.base.json import (
    Json,
    JsonObject,
    as_list,
    get_list,
    get_object,
    get_objects,
    get_string,
    parse_object,
)

_OUTPUT_LIMIT = 2_000
"""Characters of one output that are shown."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def render_notebook(text: str) -> str | None:
    """The cells as text; None when the file is no notebook."""
    notebook = parse_object(text)
    if notebook is None or not isinstance(notebook.get("cells"), list):
        return None
    cells = get_objects(notebook, "cells")
    return "\n".join(_cell(number, cell) for number, cell in enumerate(cells, 1))


def _cell(number: int, cell: JsonObject) -> str:
    kind = get_string(cell, "cell_type") or "unknown"
    parts = [f"# %% cell {number} [{kind}]", _joined(cell.get("source")).rstrip("\n")]
    for output in get_objects(cell, "outputs"):
        shown = _output(output)
        if shown:
            parts += ["# output:", shown]
    return "\n".join(parts) + "\n"


def _output(output: JsonObject) -> str:
    match get_string(output, "output_type"):
        case "stream":
            text = _joined(output.get("text"))
        case "error":
            lines = [line for line in get_list(output, "traceback") if isinstance(line, str)]
            text = "\n".join(lines) or f"{output.get('ename')}: {output.get('evalue')}"
        case _:
            text = _data(get_object(output, "data"))
    text = _COLOURS.sub("", text).rstrip("\n")
    if len(text) > _OUTPUT_LIMIT:
        text = f"{text[:_OUTPUT_LIMIT]}… [{len(text) - _OUTPUT_LIMIT:,} more characters]"
    return text


def _data(data: JsonObject) -> str:
    plain = _joined(data.get("text/plain"))
    others = [kind for kind in data if kind.startswith(("image/", "application/pdf"))]
    return "\n".join(filter(None, [plain, *(f"[{kind}]" for kind in others)]))


def _joined(value: Json) -> str:
    """Text that may be given whole or as a list of lines."""
    if isinstance(value, str):
        return value
    return "".join(part for part in as_list(value) or [] if isinstance(part, str))
