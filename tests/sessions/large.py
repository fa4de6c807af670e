"""Large session files of every shape, written without hame: one after the other line, quickly."""

from collections.abc import Callable, Iterator
from pathlib import Path

from hame.base.entry import (
    CallSettled,
    ConstraintAdded,
    Entry,
    HistoryCompacted,
    ModelAnswered,
    Record,
    ResultsElided,
    Rewound,
    SessionStarted,
    UserSaid,
)
from hame.base.json import dump_bytes
from hame.base.memory import Constraint
from hame.base.message import Assistant, Note, Text, ToolCall, User
from hame.base.outcome import Done, text_content

Shape = Callable[[int], Iterator[tuple[Entry, int]]]
"""Entries for about so many bytes, and how many records back from the one before each follows."""


def said(words: str) -> UserSaid:
    return UserSaid(message=User((Text(words),)))


def asked(number: int) -> ModelAnswered:
    call = ToolCall(f"c{number}", "read_file", {"path": f"src/f{number}.py"})
    return ModelAnswered(message=Assistant((Text(f"Step {number}."), call)))


def settled(number: int, text: str) -> CallSettled:
    return CallSettled(call_id=f"c{number}", name="read_file", outcome=Done(text_content(text)))


def beginning() -> Iterator[tuple[Entry, int]]:
    notes = (Note("The folder is /p.", "environment"), Text("Tidy the tea list."))
    yield UserSaid(message=User(notes)), 0
    demand = Constraint(id="c1", text="never touch vendor/", said="2")
    yield ConstraintAdded(constraint=demand), 0


def many_small_messages(size: int) -> Iterator[tuple[Entry, int]]:
    """No summary, and each message a few words."""
    yield from beginning()
    for number in range(size // 630):
        yield said(f"question {number}"), 0
        yield asked(number), 0
        yield settled(number, "yes"), 0


def large_results(size: int) -> Iterator[tuple[Entry, int]]:
    """No summary, and results of a megabyte that nobody has spilled."""
    yield from beginning()
    for number in range(size // 1_000_000):
        yield asked(number), 0
        yield settled(number, "0123456789" * 100_000), 0
    yield said("the end"), 0


def one_long_line(size: int) -> Iterator[tuple[Entry, int]]:
    """One result that is more than half of the file, with a usual session around it."""
    yield from beginning()
    yield asked(0), 0
    yield settled(0, "0123456789" * (size * 6 // 100)), 0
    for number in range(1, size // 250_000):
        yield asked(number), 0
        yield settled(number, "line\n" * 20_000), 0
    yield said("the end"), 0


def deep_tree(size: int) -> Iterator[tuple[Entry, int]]:
    """Every tenth turn the user went nine records back: most of the file is branches that were left."""
    yield from beginning()
    for number in range(size // 7_000):
        yield said(f"question {number}"), 0
        yield asked(number), 0
        yield settled(number, "line\n" * 1_300), 0
        if number % 10 == 9:
            yield Rewound(left="0"), 9


def elided_results(size: int) -> Iterator[tuple[Entry, int]]:
    """Results left out batch by batch: the view stays small without any summary."""
    yield from beginning()
    for number in range(size // 20_500):
        yield asked(number), 0
        yield settled(number, "line\n" * 3_350), 0
        if number % 40 == 39:
            stubs = {f"c{n}": f"[left out: result {n}]" for n in range(number - 39, number + 1)}
            yield ResultsElided(stubs=stubs), 0
    yield said("the end"), 0


def with_a_summary(size: int) -> Iterator[tuple[Entry, int]]:
    """Summarised near its end, as a session of hame's own is."""
    yield from beginning()
    for number in range(size // 20_500):
        yield said(f"question {number}"), 0
        yield asked(number), 0
        yield settled(number, "line\n" * 3_350), 0
    yield HistoryCompacted(summary="## Goal\nTea.", kept=3), 0
    yield said("the end"), 0


SHAPES: dict[str, Shape] = {
    shape.__name__: shape
    for shape in (
        many_small_messages,
        large_results,
        one_long_line,
        deep_tree,
        elided_results,
        with_a_summary,
    )
}


def write_large(path: Path, shape: str, size: int) -> int:
    """Write a session file of that shape; how many records it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    started = SessionStarted(session=path.stem, cwd="/p", hame="0.1.0")
    with path.open("wb") as file:
        file.write(dump_bytes(Record(id="1", parent=None, at=1.8e9, entry=started)) + b"\n")
        parent = 1
        for entry, back in SHAPES[shape](size):
            number += 1
            record = Record(
                id=str(number), parent=str(parent - back), at=1.8e9 + number, entry=entry
            )
            file.write(dump_bytes(record) + b"\n")
            parent = number
    return number
