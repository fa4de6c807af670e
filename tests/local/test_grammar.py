"""The grammar describes exactly the lines of the moves, and what is read is one of them."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from hame.base.lines import each
from hame.local.grammar import lark
from hame.local.move import Move, read_line

CHOICE = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")),
    min_size=1,
    max_size=8,
).filter(str.isprintable)
CHOICES = st.lists(CHOICE, min_size=1, max_size=8, unique=True).map(tuple)
MOVES = st.lists(
    st.one_of(
        st.builds(Move, st.just("show")),
        st.builds(Move, st.sampled_from(["list", "read"]), st.just("t"), choices=CHOICES),
        st.builds(
            Move,
            st.just("edit"),
            st.just("t"),
            values=st.tuples(CHOICE, CHOICE),
            separators=st.just((": ", " -> ")),
            choices=CHOICES,
        ),
    ),
    min_size=1,
    max_size=4,
)


@given(MOVES)
def test_the_one_terminal_holds_exactly_the_lines(moves: list[Move]) -> None:
    assert expand_lark(lark(moves)) == lines_of(moves)


@given(MOVES)
def test_every_line_is_read_as_one_of_the_moves(moves: list[Move]) -> None:
    for line in lines_of(moves):
        read = read_line(line, moves)
        assert read is not None
        assert read.move in moves
        assert line in set(each((read.move.lines,)))


@given(MOVES, st.text(max_size=20))
def test_no_other_line_is_read(moves: list[Move], text: str) -> None:
    assert (read_line(text, moves) is not None) == (text in lines_of(moves))


def test_moves_with_the_same_choices_share_a_rule() -> None:
    moves = [Move("list", choices=("a",)), Move("read", choices=("a",))]
    assert lark(moves).count('"a"') == 1


def test_quotes_and_backslashes_are_escaped() -> None:
    moves = [Move("say", choices=('a "b" \\c',))]
    assert expand_lark(lark(moves)) == {'say a "b" \\c'}


def lines_of(moves: list[Move]) -> set[str]:
    return set(each(move.lines for move in moves))


_STRING = r'"(?:[^"\\]|\\.)*"'


def expand_lark(grammar: str) -> set[str]:
    """All texts of the subset of Lark that hame writes."""
    head, start, *rest = grammar.split("\n")
    assert (head, start) == ("%llguidance {}", "start: STEP")
    body = "\n".join(rest).replace("\n  | ", " | ").split("\n")
    rules = dict(line.split(": ", 1) for line in body)
    choices = {
        name: [json.loads(item) for item in re.findall(_STRING, rule)]
        for name, rule in rules.items()
        if name != "STEP"
    }
    alternatives = re.findall(rf"({_STRING})(?: (CHOICE\d+))?(?: \| |$)", rules["STEP"])
    return {
        json.loads(prefix) + end
        for prefix, name in alternatives
        for end in (choices[name] if name else [""])
    }
