"""The words that a command line's statements begin with."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.statement import leading_words


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cd sub && export A=1", ["cd", "export"]),
        ("make -C sub; ls | grep cd\nexport B=2", ["make", "ls", "grep", "export"]),
        ("(cd sub && make)", []),
        ("{ cd sub; }", []),
        ("echo 'cd x; export y'", ["echo"]),
        ('echo "a \\" ; cd x"', ["echo"]),
        ("echo a\\; cd x", ["echo"]),
        ("# cd nowhere\nls", ["ls"]),
        ("echo $(cd x && pwd)", ["echo"]),
        ("  cd  x", ["cd"]),
        (". venv/bin/activate", ["."]),
        ("./run.sh", ["./run.sh"]),
        ("'unclosed; cd", []),
        ("", []),
    ],
)
def test_statements_at_top_level_are_told_from_text(command: str, words: list[str]):
    assert leading_words(command) == words


@settings(deadline=None)
@given(st.text(alphabet="cd ;&|()'\"\\#\n{}$`a"))
def test_no_command_line_breaks_it(command: str):
    leading_words(command)
