"""What an argument may be: things that exist, or words the user said."""

import re
from collections.abc import Iterable, Iterator, Sequence

from hame.base.ports import Index
from hame.base.tool import ArgumentKind, Effect, ToolSpec
from hame.local.english import is_subject, new_texts, old_texts, speaks_of_files
from hame.local.turn import Turn
from hame.local.words import (
    Span,
    mentions,
    named_directories,
    named_files,
    occurrences,
    path_words,
    quoted,
    spans,
    unique,
)

MOST_CHOICES = 400
"""Choices for one argument, and combinations of the arguments before it."""
LONGEST_CHOICE = 200
"""Characters; a longer candidate is left out."""
_SEARCHED_CHARACTERS = 32 * 1024 * 1024
"""How much of a project is looked through to learn whether a search would find anything."""


class Candidates:
    """Where candidates come from: one tool in one turn."""

    def __init__(self, turn: Turn, index: Index, spec: ToolSpec) -> None:
        self._words = turn.words
        self._seen = turn.seen
        self._index = index
        self._spec = spec

    def choices(self, kind: ArgumentKind, before: tuple[str, ...]) -> tuple[str, ...]:
        """What an argument of that kind may be, after the arguments before it."""
        return unique(filter(_speakable, self._candidates(kind, before)), MOST_CHOICES)

    def _candidates(self, kind: ArgumentKind, before: tuple[str, ...]) -> Iterable[str]:
        match kind:
            case ArgumentKind.EXISTING_FILE:
                return self._readable_files()
            case ArgumentKind.EXISTING_DIRECTORY:
                return self._directories()
            case ArgumentKind.EXISTING_PATH:
                return (*self._files(), *self._directories())
            case ArgumentKind.NEW_PATH:
                return self._new_paths()
            case ArgumentKind.SEARCH_TEXT:
                return self._search_texts()
            case ArgumentKind.OLD_TEXT:
                return self._old_texts(before)
            case ArgumentKind.NEW_TEXT | ArgumentKind.WORDS:
                return self._new_texts(before)
            case ArgumentKind.NUMBER:
                return re.findall(r"(?<![\w.])\d{1,9}(?!\w|\.\w)", self._words)
            case ArgumentKind.CHOICE:
                return self._named_choices()
            case (
                ArgumentKind.COMMAND
                | ArgumentKind.PATTERN
                | ArgumentKind.URL
                | ArgumentKind.FLAG
                | ArgumentKind.ITEMS
            ):
                return ()

    def _files(self) -> list[str]:
        """Files that the user named, and, to look at, files that a result of this turn named."""
        files = self._index.files()
        named = named_files(self._words, files)
        if self._spec.effect is Effect.WRITE and named:
            return named
        return [*named, *(path for path in named_files(self._seen, files) if path not in named)]

    def _readable_files(self) -> list[str]:
        return [path for path in self._files() if self._index.text(path) is not None]

    def _directories(self) -> list[str]:
        directories = [path for path in self._index.directories() if path != "."]
        named = named_directories(self._words, directories)
        named += [path for path in named_directories(self._seen, directories) if path not in named]
        if named or self._files() or not speaks_of_files(self._words):
            return named
        return ["."]

    def _new_paths(self) -> Iterator[str]:
        files, directories = set(self._index.files()), set(self._index.directories())
        for span in path_words(self._words):
            path = span.text
            parents = {path[:place] for place, letter in enumerate(path) if letter == "/"}
            if path not in files and path not in directories and not parents & files:
                yield path

    def _search_texts(self) -> list[str]:
        places = self._paths_said()
        wanted = [
            span.text
            for span in (*quoted(self._words), *spans(self._words, 3))
            if is_subject(span.text) and not span.meets(places)
        ]
        return _found(wanted, self._index)

    def _paths_said(self) -> list[Span]:
        """Where the user's words name something that exists."""
        directories = [path for path in self._index.directories() if path != "."]
        named = named_files(self._words, self._index.files())
        return mentions(self._words, (*named, *named_directories(self._words, directories)))

    def _old_texts(self, before: tuple[str, ...]) -> list[str]:
        text = (self._index.text(before[0]) or "") if before else ""
        said = old_texts(self._words, mentions(self._words, before))
        return [span.text for span in said if span.text in text]

    def _new_texts(self, before: tuple[str, ...]) -> list[str]:
        said = new_texts(self._words, mentions(self._words, before))
        return [span.text for span in said if span.text not in before]

    def _named_choices(self) -> list[str]:
        choices = [choice for argument in self._spec.arguments for choice in argument.choices]
        return [choice for choice in choices if occurrences(self._words, choice)]


def _found(subjects: Sequence[str], index: Index) -> list[str]:
    """Those that stand in some file, as far as the project is looked through."""
    missing = dict.fromkeys(subjects)
    looked = 0
    for path in index.files():
        if not missing or looked > _SEARCHED_CHARACTERS:
            break
        text = index.text(path) or ""
        looked += len(text)
        for subject in [subject for subject in missing if subject in text]:
            del missing[subject]
    return [subject for subject in subjects if subject not in missing]


def _speakable(text: str) -> bool:
    """Whether a candidate fits one line of the protocol without being taken for two arguments."""
    return (
        0 < len(text) <= LONGEST_CHOICE
        and text.isprintable()
        and text == text.strip()
        and ": " not in text
        and " -> " not in text
    )
