import pytest

from hame.base.errors import ConfigError
from hame.base.settings import Mode
from hame.cli.slash import COMMANDS, Slash, help_lines, read_mode, read_slash


@pytest.mark.parametrize(
    ("line", "slash"),
    [
        ("/help", Slash("help", "")),
        ("/model a/b ", Slash("model", "a/b")),
        ("explain /help", None),
        (" /help", None),
        ("/usr/lib is full", None),
        ("/ 2", None),
        ("", None),
    ],
)
def test_only_a_line_that_begins_with_a_command_is_one(line, slash):
    assert read_slash(line) == slash


def test_a_command_that_does_not_exist_is_not_sent_to_the_model():
    with pytest.raises(ConfigError, match="no command /modell") as caught:
        read_slash("/modell x")
    assert "did you mean /model?" in caught.value.message
    assert "/help" in caught.value.hint


def test_modes_are_read_by_name():
    assert read_mode(" Auto") is Mode.AUTO
    with pytest.raises(ConfigError) as caught:
        read_mode("yolo")
    assert caught.value.hint == "Modes: ask, auto, plan."


def test_the_help_lists_every_command():
    text = "\n".join(help_lines(80))
    assert all(f"/{name}" in text for name in COMMANDS)


@pytest.mark.parametrize("columns", [24, 40, 80, 200])
def test_the_help_fits_the_terminal_and_leaves_nothing_out(columns):
    lines = help_lines(columns)
    assert max(map(len, lines)) <= columns
    said = " ".join(" ".join(lines).split())
    assert all(about in said for _form, about in COMMANDS.values())
