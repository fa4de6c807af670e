"""A strict reader of shell lines, written against the bash manual.

It knows simple commands joined by `&&`, `||`, `;`, `|` and newlines, plain quoting, and a few
redirections. Whatever else stands in the text (expansions, substitutions, groups, keywords,
assignments, here-documents) is refused, so what it does read, it reads as bash does.

https://www.gnu.org/software/bash/manual/html_node/Shell-Syntax.html
"""

import re

from hame.permissions.commands.line import Flow, Line, Redirect, UnreadableError, Word
from hame.permissions.names import names

RESERVED = names(
    "! case coproc do done elif else esac fi for function if in select then until while { } [[ ]]"
)  # fmt: skip

_ENDS_WORD = frozenset(" \t\n|&;<>()")
_REFUSED = frozenset("`(){}")
_GLOB = frozenset("*?[")
_DUPLICATE = re.compile(r"[12]?>&[12](?=[ \t\n|;&]|$)")
_OUTPUT = re.compile(r"(?:[12]?>>?|&>)(?![>&|(])[ \t]*")
_INPUT = re.compile(r"<(?![<>&(])[ \t]*")
_LITERAL_DOLLAR = frozenset('" |)')
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\+?=|\[)")
_PASSED_ON = re.compile(r"[^\x00-\x1f\x7f]")
_REFLOG = re.compile(r"@\{(?!\w*\.\.)(?:[\w:+-]|\.(?!\.))*\}")
"""Git's `HEAD@{1}`, `@{u}`: neither `,` nor `..` between braces, so the shell leaves them alone."""


