"""What a command's characters alone decide, before anybody reads it as a command."""

import unicodedata

from hame.permissions.decision import Decision, Judgement

LARGEST = 8192
"""Bytes of a command that may run without a question."""

_DRAWN_AS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def judge_characters(text: str) -> Judgement | None:
    """Deny for what hides text or acts on a terminal, ask for what misleads eyes; else None."""
    if text.isascii() and text.isprintable() and len(text) <= LARGEST:
        return None
    asks: str | None = None
    for character in text:
        category = unicodedata.category(character)
        if (category == "Cc" and character not in "\n\t") or category in {"Cf", "Cs", "Cn", "Co"}:
            return Judgement(
                Decision.DENY,
                f"it holds the hidden character {escape(character)}",
                "D12 hidden characters",
            )
        blank = category in {"Zs", "Zl", "Zp"} and character != " "
        if blank or character in _DRAWN_AS_NOTHING or _is_selector(character):
            asks = asks or f"it holds {escape(character)}, which looks like a blank or like nothing"
    if asks is None and len(text.encode()) > LARGEST:
        asks = f"it is longer than {LARGEST} bytes"
    return Judgement(Decision.ASK, asks, "characters") if asks else None


def escape(text: str) -> str:
    r"""A text with everything but plain ASCII written as `\u{...}`."""
    return "".join(
        character if " " <= character <= "~" else f"\\u{{{ord(character):x}}}" for character in text
    )


def _is_selector(character: str) -> bool:
    return 0xFE00 <= ord(character) <= 0xFE0F or 0xE0100 <= ord(character) <= 0xE01EF
