"""The tree of a file is what reading its records one by one makes of it, whatever it holds."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.entry import NoteAdded, UserSaid
from hame.sessions import history as history_module
from hame.sessions import lines as lines_module
from hame.sessions.history import read_history
from hame.sessions.tree import CODES, KINDS, STRANGER, Tree, last_in, places_in

NAMES = st.one_of(
    st.integers(0, 30).map(str), st.sampled_from(["x1", "007", "", "12345678901234567890", "²"])
)
RECORDS = st.lists(st.tuples(NAMES, st.none() | NAMES, st.booleans()), max_size=30)


class Naive:
    """The same by a dictionary."""

    def __init__(self) -> None:
        self.parents: dict[str, str | None] = {}
        self.strangers: set[str] = set()
        self.order: list[str] = []

    def add(self, name: str, parent: str | None, stranger: bool) -> bool:
        if name in self.parents:
            return False
        if parent is not None and parent not in self.parents:
            parent = self.order[-1] if self.order else None
        self.parents[name] = parent
        self.order.append(name)
        if stranger:
            self.strangers.add(name)
        return True

    def branch(self, head: str) -> list[str]:
        found: list[str] = []
        at: str | None = head
        while at is not None:
            if at not in self.strangers:
                found.append(at)
            at = self.parents[at]
        return found[::-1]


@given(RECORDS)
def test_names_places_and_branches_are_those_of_a_dictionary(
    records: list[tuple[str, str | None, bool]],
) -> None:
    tree, naive = Tree(), Naive()
    for number, (name, parent, stranger) in enumerate(records):
        code = STRANGER if stranger else 0
        place = tree.add(name, parent, code, offset=number * 10, size=10)
        assert (place >= 0) == naive.add(name, parent, stranger)
    assert [tree.name(place) for place in range(len(tree))] == naive.order
    for name in {name for name, _, _ in records}:
        assert tree.name(tree.find(name)) == name
    for name in ("nowhere", "31", "-1"):
        assert tree.find(name) == -1
    for place, name in enumerate(naive.order):
        branch = tree.branch(place)
        assert [tree.name(each) for each in branch] == naive.branch(name)
        assert bytes(tree.codes_of(branch)) == bytes(len(branch))
    numbers = [int(name) for name in naive.order if name.isascii() and name.isdigit()]
    assert tree.last_number == max(numbers, default=0)


def test_kinds_are_found_by_their_codes_whatever_bytes_these_are() -> None:
    codes = bytes(range(len(KINDS))) + bytes([CODES[UserSaid], STRANGER, CODES[NoteAdded]])
    for kind in KINDS:
        expected = [place for place, code in enumerate(codes) if code == CODES[kind]]
        assert list(places_in(codes, (kind,), 0)) == expected
        assert last_in(codes, (kind,)) == expected[-1]
    assert list(places_in(codes, (UserSaid, NoteAdded), len(KINDS))) == [
        len(KINDS),
        len(KINDS) + 2,
    ]
    assert last_in(b"", (UserSaid,)) == -1


def record(name: int, parent: int | None, text: str) -> bytes:
    above = None if parent is None else str(parent)
    entry = {"type": "note_added", "text": text, "source": "t"}
    return json.dumps(
        {"id": str(name), "parent": above, "at": 1.0, "entry": entry}, separators=(",", ":")
    ).encode()


PIECES = st.lists(
    st.one_of(
        st.builds(record, st.integers(1, 20), st.none() | st.integers(1, 20), st.text(max_size=60)),
        st.just(b""),
        st.just(b"\0\0\0"),
        st.just(b'{"id":"7","parent":"6","at":1.0,"entry":{"type":"to_come","x":1}}'),
        st.just(b'{"id":"4","parent":"3","at":1.0,"ent'),
        st.builds(
            lambda one: b'{"id":"4","par' + one,
            st.builds(record, st.just(9), st.none(), st.just("again")),
        ),
        st.just(
            b'{"id":"5","parent":null,"at":1.0,"entry":{"type":"note_added","text":"\xff","source":""}}'
        ),
        st.just(b"no JSON \r at all"),
    ),
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(PIECES, st.booleans(), st.integers(1, 300))
def test_a_file_reads_the_same_in_blocks_as_line_by_line(
    tmp_path: Path, pieces: list[bytes], ended: bool, chunk: int
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n".join(pieces) + (b"\n" if ended and pieces else b""))
    found = {}
    for size, long in ((1 << 20, 1 << 24), (1, 1 << 24), (chunk, 1 << 24)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lines_module, "CHUNK", size)
            patch.setattr(lines_module, "LONG", long)
            patch.setattr(history_module, "HELD", size)
            history = read_history(path)
            found[size] = (
                list(history.entries), list(history.ids), history.head, history.last_number,
                history.whole, history.size, history.unterminated, history.damaged,
                history.damage_end, history.version, history.notices,
                [each.id for each in history.records],
            )  # fmt: skip
    assert len({repr(each) for each in found.values()}) == 1


def test_a_long_line_is_told_by_its_frame_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "CHUNK", 200)
    monkeypatch.setattr(lines_module, "LONG", 1_000)
    monkeypatch.setattr("hame.sessions.pages.LONG", 1_000)
    path = tmp_path / "s.jsonl"
    # A frame is only trusted where the line is whole and holds one record.
    whole, torn = record(2, 1, "x" * 3_000), record(3, 2, "y" * 3_000)
    two = torn[:2_000] + record(4, 2, "z" * 3_000)
    path.write_bytes(b"\n".join([record(1, None, "a"), whole, two, record(5, 4, "b"), b""]))
    history = read_history(path)
    assert list(history.ids) == ["1", "2", "4", "5"]
    assert history.damaged == (3,)
    words = [each.text for each in history.entries if isinstance(each, NoteAdded)]
    assert words[0] == "a"
    assert words[3] == "b"
    assert "too large to be shown" in words[1]
    assert history.records[1].entry == NoteAdded(text="x" * 3_000, source="t")
    path.write_bytes(b"\n".join([record(1, None, "a"), whole]))
    assert (read_history(path).unterminated, read_history(path).torn) == (True, False)
    path.write_bytes(b"\n".join([record(1, None, "a"), whole[:-20]]))
    assert (read_history(path).torn, list(read_history(path).ids)) == (True, ["1"])
