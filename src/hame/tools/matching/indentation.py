"""How the indentation of a file differs from what a model wrote, and following it."""

import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec

_WIDTH = 4
"""Spaces that a tab stands for where nothing tells."""


def indent_of(line: str) -> str:
    """The spaces and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


class Shift(msgspec.Struct, frozen=True):
    """Which indentation of the file stands for which of the model's."""

    known: dict[str, str]
    """From the model's to the file's."""
    first: str | None = None
    """The file's indentation of the first line, where the model left it out there alone."""

    def apply(self, lines: Sequence[str]) -> list[str]:
        """The model's lines, indented as the file is; blank ones are empty."""
        return [
            self._shifted(line, first=index == 0 and self.first is not None)
            for index, line in enumerate(lines)
        ]

    def _shifted(self, line: str, *, first: bool) -> str:
        if not line.strip():
            return ""
        indent = indent_of(line)
        if first and not indent:
            return f"{self.first}{line}"
        return self._translated(indent) + line[len(indent) :]

    def _translated(self, indent: str) -> str:
        """The file's indentation for one of the model's, also for one that was not seen."""
        if indent in self.known:
            return self.known[indent]
        inner = max(
            (known for known in self.known if indent.startswith(known)), key=len, default=None
        )
        if inner is not None:
            return self.known[inner] + self._step(indent[len(inner) :])
        outer = min(
            (known for known in self.known if known.startswith(indent)), key=len, default=None
        )
        if outer is None:
            return indent
        step = self._step(outer[len(indent) :])
        return self.known[outer].removesuffix(step)

    def _step(self, step: str) -> str:
        """A further step of indentation in the file's own style."""
        theirs, ours = self._rate()
        if not theirs or not ours:
            return step
        times, rest = divmod(len(step), len(theirs))
        return step if rest or step.strip(theirs[0]) else ours * times

    def _rate(self) -> tuple[str, str]:
        """One step of the model's and the step of the file's that stands for it."""
        pairs = sorted(self.known.items(), key=lambda pair: len(pair[0]))
        rates = [
            (their_inner[len(their) :], our_inner[len(our) :])
            for (their, our), (their_inner, our_inner) in pairwise(pairs)
            if their_inner.startswith(their) and our_inner.startswith(our)
        ]
        # One pair alone tells how a tab is written, but not how deep a step is.
        rates += [(their, our) for their, our in pairs if their and our and their[0] != our[0]]
        return min(map(_reduced, rates), key=lambda rate: len(rate[0]), default=("", ""))


def find_shift(theirs: Sequence[str], ours: Sequence[str]) -> Shift | None:
    """How the file's lines `ours` are indented compared with `theirs`; None when not uniformly.

    Both have the same lines but for their indentation.
    """
    pairs = [
        (indent_of(their), indent_of(our))
        for their, our in zip(theirs, ours, strict=True)
        if their.strip()
    ]
    known = _uniform(pairs)
    if known is not None:
        return Shift(known)
    if pairs and not pairs[0][0]:
        known = _uniform(pairs[1:])
        if known is not None:
            return Shift(known, first=pairs[0][1])
    return None


def describe_indent(indent: str) -> str:
    """`4 spaces`, `1 tab`, `nothing`, `spaces and tabs`."""
    if not indent:
        return "nothing"
    if len(set(indent)) > 1:
        return "spaces and tabs"
    kind = "space" if indent[0] == " " else "tab"
    return f"{len(indent)} {kind}{'' if len(indent) == 1 else 's'}"


def _uniform(pairs: Sequence[tuple[str, str]]) -> dict[str, str] | None:
    """One of the file's for each of the model's, in the same order of depth; else None."""
    known: dict[str, str] = {}
    for their, our in pairs:
        if known.setdefault(their, our) != our:
            return None
    ordered = sorted(known.items(), key=lambda pair: _columns(pair[0]))
    depths = [_columns(our) for _, our in ordered]
    return known if all(a < b for a, b in pairwise(depths)) else None


def _columns(indent: str) -> int:
    return len(indent.expandtabs(_WIDTH))


def _reduced(rate: tuple[str, str]) -> tuple[str, str]:
    """The smallest step of the same rate: 8 spaces for 2 tabs is 4 for 1."""
    theirs, ours = rate
    if not theirs or not ours or not re.fullmatch(r" +|\t+", theirs) or len(set(ours)) != 1:
        return "", ""
    for parts in range(min(len(theirs), len(ours)), 1, -1):
        if len(theirs) % parts == 0 and len(ours) % parts == 0:
            return theirs[: len(theirs) // parts], ours[: len(ours) // parts]
    return theirs, ours
