"""Colours and weights in a terminal (ECMA-48 SGR)."""

POINTER = "\u276f"
"""Stands before what the user says."""


class Paint:
    """Wraps text in escape sequences, or leaves it alone where colours are off.

    Text that was painted must not be cut or wrapped afterwards.
    """

    __slots__ = ("_accent", "enabled")

    def __init__(self, *, enabled: bool, accent: str = "36") -> None:
        """`accent` are the SGR parameters of hame's own colour."""
        self.enabled = enabled
        self._accent = accent

    def accent(self, text: str) -> str:
        """What hame itself says."""
        return self.code(self._accent, text)

    def bold(self, text: str) -> str:
        """What must be seen."""
        return self.code("1", text)

    def dim(self, text: str) -> str:
        """What may be overlooked."""
        return self.code("2", text)

    def thought(self, text: str) -> str:
        """The model's reasoning."""
        return self.code("2;3", text)

    def good(self, text: str) -> str:
        """What worked, what was added."""
        return self.code("32", text)

    def bad(self, text: str) -> str:
        """What failed, what was removed."""
        return self.code("31", text)

    def warn(self, text: str) -> str:
        """What wants attention."""
        return self.code("33", text)

    def code(self, parameters: str, text: str) -> str:
        """Any other."""
        return f"\x1b[{parameters}m{text}\x1b[0m" if self.enabled and text else text
