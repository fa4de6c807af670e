"""Globs mean the same everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.glob import compile_glob, fixed_folder, names_folder, names_hidden


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("*.py", ["a.py", "src/deep/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("./*.py", ["a.py", "src/a.py"], ["a.txt"]),
        ("/*.py", ["a.py"], ["src/a.py"]),
        ("src/*.py", ["src/a.py"], ["src/deep/a.py", "lib/src/a.py", "src"]),
        ("**/x", ["x", "a/x", "a/b/x"], ["ax", "x/a"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "srcs/a"]),
        ("src/", ["src/a", "src/a/b"], ["src"]),
        ("src/**/x", ["src/x", "src/a/b/x"], ["x", "src/ax"]),
        ("**/src/**", ["src/a", "lib/src/a/b"], ["src", "lib/src"]),
        ("**", ["a", "a/b"], []),
        ("a**b", ["ab", "axyb", "d/ab"], ["ax/yb"]),
        ("a?c", ["abc"], ["ac", "a/c"]),
        ("[a-c].txt", ["b.txt"], ["d.txt", "[a-c].txt"]),
        ("[!a-c].txt", ["d.txt"], ["b.txt"]),
        ("[^a].txt", ["d.txt"], ["a.txt"]),
        ("[]].txt", ["].txt"], ["a.txt"]),
        ("[.txt", ["[.txt"], ["a.txt"]),
        ("[z-a]", ["[z-a]"], ["b"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[+--]", ["+", ",", "-"], ["a"]),
        ("[&&~~||]", ["&", "~", "|"], ["a"]),
        ("src/[/]x", ["src/[/]x"], ["src//x"]),
        ("*.{ts,tsx}", ["a.ts", "a.tsx"], ["a.js", "a.{ts,tsx}"]),
        ("{a,b/{c,d}}.py", ["a.py", "b/c.py", "b/d.py"], ["c.py", "b.py"]),
        ("{**/x,y}", ["x", "a/x", "y"], ["a/y"]),
        ("{src/**,y}", ["src/a", "y"], ["src"]),
        ("{a,b", ["{a,b"], ["a"]),
        (r"{a\}", [r"{a}"], ["a"]),
        ("{[}],b}", ["}", "b"], ["["]),
        ("{a,{b,c}", ["{a,b", "{a,c"], ["a"]),
        ("a}b,c", ["a}b,c"], ["a"]),
        (r"\*.py", ["*.py"], ["a.py"]),
        ("a\\", ["a\\"], ["a"]),
        ("a+b(c).py", ["a+b(c).py"], ["aab(c).py", "abc.py"]),
        ("new\nline", ["new\nline"], ["newline"]),
        ("A.py", ["A.py"], ["a.py"]),
    ],
)
def test_a_pattern_matches(pattern: str, matching: list[str], others: list[str]) -> None:
    matches = compile_glob(pattern).fullmatch
    assert [path for path in matching if not matches(path)] == []
    assert [path for path in others if matches(path)] == []


def test_many_double_stars_take_no_longer_than_one() -> None:
    assert not compile_glob("**/" * 30 + "x").fullmatch("a/" * 60 + "y")


@given(pattern=st.text("ab*?[]{},!^-\\/.", max_size=12), path=st.text("ab/.", max_size=8))
def test_every_pattern_can_be_used(pattern: str, path: str) -> None:
    compile_glob(pattern).fullmatch(path)


@given(path=st.lists(st.text("ab*?[]{},!^\\ ", min_size=1, max_size=4), min_size=1).map("/".join))
def test_a_path_written_with_escapes_matches_itself(path: str) -> None:
    pattern = "/" + "".join(f"\\{letter}" if letter in "*?[]{}\\," else letter for letter in path)
    assert compile_glob(pattern).fullmatch(path)


@pytest.mark.parametrize(
    "pattern", [".github/**", "src/.x", "**/.env*", ".*", "{.a,b}", "{a,.b}", "a/.b/c"]
)
def test_a_pattern_that_names_a_hidden_file_says_so(pattern: str) -> None:
    assert names_hidden(pattern)


@pytest.mark.parametrize("pattern", ["*.py", "./a", "../a", "a.b/c.d", "**/*", "..", "a{b,c}.d"])
def test_a_dot_within_a_name_hides_nothing(pattern: str) -> None:
    assert not names_hidden(pattern)


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [
        ("src/deep/*.py", ("src", "deep")),
        ("src/a.py", ("src",)),
        ("src/", ("src",)),
        ("./src/x", ("src",)),
        ("*.py", ()),
        ("s*/deep/a", ()),
        ("src/*/deep/a", ("src",)),
        ("../x/a", ()),
        ("src/{a,b}/c", ("src",)),
    ],
)
def test_the_folder_a_pattern_begins_in_is_known(pattern: str, folder: tuple[str, ...]) -> None:
    assert fixed_folder(pattern) == folder


def test_a_folder_is_named_by_a_whole_component() -> None:
    assert names_folder(".git/hooks/*", ".git")
    assert not names_folder(".github/*", ".git")
