"""How large the terminal is."""

import shutil


def terminal_size() -> tuple[int, int]:
    """Columns and rows as they are now; COLUMNS and LINES win over the terminal's own word."""
    size = shutil.get_terminal_size()
    return size.columns, size.lines
