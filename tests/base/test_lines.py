"""Every way of writing a choice of lines means exactly these lines."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.lines import MOST_LINES, Lines, each, gbnf, lines_schema, listed, read_step, regex

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=8
).filter(lambda text: text == "" or text.isprintable())
ENDS = st.lists(TEXT.filter(bool), min_size=1, max_size=6, unique=True).map(tuple)
ALIKE = st.builds(Lines, TEXT, st.one_of(st.just(("",)), ENDS))
CHOICE = st.lists(ALIKE, min_size=1, max_size=5)


@given(CHOICE)
def test_the_trie_means_exactly_the_lines(lines: list[Lines]) -> None:
    assert expand(gbnf(lines)) == set(each(lines))


@given(CHOICE, TEXT)
def test_the_expression_means_exactly_the_lines(lines: list[Lines], other: str) -> None:
    meant = re.compile(regex(lines))
    assert all(meant.fullmatch(line) for line in each(lines))
    assert (meant.fullmatch(other) is not None) == (other in set(each(lines)))


@given(CHOICE)
def test_the_schema_means_exactly_the_lines(lines: list[Lines]) -> None:
    schema = lines_schema(lines)
    assert set(schema["properties"]["step"]["enum"]) == set(each(lines))
    assert schema["additionalProperties"] is False
    for line in each(lines):
        assert read_step(json.dumps({"step": line})) == line


@pytest.mark.parametrize("answer", ["", "read a.txt", "{}", '{"step": 3}', '["read"]', '{"step"'])
def test_what_is_no_answer_to_the_schema_is_no_line(answer: str) -> None:
    assert read_step(answer) is None


def test_alike_endings_are_written_once() -> None:
    ends = ("a.txt", "b.txt")
    assert gbnf([Lines("read ", ends), Lines("edit ", ends)]).count('"a.txt"') == 1


def test_what_begins_alike_is_written_once() -> None:
    lines = [Lines(f"edit config.txt: {number} -> ", ("x",)) for number in range(100)]
    assert gbnf(lines).count("config.txt") == 1


def test_a_line_may_be_the_beginning_of_another() -> None:
    lines = [Lines("show"), Lines("show me ", ("a", "all")), Lines("show", (" it",))]
    assert expand(gbnf(lines)) == {"show", "show me a", "show me all", "show it"}


def test_quotes_and_backslashes_are_escaped() -> None:
    lines = [Lines("say ", ('a "b" \\c',))]
    assert expand(gbnf(lines)) == {'say a "b" \\c'}


def test_a_server_that_wants_each_line_is_not_sent_more_than_it_can_take() -> None:
    many = [Lines("x", tuple(map(str, range(MOST_LINES))))] * 2
    more = [*many, Lines("y", tuple(map(str, range(MOST_LINES))))]
    assert len(listed(more)) <= MOST_LINES


# ---------------------------------------------------------------- the subset of GBNF that hame writes

_STRING = r'"(?:[^"\\]|\\.)*"'


def expand(grammar: str) -> set[str]:
    """All texts that a grammar means."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.split("\n"))
    texts, left = _alternatives(_tokens(rules["root"]), rules)
    assert not left
    return texts


def _tokens(expression: str) -> list[str]:
    return re.findall(rf"{_STRING}|e\d+|[()|?]", expression)


def _alternatives(tokens: list[str], rules: dict[str, str]) -> tuple[set[str], list[str]]:
    found: set[str] = set()
    while True:
        if tokens[0] in rules:
            texts, left = _alternatives(_tokens(rules[tokens[0]]), rules)
            assert not left
            found |= texts
            tokens = tokens[1:]
        else:
            stem, tokens, ends = json.loads(tokens[0]), tokens[1:], {""}
            if tokens[:1] == ["("]:
                ends, tokens = _alternatives(tokens[1:], rules)
                assert tokens[0] == ")"
                tokens = tokens[1:]
                if tokens[:1] == ["?"]:
                    ends, tokens = ends | {""}, tokens[1:]
            found |= {stem + end for end in ends}
        if tokens[:1] != ["|"]:
            return found, tokens
        tokens = tokens[1:]
