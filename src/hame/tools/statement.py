"""The words that a shell command line's statements begin with. For a hint only: decides nothing."""

import re

_WORD = re.compile(r"[A-Za-z0-9_.][\w./-]*")
_SEPARATORS = ";&|\n"


def leading_words(command: str) -> list[str]:
    """First words of the statements at top level; not those in quotes, brackets or comments."""
    words: list[str] = []
    depth, at, fresh = 0, 0, True
    while at < len(command):
        letter = command[at]
        if letter == "\\":
            at += 2
            fresh = False
        elif letter in "'\"`":
            at = _closing(command, at) + 1
            fresh = False
        elif letter == "#" and (at == 0 or command[at - 1].isspace()):
            end = command.find("\n", at)
            at = len(command) if end < 0 else end
        elif letter in "(){}":
            depth += 1 if letter in "({" else -1
            at += 1
            fresh = False
        elif letter in _SEPARATORS:
            at += 1
            fresh = True
        elif fresh and depth == 0 and (found := _WORD.match(command, at)):
            words.append(found[0])
            at = found.end()
            fresh = False
        else:
            fresh = fresh and letter.isspace()
            at += 1
    return words


def _closing(command: str, start: int) -> int:
    """Where the quote that opens at `start` closes; the end of the text when it does not."""
    quote = command[start]
    at = start + 1
    while at < len(command) and command[at] != quote:
        at += 2 if command[at] == "\\" and quote != "'" else 1
    return at
