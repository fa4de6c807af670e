r"""Characters that eyes do not see and models do: text can be hidden in them.

Formats and controls (Unicode's Cf, Cc, Zl, Zp), bidirectional overrides among them, tags, variation
selectors but for the single one that chooses how an emoji looks, private and unassigned characters,
and letters that are drawn as nothing. https://www.unicode.org/reports/tr36/
"""

import re
import unicodedata

_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_STYLE = frozenset("\ufe0e\ufe0f")
"""After a character: as text, or as a picture."""
_SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_ODD = re.compile("[^\n\t\x20-\x7e]")


def is_hidden(character: str, before: str = "") -> bool:
    """Whether a character cannot be seen where it stands, after `before`."""
    if character in _SELECTORS:
        return character not in _STYLE or not before or before.isspace() or before in _SELECTORS
    return character in _BLANK or (
        unicodedata.category(character) in _CATEGORIES and character not in "\n\t"
    )


def count_hidden(text: str) -> int:
    """How many there are; a carriage return before a line end and a mark at the very start are none."""
    return sum(_found(match) for match in _ODD.finditer(_plain(text)))


def escape_hidden(text: str) -> str:
    r"""The text with each of them written as `\u{...}`, so that a reader of either kind sees it."""
    return _ODD.sub(_shown, _plain(text))


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _found(match: re.Match[str]) -> bool:
    return is_hidden(match.group(), match.string[max(match.start() - 1, 0) : match.start()])


def _shown(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match.group()):x}}}" if _found(match) else match.group()
