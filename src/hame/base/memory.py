"""What is remembered of a session beside its words; pure data.

Demands of the user's, what fills a model's window, what a provider's cache did.
"""

from enum import StrEnum

import msgspec


class ConstraintKind(StrEnum):
    """What sort of demand it is."""

    NEVER = "never"
    """Something that must not be done."""
    ALWAYS = "always"
    """Something that must be done each time."""
    USE = "use"
    """A means that is to be used, or used instead of another."""
    LIMIT = "limit"
    """Only this and nothing else."""
    CORRECTION = "correction"
    """The user put right what was done or said."""


class Constraint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A demand of the user's that holds until it is taken back."""

    id: str
    """Within the session: `c1`, `c2`, ..."""
    text: str
    """The demand in the user's own words; one line."""
    kind: ConstraintKind = ConstraintKind.ALWAYS
    scope: str = ""
    """What it is about: paths or tools it names; empty: everything."""
    said: str = ""
    """Id of the record it was said in; empty where it was added by hand."""
    since: float = 0.0
    """Unix time in seconds."""
    found_by: str = "phrase"
    """`phrase`, `model` or `user`."""


class CacheReading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a provider's cache should have served for one request, and what it did."""

    model: str
    at: float
    """Unix time of the request in seconds."""
    messages: int
    """Messages of the request."""
    digest: str
    """Hash of everything in the request: the prefix that the next one should begin with."""
    size: int
    """Bytes of it, as hame writes messages."""
    kept: int = 0
    """Bytes of the request before it that this one begins with."""
    broke: str = ""
    """What made the beginnings differ; empty when nothing did."""
    expected: int = 0
    """Tokens that should have come from the cache."""
    got: int = 0
    """Tokens that did."""
    total: int = 0
    """Tokens of the whole request."""
    why: str = ""
    """Why fewer came than should have; empty when it was as expected."""
    lost_usd: float | None = None
    """What the miss cost; None when it is unknown or there was none."""


class WindowPart(msgspec.Struct, frozen=True):
    """A part of what fills a model's window."""

    name: str
    tokens: int
    count: int = 0


class WindowReport(msgspec.Struct, frozen=True, kw_only=True):
    """What fills a model's window, by part."""

    window: int
    """Tokens the model takes."""
    assumed: bool = False
    """The window is not known; this is what hame takes it to be."""
    total: int
    measured: bool = False
    """The total comes from the provider's own count."""
    parts: tuple[WindowPart, ...]
    advice: tuple[str, ...] = ()


class Shortened(msgspec.Struct, frozen=True, kw_only=True):
    """What shortening the model's view came to."""

    tokens_before: int
    tokens_after: int
    summary: str = ""
    """Empty when only old results were left out."""
    trouble: str = ""
    """Why the model's own summary could not be used, where it could not."""


class KeptWords(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the user said, kept word for word when the rest is summarised."""

    text: str
    cut: int = 0
    """Characters that were left out of the middle."""
