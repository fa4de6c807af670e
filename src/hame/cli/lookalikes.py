"""Letters that eyes take for ASCII ones: in a command or a path they are another command or path.

The letters are those that common fonts draw as their Latin twin (Unicode Technical Standard 39,
confusables); full-width, mathematical and other styled forms are found by what they decompose to.
"""

import re
import unicodedata

_TWINS = frozenset(
    "авеёіјорѕсухһԁԛԝӏѵАВЕЅЗІЈКМНОРСТУХҺӀԌԚԜ"  # Cyrillic
    "αινορυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"  # noqa: RUF001 - Greek
    "օոսցհԼՕՍ"  # Armenian
    "ıɑɡɩʋᴄᴏᴠᴡᴢꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓞꓟꓠꓢꓣꓥꓦꓧꓨꓪꓫꓬꓮꓰꓲꓳꓴ"  # Latin of other uses, Lisu
)
_SIGNS = frozenset(
    "\u2024\u2044\u2215\u29f8\u2216\u29f5\u2010\u2011\u2012\u2212\u2236\ua789\u01c0\u2223\u23d0\u2758\u037e"
    "\u1fef\u2035\u02cb\uff02\uff04\uff06\uff07\uff0e\uff0f\uff1b\uff1c\uff1e\uff3c\uff3f\uff40\uff5c\uff5e"
)
"""Signs that pass for those that mean something to a shell or in a path."""

_WORD = re.compile(r"[^\W\d_]+(?:[\d_]+[^\W\d_]+)*")


def mark_lookalikes(text: str) -> str:
    r"""The text with each such letter and sign written as `\u{...}`.

    A word in a script of its own stays as it is; marked are words in which scripts are mixed and
    words of several letters that are all look-alikes.
    """
    if text.isascii():
        return text
    text = "".join(_escape(sign) if sign in _SIGNS or _is_styled(sign) else sign for sign in text)
    return _WORD.sub(_mark_word, text)


def _mark_word(match: re.Match[str]) -> str:
    word = match.group()
    letters = [letter for letter in word if letter.isalpha()]
    foreign = [letter for letter in letters if not letter.isascii()]
    twins = [letter for letter in foreign if letter in _TWINS]
    mixed, disguised = len(foreign) < len(letters), len(twins) == len(letters) > 1
    if not twins or not (mixed or disguised):
        return word
    return "".join(_escape(letter) if letter in _TWINS else letter for letter in word)


def _is_styled(sign: str) -> bool:
    """Whether it is an ASCII letter or digit in another style: full-width, bold, double-struck."""
    kind, _, plain = unicodedata.decomposition(sign).partition(" ")
    if kind not in {"<wide>", "<font>"}:
        return False
    code = int(plain.split()[0], 16)
    return code < 0x80 and chr(code).isalnum()


def _escape(sign: str) -> str:
    return f"\\u{{{ord(sign):x}}}"
