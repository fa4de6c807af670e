"""Slash commands of the conversation: their names, and how a line is read as one."""

import re

import msgspec

from hame.base.errors import ConfigError
from hame.base.settings import Mode
from hame.cli.cells import wrap

COMMANDS: dict[str, tuple[str, str]] = {
    "help": ("", "what can be typed here"),
    "model": ("[NAME|WORDS]", "show or search models, or ask another from now on"),
    "mode": ("[ask|auto|plan]", "show or change what runs without a question"),
    "trust": ("[below|revoke]", "see what this folder brings, and trust it or not"),
    "cost": ("", "tokens and money of this session"),
    "context": ("", "what fills the model's window"),
    "compact": ("[FOCUS]", "summarise what came so far, for the model"),
    "constraints": ("[add|change|remove ...]", "your demands that hold"),
    "cache": ("", "what the provider's cache did"),
    "rename": ("NAME", "give this session a name"),
    "label": ("NAME", "name this place in the conversation"),
    "undo": ("[STEP] [files|conversation] [over]", "take back the last changes, or to a step"),
    "rewind": ("[PROMPT|LABEL|#N] [files|conversation]", "list the prompts, or go back to a place"),
    "fork": ("[LABEL]", "go on in a copy, from here or a label"),
    "export": ("FILE", "write the session as .md, .json or .html"),
    "clear": ("", "begin a new session"),
    "sessions": ("", "list the sessions of this folder"),
    "resume": ("[ID]", "go on with another, or the last, session"),
    "quit": ("", "leave"),
}

_KEYS = (
    "Anything else goes to the model; while it works, what you send is delivered at its next step.",
    "@path attaches a file; Tab completes. Alt-Enter, or \\ before Enter, begins a new line.",
    "Ctrl-C stops the run, a second one kills it; Ctrl-D leaves.",
)

_COMMAND = re.compile(r"/([a-z-]+)(?:\s+(.*))?", re.DOTALL)


class Slash(msgspec.Struct, frozen=True):
    """A slash command that was typed."""

    name: str
    argument: str


def read_slash(line: str) -> Slash | None:
    """The command in a line; None for a line that goes to the model.

    A path such as /usr/lib is no command, nor is anything after a space.

    Raises:
        ConfigError: if it looks like a command and there is none of that name.
    """
    match = _COMMAND.fullmatch(line.rstrip())
    if match is None:
        return None
    name = match[1]
    if name not in COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(name, COMMANDS, n=1)
        raise ConfigError(
            f"there is no command /{name}{f', did you mean /{near[0]}?' if near else ''}",
            hint="/help lists them; a line that starts with a space goes to the model as it is.",
        )
    return Slash(name, (match[2] or "").strip())


def read_mode(word: str) -> Mode:
    """A mode by its name.

    Raises:
        ConfigError: if there is no such mode.
    """
    try:
        return Mode(word.strip().lower())
    except ValueError as error:
        raise ConfigError(f"there is no mode {word}", hint=f"Modes: {', '.join(Mode)}.") from error


def help_lines(columns: int) -> list[str]:
    """What `/help` says, in lines of at most `columns` cells."""
    spoken = {f"/{name} {form}".rstrip(): about for name, (form, about) in COMMANDS.items()}
    indent = min(max(map(len, spoken)), columns // 3) + 2
    lines: list[str] = []
    for form, about in spoken.items():
        first, *more = wrap(about, columns - indent)
        beside = len(form) <= indent - 2
        lines += (
            [f"{form:<{indent}}{first}"] if beside else [*wrap(form, columns), " " * indent + first]
        )
        lines += [" " * indent + part for part in more]
    return [*lines, "", *(part for words in _KEYS for part in wrap(words, columns))]
