"""A reader that gives up on nothing: it finds the commands in any text that bash might take.

It serves the deny scan, so it would rather find a command too many. What it cannot know it marks
unknown; a mistake of it can only turn a refusal into a question.
"""

import re
from collections.abc import Iterator
from itertools import count

from hame.permissions.commands.found import UNKNOWN, Found, Rerouted, Spoken, Stage
from hame.permissions.names import names

DEEPEST = 40
"""Substitutions within substitutions; what lies deeper stays unknown."""

_OPERATOR = re.compile(r"&&|\|\||;;&?|;&|\|&|&>>|&>|[;&|\n()]")
_REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(?:<<<|<<-?|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|&>>?")
_SKIPPED = names("if then elif else fi while until do done esac ! { } time coproc")
_OPENS = {
    "if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"
}  # fmt: skip
"""Words that begin a group, and those that end it; what follows `|` behind the end reads from all of it."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=")
_USER = re.compile(r"[A-Za-z_][\w.-]*(?=[/\s;|&()<>]|$)")
_SPECIAL_PARAMETER = frozenset("@*#?-$!0123456789")
_ANSI = re.compile(
    r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)", re.DOTALL
)
_ANSI_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "v": "\v",
}
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST_ALTERNATIVES = 64


def find_commands(text: str, *, home: str, depth: int = 0) -> list[Found]:
    """Every simple command, in the order in which they end; those in substitutions come first."""
    return _found_in(text, home=home, depth=depth, numbers=count())


def _found_in(text: str, *, home: str, depth: int, numbers: Iterator[int]) -> list[Found]:
    reader = _Reader(text, home=home, depth=depth, numbers=numbers)
    reader.read()
    return reader.found


class _Open:
    """The command that is being read."""

    def __init__(self) -> None:
        self.words: list[Spoken] = []
        self.assignments: list[tuple[str, Spoken]] = []
        self.redirects: list[Rerouted] = []
        self.documents: list[str] = []
        self.waiting: list[tuple[str, bool, bool]] = []
        """Here-documents to come: delimiter, whether it was quoted, whether tabs are stripped."""
        self.stages: tuple[Stage, ...] = ()


class _Reader:
    def __init__(
        self, text: str, *, home: str, depth: int, numbers: Iterator[int], at: int = 0
    ) -> None:
        self._text = text
        self._home = home
        self._depth = depth
        self.at = at
        self.found: list[Found] = []
        self._open = _Open()
        self._numbers = numbers
        self._stage = Stage((next(numbers),), 0)
        self._groups: list[tuple[str, Stage]] = []
        """What ends each group that is open, and where it stands itself."""
        self._piped = False
        """The last thing read was a `|`: a line's end does not end the pipeline then."""
        self._braces = 0
        """How many `${` are open."""
        self._documented: list[_Open] = []
        """Commands whose here-documents begin after this line."""

    def read(self, *, until: str = "") -> None:
        """Read to the end, or to the bracket that closes what was opened before."""
        groups = 0
        while self.at < len(self._text):
            mark = self._text[self.at]
            if mark == until and groups == 0:
                break
            if mark == "(":
                groups += 1
            elif mark == ")":
                groups = max(groups - 1, 0)
            self._token(mark)
        self._end_command()
        self._settle()

    def _token(self, mark: str) -> None:
        if mark in " \t":
            self.at += 1
        elif self._text.startswith("\\\n", self.at):
            self.at += 2
        elif mark == "#":
            end = self._text.find("\n", self.at)
            self.at = len(self._text) if end < 0 else end
        elif not self._redirect() and not self._operator():
            self._take(self._word())

    # ------------------------------------------------------------ structure

    def _operator(self) -> bool:
        found = _OPERATOR.match(self._text, self.at)
        if found is None:
            return False
        self.at = found.end()
        operator = found.group()
        if operator == "(" and len(self._open.words) == 1 and self._text.startswith(")", self.at):
            self.at += 1
            self._open = _Open()
            return True
        if operator == "\n" and self._piped:
            self._read_documents()
            return True
        self._end_command()
        self._piped = operator in {"|", "|&"}
        match operator:
            case "|" | "|&":
                self._stage = Stage(self._stage.pipeline, self._stage.place + 1)
            case "(":
                self._open_group(")")
            case ")":
                self._close_group(")")
            case _:
                self._stage = Stage((next(self._numbers),), 0)
        if operator == "\n":
            self._read_documents()
        return True

    def _open_group(self, end: str) -> None:
        self._groups.append((end, self._stage))
        self._stage = Stage((next(self._numbers),), 0)

    def _close_group(self, end: str) -> None:
        if self._groups and self._groups[-1][0] == end:
            self._stage = self._groups.pop()[1]

    def _end_command(self) -> None:
        current, self._open = self._open, _Open()
        around = (stage for _, stage in reversed(self._groups[-DEEPEST:]))
        current.stages = (self._stage, *around)
        if current.waiting:
            # Its here-documents are still to come; it counts as found when they were read.
            self._documented.append(current)
        self._keep(current)

    def _keep(self, current: _Open) -> None:
        if current.words or current.assignments or current.redirects:
            self.found.append(
                Found(
                    words=tuple(current.words),
                    assignments=tuple(current.assignments),
                    redirects=tuple(current.redirects),
                    documents=tuple(current.documents),
                    stages=current.stages,
                )
            )

    def _take(self, word: Spoken) -> None:
        current = self._open
        self._piped = False
        if not current.words:
            if not word.glob:
                self._group(word.text)
            if word.text in _SKIPPED and not word.glob:
                return
            assigned = _ASSIGNMENT.match(word.text)
            if assigned:
                value = Spoken(word.text[assigned.end() :], word.glob, word.inner)
                current.assignments.append((assigned[1], value))
                return
        current.words += _alternatives(word, self._home)

    def _group(self, word: str) -> None:
        if word in _OPENS:
            self._open_group(_OPENS[word])
        else:
            self._close_group(word)

    def _redirect(self) -> bool:
        found = _REDIRECT.match(self._text, self.at)
        if found is None:
            return False
        self._piped = False
        self.at = found.end()
        operator = found.group().lstrip("0123456789")
        while self.at < len(self._text) and self._text[self.at] in " \t":
            self.at += 1
        start = self.at
        word = self._word() if self._begins_word() else Spoken("")
        if operator in {"<<", "<<-"}:
            raw = self._text[start : self.at]
            quoted = not {"'", '"', "\\"}.isdisjoint(raw)
            self._open.waiting.append((word.text, quoted, operator == "<<-"))
        else:
            self._open.redirects.append(Rerouted(operator, word))
        return True

    def _begins_word(self) -> bool:
        if self.at >= len(self._text):
            return False
        process = self._text.startswith(("<(", ">("), self.at)
        return process or self._text[self.at] not in "|&;()<>\n"

    def _read_documents(self) -> None:
        for command in self._documented:
            for delimiter, quoted, stripped in command.waiting:
                body = self._document(delimiter, stripped=stripped)
                command.documents.append(body)
                if not quoted:
                    self._expand_all(body)
            command.waiting = []
            self._keep(command)
        self._documented = []

    def _settle(self) -> None:
        """At the end of the text: what a here-document should have followed has none."""
        if self._documented:
            self._read_documents()

    def _document(self, delimiter: str, *, stripped: bool) -> str:
        lines: list[str] = []
        while self.at < len(self._text):
            end = self._text.find("\n", self.at)
            end = len(self._text) if end < 0 else end
            line = self._text[self.at : end]
            self.at = min(end + 1, len(self._text))
            if (line.lstrip("\t") if stripped else line) == delimiter:
                break
            lines.append(line)
        return "\n".join(lines)

    # ------------------------------------------------------------ words

    def _word(self) -> Spoken:
        pieces: list[str] = []
        inner: list[Found] = []
        glob = False
        start = self.at
        while self.at < len(self._text):
            mark = self._text[self.at]
            if self.at > start and not self._begins_word():
                break
            if mark in " \t":
                break
            pieces.append(self._piece(mark, inner, first=self.at == start))
            glob = glob or mark in "*?["
        return Spoken("".join(pieces), glob, tuple(inner))

    def _piece(self, mark: str, inner: list[Found], *, first: bool) -> str:
        match mark:
            case "'":
                return self._single_quoted()
            case '"':
                return self._double_quoted(inner)
            case "\\":
                self.at += 2
                kept = self._text[self.at - 1 : self.at]
                return "" if kept == "\n" else kept
            case "$" | "`":
                return self._expansion(inner)
            case "<" | ">":
                self.at += 1
                return self._substitution(inner)
            case "~" if first:
                return self._tilde()
            case _:
                self.at += 1
                return mark

    def _single_quoted(self) -> str:
        end = self._text.find("'", self.at + 1)
        end = len(self._text) if end < 0 else end
        text = self._text[self.at + 1 : end]
        self.at = end + 1
        return text

    def _double_quoted(self, inner: list[Found]) -> str:
        self.at += 1
        pieces: list[str] = []
        while self.at < len(self._text):
            mark = self._text[self.at]
            if mark == '"':
                self.at += 1
                break
            if mark in "$`":
                pieces.append(self._expansion(inner))
            elif mark == "\\" and self._text[self.at + 1 : self.at + 2] in {
                "$",
                "`",
                '"',
                "\\",
                "\n",
            }:
                pieces.append(self._text[self.at + 1].replace("\n", ""))
                self.at += 2
            else:
                pieces.append(mark)
                self.at += 1
        return "".join(pieces)

    def _tilde(self) -> str:
        self.at += 1
        following = self._text[self.at : self.at + 1]
        if following in {"", "/"} or following in " \t\n;|&()<>":
            return self._home or UNKNOWN
        if following == "+":
            self.at += 1
            return "."
        user = _USER.match(self._text, self.at)
        if user is None or not self._home:
            return UNKNOWN
        self.at = user.end()
        above, _, own = self._home.rpartition("/")
        if user.group() in {own, "root"}:
            return self._home if user.group() == own else "/root"
        return f"{above}/{user.group()}"

    def _expansion(self, inner: list[Found]) -> str:
        if self._text[self.at] == "`":
            return self._backticks(inner)
        following = self._text[self.at + 1 : self.at + 2]
        match following:
            case "(":
                self.at += 1
                return self._substitution(inner)
            case "{":
                return self._braced(inner)
            case "'":
                self.at += 1
                return self._ansi_quoted()
            case '"':
                self.at += 1
                return ""
            case _:
                return self._parameter(following)

    def _parameter(self, following: str) -> str:
        name = _NAME.match(self._text, self.at + 1)
        if name:
            self.at = name.end()
            return self._value(name.group())
        if following in _SPECIAL_PARAMETER and following:
            self.at += 2
            return UNKNOWN
        self.at += 1
        return "$"

    def _value(self, name: str) -> str:
        match name:
            case "HOME":
                return self._home or UNKNOWN
            case "PWD":
                return "."
            case "PPID":
                return "$PPID"
            case _:
                return UNKNOWN

    def _substitution(self, inner: list[Found]) -> str:
        """From the opening bracket of `$(`, `<(` or `>(` to the closing one."""
        if self._depth >= DEEPEST:
            self.at = len(self._text)
            return UNKNOWN
        reader = _Reader(
            self._text,
            home=self._home,
            depth=self._depth + 1,
            numbers=self._numbers,
            at=self.at + 1,
        )
        reader.read(until=")")
        self.at = reader.at + 1
        self._merge(reader.found, inner)
        return UNKNOWN

    def _merge(self, found: list[Found], inner: list[Found]) -> None:
        inner += found
        self.found += found

    def _backticks(self, inner: list[Found]) -> str:
        end = self.at + 1
        while end < len(self._text) and self._text[end] != "`":
            end += 2 if self._text[end] == "\\" else 1
        body = self._text[self.at + 1 : end]
        self.at = end + 1
        if self._depth < DEEPEST:
            plain = re.sub(r"\\([`$\\])", r"\1", body)
            found = _found_in(plain, home=self._home, depth=self._depth + 1, numbers=self._numbers)
            self._merge(found, inner)
        return UNKNOWN

    def _braced(self, inner: list[Found]) -> str:
        """`${...}`: the name's value where it is known; what stands in it is read for commands."""
        self.at += 2
        start = self.at
        if self._braces >= DEEPEST:
            return UNKNOWN
        self._braces += 1
        name = _NAME.match(self._text, self.at)
        while self.at < len(self._text) and self._text[self.at] != "}":
            mark = self._text[self.at]
            if mark in "$`":
                self._expansion(inner)
            elif mark == "'":
                self._single_quoted()
            else:
                self.at += 2 if mark == "\\" else 1
        self._braces -= 1
        whole = name is not None and self._text[start : self.at] == name.group()
        self.at += 1
        return self._value(name.group()) if name is not None and whole else UNKNOWN

    def _ansi_quoted(self) -> str:
        end = self.at + 1
        while end < len(self._text) and self._text[end] != "'":
            end += 2 if self._text[end] == "\\" else 1
        body = self._text[self.at + 1 : end]
        self.at = end + 1
        return _ANSI.sub(_ansi_character, body)

    def _expand_all(self, text: str) -> None:
        """Find the substitutions of a text that is no command, such as a here-document."""
        reader = _Reader(text, home=self._home, depth=self._depth + 1, numbers=self._numbers)
        kept: list[Found] = []
        if self._depth < DEEPEST:
            reader.pass_expansions(kept)
        self._merge(kept, [])

    def pass_expansions(self, inner: list[Found]) -> None:
        """Read a text of which only the expansions matter."""
        while self.at < len(self._text):
            if self._text[self.at] in "$`":
                self._expansion(inner)
            else:
                self.at += 2 if self._text[self.at] == "\\" else 1


def _ansi_character(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
    elif code[0] in "01234567":
        number = int(code, 8) & 0xFF
    else:
        return _ANSI_LETTERS.get(code, code)
    return chr(number) if 0 < number < 0x110000 else UNKNOWN


def _alternatives(word: Spoken, home: str) -> Iterator[Spoken]:
    """The words that braces make of one; a quoted brace makes no harm here."""
    texts = [word.text]
    while len(texts) < _MOST_ALTERNATIVES:
        expanded = [alternative for text in texts for alternative in _expand_first(text)]
        if expanded == texts:
            break
        texts = expanded
    for text in texts:
        if text is not word.text and text.startswith("~") and text[1:2] in {"", "/"} and home:
            yield Spoken(home + text[1:], word.glob, word.inner)
        else:
            yield Spoken(text, word.glob, word.inner)


def _expand_first(text: str) -> list[str]:
    found = _BRACES.search(text)
    if found is None:
        return [text]
    head, tail = text[: found.start()], text[found.end() :]
    return [head + choice + tail for choice in found[1].split(",")]