def read_line(text: str) -> Line:
    """The line's commands and redirections.

    Raises:
        UnreadableError: for anything outside what this reader knows.
    """
    return _Lexer(text).read()


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._commands: list[tuple[Word, ...]] = []
        self._words: list[Word] = []
        self._redirects: list[Redirect] = []
        self._command_due = False
        """After `&&`, `||` or `|` a command must follow."""

    def read(self) -> Line:
        while self._at < len(self._text):
            self._token()
        self._end_command(needed=False)
        if self._command_due:
            raise UnreadableError("it ends where a command should follow")
        if not self._commands:
            raise UnreadableError("there is no command in it")
        return Line(tuple(self._commands), tuple(self._redirects))

    def _token(self) -> None:
        rest = self._text[self._at]
        if rest in " \t":
            self._at += 1
        elif self._text.startswith("\\\n", self._at):
            self._at += 2
        elif rest == "#":
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
        elif not self._operator() and not self._redirect():
            self._words.append(self._word())

    def _operator(self) -> bool:
        two = self._text[self._at : self._at + 2]
        if two in {"&&", "||"}:
            self._end_command(needed=True)
            self._command_due = True
            self._at += 2
            return True
        match two[:1]:
            case "\n":
                self._end_command(needed=False)
            case ";":
                self._end_command(needed=True)
                if two == ";;":
                    raise UnreadableError("it holds ;;")
            case "|":
                if two == "|&":
                    raise UnreadableError("it holds |&")
                self._end_command(needed=True)
                self._command_due = True
            case _:
                return False
        self._at += 1
        return True

    def _end_command(self, *, needed: bool) -> None:
        if self._words and self._at_command():
            raise UnreadableError("nothing follows time")
        if self._words:
            self._commands.append(tuple(self._words))
            self._words.clear()
            self._command_due = False
        elif needed:
            raise UnreadableError("a command is missing")

    def _redirect(self) -> bool:
        duplicate = _DUPLICATE.match(self._text, self._at)
        if duplicate:
            self._need_command()
            self._redirects.append(Redirect(Flow.NOTHING, Word(duplicate.group()[-2:])))
            self._at = duplicate.end()
            return True
        output = _OUTPUT.match(self._text, self._at)
        found = output or _INPUT.match(self._text, self._at)
        if found is None:
            return False
        self._need_command()
        self._at = found.end()
        if self._at >= len(self._text) or self._text[self._at] in _ENDS_WORD:
            raise UnreadableError("a redirection leads nowhere")
        self._redirects.append(redirect(self._word(), writes=output is not None))
        return True

    def _need_command(self) -> None:
        if not self._words:
            raise UnreadableError("a redirection stands before the command")

    def _word(self) -> Word:
        start = self._at
        pieces: list[str] = []
        quoted = glob = False
        while self._at < len(self._text) and (mark := self._text[self._at]) not in _ENDS_WORD:
            match mark:
                case "'" | '"' | "\\":
                    pieces.append(self._quoted(mark))
                    quoted = True
                case "@" if found := _REFLOG.match(self._text, self._at):
                    pieces.append(found.group())
                    self._at = found.end()
                case _:
                    self._check_plain(mark, start)
                    glob = glob or mark in _GLOB
                    pieces.append(mark)
                    self._at += 1
        return self._made(start, "".join(pieces), quoted=quoted, glob=glob)

    def _made(self, start: int, text: str, *, quoted: bool, glob: bool) -> Word:
        raw = self._text[start : self._at]
        if not raw:
            raise UnreadableError(self._what_stands_here())
        if self._at < len(self._text) and self._text[self._at] in "<>&()":
            glued = self._text[self._at]
            if glued != "&" or not self._text.startswith("&&", self._at):
                raise UnreadableError(f"{glued} follows a word without a blank")
        if glob and quoted:
            raise UnreadableError("a pattern is partly quoted")
        tilde = raw.startswith("~")
        if tilde and (quoted or not (raw == "~" or raw.startswith("~/"))):
            raise UnreadableError(f"{raw} is another folder than it seems")
        if self._at_command() and (raw in RESERVED or raw[0] == "%" or _ASSIGNMENT.match(text)):
            raise UnreadableError(f"it uses {raw.partition('=')[0]} as the shell's own word")
        return Word(text, glob=glob and text not in {"[", "]"}, tilde=tilde)

    def _what_stands_here(self) -> str:
        mark = self._text[self._at]
        if self._text.startswith("<<", self._at):
            return "it holds a here-document"
        return "it runs something in the background" if mark == "&" else f"it holds {mark}"

    def _at_command(self) -> bool:
        """Whether the next word is a command's first; `time` is the shell's own and comes before."""
        return all(word.text in {"time", "-p", "--"} for word in self._words)

    def _check_plain(self, mark: str, start: int) -> None:
        if mark in _REFUSED or not _PASSED_ON.match(mark):
            raise UnreadableError(f"it holds {mark!r}")
        if mark == "$":
            raise UnreadableError("it holds an expansion, whose value is not known")
        if mark == "~" and self._at > start and self._text[self._at - 1] in "=:":
            raise UnreadableError("a ~ inside a word may be expanded")

    def _quoted(self, mark: str) -> str:
        if mark == "\\":
            return self._escaped()
        end = self._at + 1
        pieces: list[str] = []
        while end < len(self._text) and self._text[end] != mark:
            piece = self._text[end]
            if mark == '"' and piece in "\\$`":
                piece = self._special(end)
            end += 2 if len(piece) == 2 else 1
            pieces.append(piece[-1] if piece[0] == "\\" and piece[-1] in '"\\$`' else piece)
        if end >= len(self._text):
            raise UnreadableError("a quote is not closed")
        self._at = end + 1
        return "".join(pieces)

    def _special(self, at: int) -> str:
        """What a backslash, dollar or backtick within double quotes comes to, as it is written.

        Raises:
            UnreadableError: for an expansion, or a line that goes on inside the quotes.
        """
        mark, following = self._text[at], self._text[at + 1 : at + 2]
        if mark == "\\":
            if following == "\n":
                raise UnreadableError("a line is continued inside quotes")
            return mark + following
        if mark == "$" and following in _LITERAL_DOLLAR and following:
            return mark
        raise UnreadableError("it holds an expansion, whose value is not known")

    def _escaped(self) -> str:
        following = self._text[self._at + 1 : self._at + 2]
        if following in {"", "\n"}:
            raise UnreadableError("a line is continued inside a word")
        self._at += 2
        return following


def redirect(target: Word, *, writes: bool) -> Redirect:
    """A redirection to a file; writing to /dev/null does nothing."""
    if not writes:
        return Redirect(Flow.READ, target)
    return Redirect(Flow.NOTHING if target.text == "/dev/null" else Flow.WRITE, target)
