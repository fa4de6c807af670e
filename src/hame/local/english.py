"""What the wording of a request tells: whether it asks or tells, which words are texts, what would answer.

The lists are English. A request in another language gets fewer restrictions where a rule only
takes away (questions, kinds of answers), and no texts to write where a rule has to find them
unless they are quoted.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from hame.local.words import Span, quoted, spans

FUNCTION_WORDS = frozenset({
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "my", "our", "your", "their",
    "and", "or", "but", "if", "then", "so", "not", "for", "of", "on", "in", "into", "at", "to",
    "from", "by", "with", "as", "is", "are", "be", "was", "does", "do", "did", "can", "could",
    "would", "should", "will", "has", "have", "what", "which", "who", "where", "when", "why", "how",
    "me", "us", "i", "you", "we", "they", "there", "here", "please", "all", "any", "every",
})  # fmt: skip
"""Words that carry no subject of their own."""

LOOKING = frozenset({
    "read", "show", "tell", "say", "list", "find", "search", "look", "print", "open", "display",
    "give", "check", "see", "run", "execute", "explain", "describe", "count", "cat", "view",
    "locate", "grep",
})  # fmt: skip
"""Verbs of requests that change nothing."""

CHANGING = frozenset({
    "change", "replace", "rename", "set", "update", "edit", "swap", "substitute", "turn", "switch",
    "create", "make", "write", "add", "save", "put", "store", "append", "insert",
})  # fmt: skip
"""Verbs of requests for a change."""

NOUNS = frozenset({
    "file", "files", "folder", "directory", "word", "words", "text", "function", "method", "class",
    "variable", "constant", "line", "string", "value", "contents", "content", "project", "repo",
    "repository", "code",
})  # fmt: skip
"""What requests are about in general; none of them is a subject to search for."""

_SPEAKING = frozenset({
    "defined", "defines", "define", "contains", "contain", "containing", "mentions", "mention",
    "called", "named", "says", "saying", "used", "uses", "new",
})  # fmt: skip
_IDLE = FUNCTION_WORDS | LOOKING | CHANGING | NOUNS | _SPEAKING

_TEXT_FOLLOWS = frozenset({
    "text", "word", "words", "string", "value", "line", "content", "contents", "says", "saying",
    "containing", "contains", "reading",
})  # fmt: skip
"""A text the user dictates stands right behind one of these."""
_TEXT_MAY_FOLLOW = frozenset({
    "to", "with", "by", "into", "as", "write", "put", "save", "add", "store", "append", "insert",
})  # fmt: skip
_OLD_FOLLOWS = frozenset({"from", "of"})
"""`from 8080 to 9090`, `9000 instead of 8080`: the text that is to go."""
_OLD_MAY_FOLLOW = (CHANGING | NOUNS | {"the", "a", "an", "all", "every", "text"}) - {"set"}
_TEXT_ENDS_BEFORE = frozenset({
    "to", "with", "by", "in", "into", "inside", "on", "at", "from", "for", "instead", "and", "as",
    "everywhere", "throughout", "please", "->", "=>",
})  # fmt: skip
_STILL_OPEN = frozenset({
    "a", "an", "the", "this", "its", "my", "our", "your", "their", "and", "or", "but", "if", "for",
    "of", "on", "in", "into", "at", "to", "from", "by", "with", "as", "is", "are", "be", "was",
})  # fmt: skip
"""No text the user dictates ends in one of these."""
_ARROWS = frozenset({"->", "=>"})
_POINTER = re.compile(
    r"\b(in|into|inside|on|with|from|at)\s+(it|them|there|that|this)$", re.IGNORECASE
)
"""`... the word yes in it`: the end points at the file."""

_LONGEST_OLD = 8
_LONGEST_NEW = 20
_QUESTION = re.compile(
    r"(what|which|who|whose|where|how|why|when|does|did|is|are)\b", re.IGNORECASE
)
_YES_OR_NO = re.compile(
    r"(do|does|did|is|are|was|were|can|could|has|have|will|would|should)\b", re.IGNORECASE
)
_POLITE = re.compile(r"(can|could|will|would)\s+you\b", re.IGNORECASE)
_WHERE = re.compile(r"\b(wh(ich|at)\s+files?|where)\b", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"\b(how\s+(many|much|long|old|large|big)|wh(ich|at)\s+year)\b", re.IGNORECASE
)
_EDGE_LINE = re.compile(r"\b(first|last)\s+line\b", re.IGNORECASE)
_ASKS_FOR_PART = re.compile(r"\b(what|which|who|whose|when|tell|say|give)\b", re.IGNORECASE)
_WHOLE = re.compile(
    r"\b(show|print|display|list|ls|cat|view|open|read|see|contents?)\b", re.IGNORECASE
)
_FILES = re.compile(
    r"\b(files?|folders?|director(y|ies)|list|ls|here|project|repo(sitory)?|contents?|structure)\b",
    re.IGNORECASE,
)
_TESTS = re.compile(r"\b(test\w*|suite|pass(es|ed|ing)?|green)\b", re.IGNORECASE)


class Answer(StrEnum):
    """What kind of thing would answer."""

    PATH = "path"
    NUMBER = "number"
    FIRST_LINE = "first_line"
    LAST_LINE = "last_line"
    EVIDENCE = "evidence"
    """Yes or no; to judge that is beyond a small model, so it shows what speaks for either."""
    PART = "part"
    """Some words of the result."""
    WHOLE = "whole"
    """The whole result."""
    ANY = "any"


def changes_nothing(text: str) -> bool:
    """Whether the user asks, or wants something looked at: then nothing may be changed."""
    words = text.strip()
    if not _POLITE.match(words) and (words.endswith(("?", "\uff1f")) or _QUESTION.match(words)):
        return True
    return _first_verb(words) in LOOKING


def wants_change(text: str) -> bool:
    """Whether the user wants something changed: then looking alone is no answer."""
    return not changes_nothing(text) and _first_verb(text) in CHANGING


def _first_verb(text: str) -> str:
    words = re.findall(r"[a-z]+", text.lower())
    return next((word for word in words if word in LOOKING or word in CHANGING), "")


def is_yes_or_no(text: str) -> bool:
    """Whether yes or no would be an answer."""
    return _YES_OR_NO.match(text.strip()) is not None


def speaks_of_tests(text: str) -> bool:
    """Whether the user speaks of tests at all."""
    return _TESTS.search(text) is not None


def speaks_of_files(text: str) -> bool:
    """Whether the user speaks of files in general, without naming one."""
    return _FILES.search(text) is not None


def wanted_answer(text: str) -> Answer:
    """What kind of thing would answer, as far as the wording tells."""
    if _WHERE.search(text):
        return Answer.PATH
    if _HOW_MANY.search(text):
        return Answer.NUMBER
    if edge := _EDGE_LINE.search(text):
        return Answer.FIRST_LINE if edge.group(1).lower() == "first" else Answer.LAST_LINE
    if is_yes_or_no(text):
        return Answer.EVIDENCE
    if _ASKS_FOR_PART.search(text):
        return Answer.PART
    return Answer.WHOLE if _WHOLE.search(text) else Answer.ANY


def is_subject(text: str) -> bool:
    """Whether words could be what a search is for: they begin and end with a subject."""
    words = text.lower().split()
    return words[0] not in _IDLE and words[-1] not in _IDLE


def subjects(text: str, taken: Sequence[Span]) -> frozenset[str]:
    """The words, in lower case, that say what the request is about; `taken` are its paths."""
    words = (Span(m.group().lower(), *m.span()) for m in re.finditer(r"\w+", text))
    return frozenset(w.text for w in words if w.text not in _IDLE and not w.meets(taken))


def old_texts(text: str, taken: Sequence[Span]) -> list[Span]:
    """Texts that the user may want to be replaced: quoted ones, or marked by what is around them."""
    found = [span for span in quoted(text) if not span.meets(taken)]
    plain = [span for span in _phrases(text, taken, _LONGEST_OLD) if span.text.lower() not in _IDLE]
    marked = [span for span in plain if _before(text, span) in _OLD_FOLLOWS]
    return found + (marked or [s for s in plain if _before(text, s) in _OLD_MAY_FOLLOW])


def new_texts(text: str, taken: Sequence[Span]) -> list[Span]:
    """Texts that the user dictates: quoted ones, or marked by what is around them."""
    found = [span for span in quoted(text) if not span.meets(taken)]
    if found:
        return found
    plain = list(_phrases(text, taken, _LONGEST_NEW))
    for marks in (_ARROWS, _TEXT_FOLLOWS, _TEXT_MAY_FOLLOW):
        marked = [span for span in plain if _before(text, span) in marks]
        if marked:
            return marked
    return []


def _phrases(text: str, taken: Sequence[Span], longest: int) -> Iterator[Span]:
    """Runs of words that end where a phrase ends and share nothing with `taken`."""
    for span in spans(text, longest):
        if span.meets(taken) or not _is_whole(span.text):
            continue
        rest = text[span.end :].lstrip("'\"`\u201d\u2019\xbb")
        following = rest.split(None, 1)[0].lower() if rest.strip() else ""
        if re.match(r"\s*$|[.,;:?!]", rest) or following.strip(".,;:?!") in _TEXT_ENDS_BEFORE:
            yield span


def _is_whole(phrase: str) -> bool:
    words = phrase.lower().split()
    crosses = "instead" in words[:-1] or not _ARROWS.isdisjoint(words)
    return not crosses and words[-1] not in _STILL_OPEN and not _POINTER.search(phrase)


def _before(text: str, span: Span) -> str:
    """The word before, in lower case; `text` where a colon stands there."""
    words = text[: span.start].split()
    if not words:
        return ""
    return "text" if words[-1].endswith(":") else words[-1].lower().strip("'\"`\u201c\u2018(,;")
