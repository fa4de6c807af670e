"""Short phrases for eyes and for the model."""

from hame.base.json import JsonObject, get_string

_LINE_LIMIT = 120


def flatten(text: str, limit: int = _LINE_LIMIT) -> str:
    """A text on one line, cut with an ellipsis where it is longer than `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `1,234 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def spoken(arguments: JsonObject, name: str, default: str = "?") -> str:
    """An argument for a summary: on one line, `default` where it is missing or no text."""
    return flatten(get_string(arguments, name) or default)


def visible(name: str) -> str:
    """A name on one line; only one with control characters in it looks different."""
    return name if name.isprintable() else repr(name)
