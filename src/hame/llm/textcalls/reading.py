"""An answer's text -> what is for the user, the calls in it, and whether something in it is broken."""

import re
from collections.abc import Sequence

import msgspec

from hame.base.tool import ToolSpec
from hame.llm.textcalls.example import is_shown
from hame.llm.textcalls.loose import read_tail
from hame.llm.textcalls.marks import MADE_UP, OPEN, THOUGHT, THOUGHT_END
from hame.llm.textcalls.shapes import Spoken, named, plain_name
from hame.llm.textcalls.tagged import Section, Tools, read_section

_FENCED = re.compile(
    r"^[ \t]*(?P<fence>```|~~~).*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
QUOTED = re.compile(
    r"(?<!`)(?P<ticks>`{1,3})(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)|^[ \t]*>[^\n]*|^\|[^\n]*\|",
    re.MULTILINE,
)
"""Code in a line, a line of a quotation, a row of a table."""


_MOST_SECTIONS = 64
"""Marks before the end of a thought that are looked at."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer's text holds."""

    words: str
    """For the user: the text without calls, thoughts and marks."""
    calls: tuple[Spoken, ...] = ()
    broken: bool = False
    """Something began like a call and cannot be read; it is in none of the others."""
    unmarked: bool = False
    """The calls have no marks of their own: they are some because the answer ends with them."""


def read_answer(text: str, specs: Sequence[ToolSpec]) -> Reading:
    """Read a whole answer.

    A call in tags counts wherever it stands, unless it is quoted or fenced as code; what has no tags
    counts at the end only. What cannot be read is broken, and never words.
    """
    tools = named(specs)
    text = _without_thoughts(text, tools)
    words: list[str] = []
    shown: list[tuple[int, int]] = []  # Where in the words calls are only shown; how long they are.
    calls: list[Spoken] = []
    broken, at = False, 0
    tokens: list[int] = []  # Where in the words special tokens were.
    while mark := _next_mark(text, at):
        words.append(text[at : mark.start()])
        section = read_section(text, mark, tools)
        if section.calls and is_shown(text[: mark.start()]):
            words.append(text[mark.start() : section.end])
            shown.append((sum(map(len, words[:-1])), len(words[-1])))
            at = section.end
            continue
        calls += section.calls
        words.append(section.words)
        broken = broken or section.broken
        if section.token:
            tokens.append(sum(map(len, words)))
        at = section.end
        if (section.calls or section.broken) and (made_up := MADE_UP.search(text, at)):
            text = text[: made_up.start()]
        if broken:
            at = len(text)
    words.append(text[at:])
    said = "".join(words)
    if not calls and not broken:
        tail = read_tail(_hidden(said, shown), tools)
        if tail is not None:
            words_before = said[: tail.start].rstrip()
            return Reading(
                words=words_before, calls=tail.calls, broken=not tail.calls, unmarked=True
            )
        named_at = next((at for at in tokens if _begins_with_tool(said[at:], tools)), None)
        if named_at is not None:
            # A special token and a tool's name: a call in a form that nobody here knows.
            return Reading(words=said[:named_at].rstrip(), broken=True)
    return Reading(
        words=said.rstrip() if calls or broken else said, calls=tuple(calls), broken=broken
    )


def _without_thoughts(text: str, tools: Tools) -> str:
    """The text after the model's thinking, where that came along; thinking without end is all."""
    ends = list(THOUGHT_END.finditer(text))
    if ends:
        # What a call writes is no thought, whatever stands in it.
        called = [(a, b) for a, b, section in _sections(text, tools) if section.calls]
        meant = [end for end in ends if not any(a < end.start() < b for a, b in called)]
        last = meant[-1] if meant else None
        if last is not None:
            return text[last.end() :]
    return "" if THOUGHT.match(text.lstrip()) else text


def _sections(text: str, tools: Tools) -> list[tuple[int, int, Section]]:
    """What each mark leads to, and from where to where."""
    found: list[tuple[int, int, Section]] = []
    at = 0
    while len(found) < _MOST_SECTIONS and (mark := OPEN.search(text, at)):
        section = read_section(text, mark, tools)
        found.append((mark.start(), section.end, section))
        at = mark.end() if section.broken else max(section.end, mark.end())
    return found


def _hidden(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with these places made illegible."""
    for start, size in spans:
        text = f"{text[:start]}{'.' * size}{text[start + size :]}"
    return text


def _begins_with_tool(text: str, tools: Tools) -> bool:
    word = re.match(r"\s*([\w.:-]+)", text)
    return word is not None and plain_name(word[1]) in tools


def _next_mark(text: str, at: int) -> re.Match[str] | None:
    """The next mark that is meant: neither quoted nor inside a block of code."""
    spans = [m.span() for pattern in (_FENCED, QUOTED) for m in pattern.finditer(text, at)]
    for mark in OPEN.finditer(text, at):
        if not any(start < mark.start() < end for start, end in spans):
            return mark
    return None
