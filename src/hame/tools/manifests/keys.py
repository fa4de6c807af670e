"""Keys with dots, and values as a model writes them."""

import re

import msgspec

from hame.base.errors import ArgumentError
from hame.base.json import Json, parse

_PART = re.compile(r"\"([^\"]+)\"|'([^']+)'|([^.\"']+)")


def split_key(key: str) -> list[str]:
    """`tool.ruff."lint.x"` as its parts.

    Raises:
        ArgumentError: when a part is empty.
    """
    parts: list[str] = []
    at = 0
    while True:
        found = _PART.match(key, at)
        if found is None:
            raise ArgumentError(f"the key {key!r} cannot be read; write it like project.name")
        parts.append((found[1] or found[2] or found[3]).strip())
        at = found.end()
        if at == len(key):
            return parts
        if key[at] != ".":
            raise ArgumentError(f"the key {key!r} cannot be read; quote parts that hold dots")
        at += 1


class Setting(msgspec.Struct, frozen=True):
    """A value as it was written: `17`, `"17"`, `["a"]`, or plain words."""

    text: str

    @property
    def value(self) -> Json:
        """What it means: JSON where it is JSON, else the text itself."""
        try:
            return parse(self.text)
        except ValueError:
            return self.text

    @property
    def words(self) -> str:
        """The value as text: `1.10` stays 1.10."""
        return self.value if isinstance(self.value, str) else self.text.strip()

    def fitting(self, key: str, known: object) -> Json:
        """The value in the type of the one that is there; versions are always text."""
        is_text = isinstance(known, str) or (known is None and key.endswith("version"))
        return self.words if is_text else self.value
