"""The loose reader finds every command, whatever it hides in."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.permissions.commands.found import UNKNOWN, Found
from hame.permissions.commands.loose import find_commands
from hame.permissions.commands.wrapped import unwrap


def said(found: Found) -> str:
    return " ".join(word.text.replace(UNKNOWN, "?") for word in found.words)


def found(text: str) -> list[str]:
    return [said(inner) for each in find_commands(text, home="/h") for inner in unwrap(each, "/h")]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("echo $(a b)", "a b"),
        ('echo "x `a \\`c\\` b`"', "c"),
        ("cat <(a b)", "a b"),
        ("x=${y:-$(a b)}", "a b"),
        ("echo $((1 + $(a b)))", "a b"),
        ("cat <<E\n$(a b)\nE", "a b"),
        ("cat <<-E\n\t`a b`\n\tE\nc d", "c d"),
        ("cat <<E", "cat"),
        ("sh <<'E'\na b\nE", "a b"),
        ("bash <<< 'a b'", "a b"),
        ("f() { a b; }; f", "a b"),
        ("if x; then a b; fi", "a b"),
        ("for i in 1 2; do a b; done", "a b"),
        ("case x in y) a b;; esac", "a b"),
        ("{ (a b) }", "a b"),
        ("! a b", "a b"),
        ("time a b", "a b"),
        ("x | a b &", "a b"),
        ("a\\\n b", "a b"),
        ("'a' \"b\"", "a b"),
        ("$'\\x61' $'\\142' $'\\n'", "a b \n"),
        ('$"a" b', "a b"),
        ("a ~ ~/x ~+ ~u $HOME ${PWD}/y $PPID $1 $", "a /h /h/x . /u /h ./y $PPID ? $"),
        ("a {b,c}d {~/e,f}", "a bd cd /h/e f"),
        ("sh -c 'a b'", "a b"),
        ("bash -lc 'a b'", "a b"),
        ("sh -c", "sh -c"),
        ("eval a b", "a b"),
        ("trap 'a b' EXIT", "a b"),
        ("ssh host a b", "a b"),
        ("su -c 'a b'", "a b"),
        ("env -i X=1 a b", "a b"),
        ("env -S 'a b' c", "a b c"),
        ("env --split-string='a b'", "a b"),
        ("timeout -s KILL 5 a b", "a b"),
        ("timeout --signal KILL 5 a b", "a b"),
        ("nice -n 5 nohup setsid a b", "a b"),
        ("xargs -n 1 -I{} a b", "a b"),
        ("find . -exec a {} \\;", "a ?"),
        ("fd x -x a b", "a b"),
        ("busybox a b", "a b"),
        ("/lib64/ld-linux-x86-64.so.2 a b", "a b"),
        ("watch -n1 sh -c 'a b'", "a b"),
        ("arr=(a b)", "a b"),
        ("x[1]=2 a b", "a b"),
    ],
)
def test_a_command_is_found_where_it_hides(text: str, hidden: str) -> None:
    assert hidden in found(text)


@pytest.mark.parametrize(
    ("text", "feeds"),
    [
        ("(a; b) | c && d", "ac bc"), ("{ a; b; } | c; d", "ac bc"), ("a | { b; c; }", "ab ac"), ("a | (b; c) | d", "ab ac ad bd cd"),
        ("if a; then b; fi | c", "ac bc"), ("while a; do b; done | c", "ac bc"), ("a |\n\n b", "ab"), ("a | # x\n b", "ab"), ("a\nb", ""),
        ("a | until b; do c | d; done", "ab ac ad cd"), ("case x in y) a;; (zz) b;; esac | c", "ac bc"), ("a) | b", "ab"), ("a; } | b", ""),
        ("sh -c 'a; b' | c", "ac bc"), ("a | sh -c 'b | c'", "ab ac bc"), ("bash -c 'a; b'", ""), ("a $(b) | c", "ac"), ("f() { a; }; b", ""),
        ("a | b & c", "ab"), ("a |& b", "ab"), ("a || b", ""), ("{ { a; } | b; } | c", "ab ac bc"), ("a | env b", "ab"),
    ],
)  # fmt: skip
def test_what_flows_into_what(text: str, feeds: str) -> None:
    commands = [inner for each in find_commands(text, home="") for inner in unwrap(each, "")]
    single = [each for each in commands if len(each.name) == 1]
    seen = {
        one.name + other.name
        for one in single
        for other in single
        for stage in one.stages
        for behind in other.stages
        if stage.pipeline == behind.pipeline and stage.place < behind.place
    }
    assert seen == set(feeds.split())


def test_assignments_and_redirections_belong_to_their_command() -> None:
    (command,) = find_commands("A=1 B+=$x a 2>>log <in >&2 b", home="")
    assert [name for name, _ in command.assignments] == ["A", "B"]
    assert said(command) == "a b"
    assert [(each.operator, each.target.text, each.writes) for each in command.redirects] == [
        (">>", "log", True), ("<", "in", False), (">&", "2", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "a|" * 4000,
        "(a;" * 2700,
        "{ a;" * 2000,
        "sh|" * 2700,
        "$(" * 4000,
        "`" * 8000,
        "{a,b}" * 1000,
        "'" * 8001,
        "<(" * 3000,
        "${" * 3000,
    ],
)
def test_hostile_lengths_take_no_time(text: str) -> None:
    began = time.perf_counter()
    find_commands(text, home="/h")
    assert time.perf_counter() - began < 2


@given(st.text(alphabet="ab $(){}`'\"\\|&;<>\n~*[]=#!0-", max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_the_reader(text: str) -> None:
    for command in find_commands(text, home="/h"):
        list(unwrap(command, "/h"))
