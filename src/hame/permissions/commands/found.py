"""What the loose reader finds: every simple command of a line, at whatever depth it stands."""

import msgspec

UNKNOWN = "\0"
"""Stands in a word for what only the shell will know. No command line can hold it."""


class Spoken(msgspec.Struct, frozen=True):
    """A word of a command, as far as it is known before the shell runs."""

    text: str
    """Quotes removed, home and current folder put in, `UNKNOWN` for the rest."""
    glob: bool = False
    """Holds an unquoted pattern."""
    inner: tuple["Found", ...] = ()
    """Commands whose output becomes part of the word."""

    @property
    def known(self) -> bool:
        """Whether the shell adds nothing to it."""
        return UNKNOWN not in self.text and not self.glob


class Rerouted(msgspec.Struct, frozen=True):
    """A redirection."""

    operator: str
    target: Spoken

    @property
    def writes(self) -> bool:
        """Whether it opens its target for writing."""
        return ">" in self.operator


class Stage(msgspec.Struct, frozen=True):
    """A place in a pipeline: what stands at a lower one writes to it."""

    pipeline: tuple[int, ...]
    place: int


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One simple command."""

    words: tuple[Spoken, ...]
    assignments: tuple[tuple[str, Spoken], ...] = ()
    redirects: tuple[Rerouted, ...] = ()
    documents: tuple[str, ...] = ()
    """Bodies of its here-documents."""
    stages: tuple["Stage", ...] = ()
    """Where it stands in its pipeline, then in those of the groups around it."""

    @property
    def name(self) -> str:
        """The program's name without its folder, as far as it is known."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> tuple[Spoken, ...]:
        """All words but the first."""
        return self.words[1:]

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments' texts."""
        return tuple(word.text for word in self.words[1:])
