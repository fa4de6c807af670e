"""What is read for certain, and what is left to a question."""

import pytest

from hame.permissions.commands.line import Flow, Redirect, UnreadableError, Word
from hame.permissions.commands.reading import read_certainly


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command] for command in read_certainly(text).commands]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls -la src", [["ls", "-la", "src"]]),
        ("a && b || c; d | e\nf", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("echo 'a b' \"c d\" e\\ f", [["echo", "a b", "c d", "e f"]]),
        ('echo "say \\"hi\\" \\\\ \\a"', [["echo", 'say "hi" \\ \\a']]),
        ('grep "foo$" x', [["grep", "foo$", "x"]]),
        ("a'b'\"c\"", [["abc"]]),
        ("ls # not this ; rm x\npwd", [["ls"], ["pwd"]]),
        ("ls \\\n  -la", [["ls", "-la"]]),
        ("[ -d src ] && ls", [["[", "-d", "src", "]"], ["ls"]]),
        ("[ ! -f 'a b' ]", [["[", "!", "-f", "a b", "]"]]),
        ("find . \\( -name a \\)", [["find", ".", "(", "-name", "a", ")"]]),
        ("ls;", [["ls"]]),
    ],
)
def test_plain_lines_are_read_as_bash_reads_them(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "# only this", "ls &&", "| ls", "ls ;; pwd", "ls |& cat", "ls & pwd", "(ls)", "{ ls; }", "ls )",
        "$x", "echo $x", 'echo "$x"', 'echo "`id`"', "echo `id`", "echo $(id)", "cat <(id)", "A=b ls", "time A=b ls",
        "if true; then ls; fi", "! ls", "f() { ls; }", "ls {a,b}", "echo a'b'*", "cat 2>x<y", "cat <<E\nE", "cat <<<x",
        "ls > ", ">x ls", "ls >|x", "ls 3>x", "ls 2>&3", "ls >&x", "cat 0<x", "ls -l3>&1", "echo 'a", 'echo "a',
        "echo a\\", "echo a\\\nb", 'echo "a\\\nb"', "~root/x", "echo a=~/x", "echo ~'x'", "sort 2>/dev/null -o x",
        'echo x"y"\\;z', "echo { {", "ls\x01", "%1", 'echo "a $ b"', "[[ a ]]", "ls\r", "echo $'x'", "ls <> x",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_not_read(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_certainly(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cat <<E\nE", "it holds a here-document"),
        ("cat <<<x", "it holds a here-document"),
        ("make &", "it runs something in the background"),
        ("make & ls", "it runs something in the background"),
        ("make&", "& follows a word without a blank"),
    ],
)
def test_why_it_is_not_read_is_said_in_words_for_people(text: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        read_certainly(text)


def test_redirections_say_what_they_do() -> None:
    line = read_certainly("a < in 2>/dev/null | b >> out 2>&1 | c &> all")
    assert line.redirects == (
        Redirect(Flow.READ, Word("in")),
        Redirect(Flow.NOTHING, Word("/dev/null")),
        Redirect(Flow.WRITE, Word("out")),
        Redirect(Flow.NOTHING, Word("&1")),
        Redirect(Flow.WRITE, Word("all")),
    )


def test_patterns_and_home_are_marked() -> None:
    (command,) = read_certainly("ls src/*.py ~/x '*' \\~").commands
    assert command[1:] == (
        Word("src/*.py", glob=True), Word("~/x", tilde=True), Word("*"), Word("~"),
    )  # fmt: skip


def test_a_line_of_very_many_commands_is_for_eyes() -> None:
    assert len(read_certainly("; ".join(["ls"] * 64)).commands) == 64
    with pytest.raises(UnreadableError, match="65 commands"):
        read_certainly("; ".join(["ls"] * 65))
