"""An answer's text -> what is for the user, the calls in it, and whether something in it is broken."""

import re
from collections.abc import Sequence

import msgspec

from hame.base.tool import ToolSpec
from hame.llm.textcalls.loose import read_tail
from hame.llm.textcalls.shapes import Spoken, named
from hame.llm.textcalls.tagged import OPEN, read_section

_THOUGHT_END = re.compile(r".*</think(?:ing)?>", re.DOTALL)
_THOUGHT = re.compile(r"^\s*<think(?:ing)?>", re.DOTALL)
_FENCED = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"`[^`\n]*`")
_MADE_UP = re.compile(
    r"<tool_(?:response|result|output)s?>|<\|?(?:observation|tool_response)\|?>|<function_results?>"
    r"|^Observation:",
    re.MULTILINE,
)
"""Results that a model makes up after its own call; nothing from there on is meant."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer's text holds."""

    words: str
    """For the user: the text without calls, thoughts and marks."""
    calls: tuple[Spoken, ...] = ()
    broken: bool = False
    """Something began like a call and cannot be read; it is in none of the others."""


def read_answer(text: str, specs: Sequence[ToolSpec]) -> Reading:
    """Read a whole answer.

    A call in tags counts wherever it stands, unless it is quoted or fenced as code; what has no tags
    counts at the end only. What cannot be read is broken, and never words.
    """
    tools = named(specs)
    text = _without_thoughts(text)
    words: list[str] = []
    calls: list[Spoken] = []
    broken, at = False, 0
    while mark := _next_mark(text, at):
        words.append(text[at : mark.start()])
        section = read_section(text, mark, tools)
        calls += section.calls
        words.append(section.words)
        broken = broken or section.broken
        at = section.end
        if (section.calls or section.broken) and (made_up := _MADE_UP.search(text, at)):
            text = text[: made_up.start()]
        if broken:
            at = len(text)
    words.append(text[at:])
    said = "".join(words)
    if not calls and not broken:
        tail = read_tail(said, tools)
        if tail is not None:
            words_before = said[: tail.start].rstrip()
            return Reading(words=words_before, calls=tail.calls, broken=not tail.calls)
    return Reading(
        words=said.rstrip() if calls or broken else said, calls=tuple(calls), broken=broken
    )


def _without_thoughts(text: str) -> str:
    """The text after the model's thinking, where that came along; thinking without end is all."""
    ended = _THOUGHT_END.match(text)
    if ended is not None:
        return text[ended.end() :].lstrip("\n")
    return "" if _THOUGHT.match(text) else text


def _next_mark(text: str, at: int) -> re.Match[str] | None:
    """The next mark that is meant: neither quoted nor inside a block of code."""
    spans = [m.span() for pattern in (_FENCED, _QUOTED) for m in pattern.finditer(text, at)]
    for mark in OPEN.finditer(text, at):
        if not any(start < mark.start() < end for start, end in spans):
            return mark
    return None
