"""A tool's description: the text of the `.md` file beside its module.

Read when a spec is first needed, never on the way to `hame --version`.
"""

from functools import cache
from pathlib import Path


@cache
def describe(module_file: str) -> str:
    """The description that lies beside a tool's module, on one line per paragraph line."""
    return Path(module_file).with_suffix(".md").read_text(encoding="utf-8").strip()
