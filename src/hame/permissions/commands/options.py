"""Which options a program may be given without a question. What is not listed is asked about.

Abbreviations of long options never match, although many programs take them.
"""

import re
from enum import StrEnum

import msgspec

from hame.permissions.commands.line import Word

VALUES: dict[str, re.Pattern[str]] = {
    "text": re.compile(r".*", re.DOTALL),
    "num": re.compile(r"\d{1,9}"),
    "size": re.compile(r"[+-]?\d{1,9}[kKMG]?"),
    "word": re.compile(r"[\w.+-]+"),
    "digits": re.compile(r"[\d,-]+"),
    "list": re.compile(r"[\w.,=%-]+"),
    "letter": re.compile(r"[A-Za-z]{1,4}"),
    "sep": re.compile(r".|\\t", re.DOTALL),
    "range": re.compile(r"[\w,+:/.^-]+"),
    "number-style": re.compile(r"[atn]|[lr][nz]"),
    "untracked": re.compile(r"no|normal|all"),
}
"""Shapes of option values, by name."""


class Operands(StrEnum):
    """What the words that are no options mean."""

    NONE = "none"
    TEXT = "text"
    NAMES = "names"
    """Names of programs or users."""
    PATHS = "paths"
    PATTERN_THEN_PATHS = "pattern"
    """The first is a pattern, unless an option gave one."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    flags: frozenset[str] = frozenset()
    valued: dict[str, str] = {}
    """Short options with a value, and its shape."""
    glued: dict[str, str] = {}
    """Short options that may have a value, which then stands in the same word."""
    long_flags: frozenset[str] = frozenset()
    long_glued: frozenset[str] = frozenset()
    """Long options whose value follows `=`."""
    long_valued: frozenset[str] = frozenset()
    """Long options whose value follows `=` or is the next word."""
    operands: Operands = Operands.NONE
    most: int | None = None
    """How many operands there may be."""
    count: bool = False
    """Takes `-NUM`."""
    globs: bool = True
    """Patterns that the shell expands may stand among its paths."""


class Parsed(msgspec.Struct, frozen=True):
    """A program's words, told apart."""

    options: frozenset[str]
    operands: tuple[Word, ...]
    values: tuple[Word, ...] = ()
    """Values of options, which are text."""


class UnlistedError(Exception):
    """An option, or a number of operands, that is not on the list; the reason is for the user."""


def row(
    flags: str = "",
    valued: str = "",
    long: str = "",
    operands: Operands = Operands.NONE,
    *,
    most: int | None = None,
    count: bool = False,
    globs: bool = True,
) -> Program:
    """A row from its short form: `valued` is `n:num u=glued`, `long` is `name glued= valued:`."""
    names = long.split()
    return Program(
        flags=frozenset(flags),
        valued=dict(item.split(":") for item in valued.split() if ":" in item),
        glued=dict(item.split("=") for item in valued.split() if "=" in item),
        long_flags=frozenset(name for name in names if name[-1] not in "=:"),
        long_glued=frozenset(name[:-1] for name in names if name[-1] in "=:"),
        long_valued=frozenset(name[:-1] for name in names if name[-1] == ":"),
        operands=operands,
        most=most,
        count=count,
        globs=globs,
    )


def parse_options(program: Program, words: tuple[Word, ...]) -> Parsed:
    """Tell options from operands, as GNU programs do: options may stand anywhere before `--`.

    Raises:
        UnlistedError: for what is not on the list.
    """
    return _Parser(program, words).parse()


class _Parser:
    def __init__(self, program: Program, words: tuple[Word, ...]) -> None:
        self._program = program
        self._left = list(words)
        self._options: set[str] = set()
        self._operands: list[Word] = []
        self._values: list[Word] = []

    def parse(self) -> Parsed:
        while self._left:
            word = self._left.pop(0)
            if word.text == "--" and word.literal:
                self._operands += self._left
                break
            if word.text.startswith("--"):
                self._long(word)
            elif word.text.startswith("-") and word.text != "-":
                self._short(word)
            else:
                self._operands.append(word)
        most = self._program.most
        if most is not None and len(self._operands) > most:
            raise UnlistedError(
                f"{self._operands[most].text} is more than it takes without writing"
            )
        return Parsed(frozenset(self._options), tuple(self._operands), tuple(self._values))

    def _long(self, word: Word) -> None:
        name, equals, _ = word.text[2:].partition("=")
        program = self._program
        if not equals and name in program.long_flags:
            self._need_literal(word)
        elif equals and name in program.long_glued:
            self._values.append(word)
        elif not equals and name in program.long_valued:
            self._need_literal(word)
            self._values.append(self._next(f"--{name}"))
        else:
            raise UnlistedError(f"--{name} is not on the list of its options")
        self._options.add(name)

    def _short(self, word: Word) -> None:
        self._need_literal(word)
        letters = word.text[1:]
        if self._program.count and letters.isdecimal():
            return
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in self._program.flags:
                self._options.add(letter)
                continue
            shape = self._program.glued.get(letter)
            if shape is not None and (not letters or VALUES[shape].fullmatch(letters)):
                self._options.add(letter)
                return
            shape = self._program.valued.get(letter)
            if shape is None:
                raise UnlistedError(f"-{letter} is not on the list of its options")
            value = Word(letters) if letters else self._next(f"-{letter}")
            if not VALUES[shape].fullmatch(value.text):
                raise UnlistedError(f"{value.text} is no plain value of -{letter}")
            self._options.add(letter)
            self._values.append(value)
            return

    def _next(self, option: str) -> Word:
        if not self._left:
            raise UnlistedError(f"{option} has no value")
        value = self._left.pop(0)
        self._need_literal(value)
        return value

    def _need_literal(self, word: Word) -> None:
        if not word.literal:
            raise UnlistedError(f"{word.text} may become several words")
