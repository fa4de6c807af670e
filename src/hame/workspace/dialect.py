r"""ripgrep's regular expressions, as far as Python's can say the same.

Syntax: https://docs.rs/regex/latest/regex/#syntax. What differs and is common in searches is written
anew: POSIX classes, `\z`, `\<`, `\>`, `\h`, `\Q...\E`, and the classes `\p{L}` and `\p{N}`.
"""

import re
import warnings

_POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": r"\t ", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": r"0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_NEGATED = {"digit": r"\D", "space": r"\S", "word": r"\W"}
_ESCAPES = {"z": r"\Z", "<": r"\b(?=\w)", ">": r"\b(?<=\w)", "h": r"[ \t\u00a0]"}
_PROPERTIES = {"L": r"[^\W\d_]", "N": r"\d", "Letter": r"[^\W\d_]", "Number": r"\d"}
_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)"
    r"|\\[pP](?:\{(?P<property>\w+)\}|(?P<short>\w))"
    r"|\[(?P<negated>\^?)\[:(?P<not>\^?)(?P<only>\w+):\]\]"
    r"|\[:(?P<other>\^?)(?P<class>\w+):\]"
    r"|\\(?P<escape>.)",
    re.DOTALL,
)


def compile_regex(pattern: str, *, case_sensitive: bool) -> re.Pattern[str]:
    """The regular expression for Python.

    Raises:
        re.error: when it is none, or says what Python cannot.
    """
    with warnings.catch_warnings():
        # Python warns of what may mean something else in a later version of its own.
        warnings.simplefilter("ignore", FutureWarning)
        flags = re.NOFLAG if case_sensitive else re.IGNORECASE
        return re.compile(_TOKEN.sub(_translated, pattern), flags)


def _translated(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        return re.escape(found["quoted"])
    name = found["property"] or found["short"]
    if name is not None:
        if found[0][1] == "P" or name not in _PROPERTIES:
            raise re.error(f"{found[0]} is not understood here")
        return _PROPERTIES[name]
    if found["only"] is not None:
        mark = "^" if bool(found["negated"]) != bool(found["not"]) else ""
        return f"[{mark}{_posix(found['only'])}]"
    if found["class"] is not None:
        return _NEGATED.get(found["class"], "") if found["other"] else _posix(found["class"])
    return _ESCAPES.get(found["escape"], found[0])


def _posix(name: str) -> str:
    """What stands in brackets for a class; a name that is none is read as its characters."""
    return _POSIX.get(name, f":{name}")
