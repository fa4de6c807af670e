"""Pieces of a text: quotes, runs of words, names of paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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

FILES = ["Makefile", "README.md", "docs/guide.md", "my notes.txt", "src/app.py", "src/app.pyi"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('put "a, b!" there', ["a, b!"]),
        ("replace 'old one' by `new one`", ["old one", "new one"]),
        ("the project's and the users' names", []),
        ("say “so it is” now", ["so it is"]),
        ('an "" empty one', []),
    ],
)
def test_quoted_texts_are_found_and_apostrophes_are_not(text: str, found: list[str]) -> None:
    assert [span.text for span in quoted(text)] == found


@given(st.text(max_size=60), st.integers(1, 5))
def test_every_span_stands_where_it_says(text: str, longest: int) -> None:
    for span in spans(text, longest):
        assert 0 <= span.start < span.end <= len(text)
        assert span.text == " ".join(text[span.start : span.end].split())
        assert len(span.text.split()) <= longest


def test_outer_punctuation_is_dropped_and_inner_kept() -> None:
    assert [s.text for s in spans("(call f(x), please!)", 2)] == [
        "call", "call f(x)", "f(x)", "f(x), please!", "please!",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("write hi to notes.txt.", ["notes.txt"]),
        ("make ./docs/new.md, please", ["docs/new.md"]),
        ("add a Dockerfile and .env.example", ["Dockerfile", ".env.example"]),
        ("write ../up.txt and /etc/passwd and ~/x.txt", []),
        ("version 0.3.1 costs 1.50", []),
        ("see https://example.org/a.txt", []),
    ],
)
def test_path_words_are_paths_inside_the_project(text: str, paths: list[str]) -> None:
    assert [span.text for span in path_words(text)] == paths


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Show src/app.py.", ["src/app.py"]),
        ("Show ./src/app.py", ["src/app.py"]),
        ("Show app.py's imports", ["src/app.py"]),
        ("Show app.pyi", ["src/app.pyi"]),
        ("Show lib/app.py", []),
        ("open my notes.txt", ["my notes.txt"]),
        ("what does the readme say", ["README.md"]),
        ("open the makefile", ["Makefile"]),
        ("src/app.py:3: import x", ["src/app.py"]),
        ("the guide", []),
    ],
)
def test_files_are_named_by_path_name_or_where_nothing_else_is_by_stem(
    text: str, named: list[str]
) -> None:
    assert named_files(text, FILES) == named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("list src", ["src"]),
        ("list src/", ["src"]),
        ("list src/lib.", ["src/lib"]),
        ("list lib", ["src/lib"]),
        ("read src/app.py", []),
        ("srcs", []),
    ],
)
def test_directories_are_named_by_path_or_name(text: str, named: list[str]) -> None:
    assert named_directories(text, ["docs", "src", "src/lib"]) == named


def test_a_name_inside_a_longer_one_does_not_count() -> None:
    assert occurrences("test_util.py and util.py.bak and my-util.py", "util.py") == []
    assert occurrences("util.py; util.py", "util.py") == [
        Span("util.py", 0, 7),
        Span("util.py", 9, 16),
    ]


def test_a_path_is_mentioned_by_its_name_too() -> None:
    assert mentions("in app.py", ["src/app.py"]) == [Span("app.py", 3, 9)]


def test_unique_keeps_the_first_few_in_order() -> None:
    assert unique(iter(["b", "a", "b", "c"]), 2) == ("b", "a")
