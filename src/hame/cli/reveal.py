"""Text that others wrote, made safe to show.

A terminal obeys control characters and draws some characters as nothing at all or in another order.
`clean` takes that power away and keeps the text readable; `reveal`, for what the user is asked to
approve, shows every character that eyes could miss.
"""

import re
import unicodedata

from hame.cli.lookalikes import mark_lookalikes

_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0"
    "\ud800-\udfff\U000e0000-\U000e01ef]"
)
"""Controls but tab and newline, line separators, bidirectional overrides, spaces without width.

Also letters drawn as nothing, tags and the variation selectors in which text can be hidden, and the
surrogates that stand for bytes which are no UTF-8: written out, they would be C1 controls again.
"""

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""

_PADDING = re.compile(r"(?<=[^ ]) {9,}| {41,}")
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n){3,}")


def clean(text: str) -> str:
    """Text for a terminal: controls become pictures of themselves, escapes cannot act."""
    if _HARMFUL.search(text) is None:
        return text
    return _HARMFUL.sub(_picture, text)


def clean_json(text: str) -> str:
    """JSON for a terminal: the same values, with escapes of JSON's own for what a terminal would obey."""
    return _HARMFUL.sub(_escape, text)


def reveal(text: str) -> str:
    r"""Text to be approved: what cannot be seen is written as `\u{...}`, padding is counted."""
    text = text.replace("\r\n", "\n")
    text = _EMPTY_LINES.sub(_count_lines, text)
    text = _PADDING.sub(_count_spaces, text)
    return "\n".join(_reveal_line(line) for line in text.split("\n"))


def one_line(text: str, limit: int = 400) -> str:
    """Text flattened to one line and capped, for words that others provide."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x0D:
        return ""
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\u{{{code:x}}}"


def _escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _count_lines(match: re.Match[str]) -> str:
    lines = match.group().count("\n") - 1
    return f"\n⟨{lines} empty lines⟩\n"


def _count_spaces(match: re.Match[str]) -> str:
    return f"⟨{len(match.group())} spaces⟩"


def _reveal_line(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    body = line.lstrip("\t")
    indent = "    " * (len(line) - len(body))
    shown = "".join(_reveal_character(character) for character in body)
    return indent + mark_lookalikes(shown)


def _reveal_character(character: str) -> str:
    if character == "\t":
        return "\\t"
    category = unicodedata.category(character)
    hidden = category in {"Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn"} or character in _INVISIBLE
    odd_space = category == "Zs" and character != " "
    selector = 0xFE00 <= ord(character) <= 0xFE0F or 0xE0100 <= ord(character) <= 0xE01EF
    if hidden or odd_space or selector:
        return f"\\u{{{ord(character):x}}}"
    return character
