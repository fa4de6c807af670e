"""What may be said to the user: nothing but words of the last result, of the kind that was asked for."""

import re
from collections.abc import Iterable, Iterator, Sequence

from hame.base.ports import Index
from hame.base.tool import ArgumentKind, ToolSpec
from hame.local.candidates import LONGEST_CHOICE
from hame.local.english import Answer, is_yes_or_no, subjects, wanted_answer
from hame.local.move import SAY, SHOW, Move
from hame.local.turn import Step, Turn
from hame.local.words import mentions, named_directories, named_files, spans, unique

MOST_ANSWERS = 1_500
_LONGEST_ANSWER = 6


def possible_answers(turn: Turn, tools: Sequence[ToolSpec], index: Index) -> list[Move]:
    """Show the last result, or say a part of it; nothing before there is a result."""
    last = turn.last
    if last is None:
        return []
    spec = next((tool for tool in tools if tool.name == last.tool), None)
    refused = last.failed and not last.ran
    if refused or (spec is not None and _only_shown(spec, turn.words)):
        return [Move(SHOW)]
    exact = _verdict(turn.words, last) if last.ran else _exact(turn.words, last.result, index)
    if exact := unique(filter(_sayable, exact), MOST_ANSWERS):
        return [Move(SAY, choices=exact)]
    said = unique(filter(_sayable, _extracts(turn.words, last.result, index)), MOST_ANSWERS)
    return [Move(SHOW), Move(SAY, choices=said)] if said else [Move(SHOW)]


def _only_shown(spec: ToolSpec, words: str) -> bool:
    """Whether no part of the tool's result is an answer: a listing, or hits that were asked for."""
    kind = spec.arguments[0].kind if spec.arguments else None
    if kind is ArgumentKind.SEARCH_TEXT:
        return wanted_answer(words) in {Answer.ANY, Answer.WHOLE}
    return kind is ArgumentKind.EXISTING_DIRECTORY


def _verdict(words: str, last: Step) -> tuple[str, ...]:
    """Yes or no of a program that ran, where that is asked and its end tells."""
    if not is_yes_or_no(words) or "fail" in words.lower():
        return ()
    return ("no",) if last.failed else ("yes",)


def _exact(words: str, result: str, index: Index) -> Iterable[str]:
    """Answers beside which the whole result would be none: a number asked for, a certain line."""
    lines, about = _lines_about(words, result, index)
    match wanted_answer(words):
        case Answer.NUMBER if about:
            return re.findall(r"(?<![\w.])\d[\d.,]*\b", "\n".join(lines))
        case Answer.FIRST_LINE:
            return _lines(result)[:1]
        case Answer.LAST_LINE:
            return _lines(result)[-1:]
        case Answer.EVIDENCE if about:
            return lines
        case Answer.PART if about:
            return (*_parts(lines, words), *lines)
        case _:
            return ()


def _extracts(words: str, result: str, index: Index) -> Iterable[str]:
    lines, about = _lines_about(words, result, index)
    match wanted_answer(words):
        case Answer.PATH if paths := named_files(result, index.files()):
            return paths
        case Answer.WHOLE if not about:
            return ()
        case _:
            return _parts(lines, words)


def _lines_about(words: str, result: str, index: Index) -> tuple[list[str], bool]:
    """Lines with a word of what the user is after, and whether there are any; else all lines."""
    named = (*named_files(words, index.files()), *named_directories(words, index.directories()))
    wanted = subjects(words, mentions(words, named))
    lines = _lines(result)
    about = [line for line in lines if wanted & set(re.findall(r"\w+", line.lower()))]
    return about or lines, bool(about)


def _lines(result: str) -> list[str]:
    return [line.strip() for line in result.splitlines() if line.strip()]


def _parts(lines: Sequence[str], words: str) -> Iterator[str]:
    """Runs of words within one line that tell more than the user said."""
    known = set(re.findall(r"\w+", words.lower()))
    for line in lines:
        parts = [span.text for span in spans(line, _LONGEST_ANSWER)]
        for part in (*parts, *re.findall(r"[\w./-]*\w", line)):
            if not set(re.findall(r"\w+", part.lower())) <= known:
                yield part


def _sayable(text: str) -> bool:
    return len(text) <= LONGEST_CHOICE and text.isprintable() and any(map(str.isalnum, text))
