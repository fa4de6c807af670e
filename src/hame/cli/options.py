"""The options of `hame`, once for the group and once for what follows the prompt's words.

Nothing here imports hame's rooms: this is all that `hame --help` loads.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import click

from hame.cli.completing import completing, find_models, find_sessions

F = TypeVar("F", bound=Callable[..., Any])

MODES = ("ask", "auto", "plan")
SANDBOXES = ("auto", "bubblewrap", "landlock", "none")
EFFORTS = ("none", "minimal", "low", "medium", "high", "max")
FORMATS = ("text", "json", "stream-json")
"""The values of the enumerations in `hame.base`; a test holds them together."""

SETTINGS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (
        ("--model", "-m", "model"),
        {
            "metavar": "BACKEND/MODEL",
            "help": "The model to ask.",
            "shell_complete": completing(find_models),
        },
    ),
    (
        ("--mode", "--permission-mode", "mode"),
        {"type": click.Choice(MODES), "help": "What runs without a question."},
    ),
    (
        ("--sandbox", "sandbox"),
        {"type": click.Choice(SANDBOXES), "help": "What confines commands."},
    ),
    (("--max-steps", "max_steps"), {"metavar": "N", "help": "Model requests in one run."}),
    (("--max-tokens", "max_tokens"), {"metavar": "N", "help": "Tokens of one run, in and out."}),
    (("--max-cost", "max_cost_usd"), {"metavar": "USD", "help": "Money of one run."}),
    (("--max-time", "max_time_s"), {"metavar": "SECONDS", "help": "Time of one run."}),
    (
        ("--add-dir", "add_dirs"),
        {"metavar": "DIR", "multiple": True, "help": "A folder beside the project; repeatable."},
    ),
    (
        ("--effort", "effort"),
        {"type": click.Choice(EFFORTS), "help": "How much the model should think."},
    ),
    (("--color/--no-color", "color"), {"default": None, "help": "Colours in the terminal."}),
    (("--accent", "accent"), {"metavar": "COLOUR", "help": "Colour of hame's own words."}),
    (
        ("--verbose", "verbose"),
        {"is_flag": True, "default": None, "help": "Tell on standard error what happens."},
    ),
    (
        ("--first-byte-timeout", "first_byte_timeout_s"),
        {"metavar": "SECONDS", "help": "Longest silence before an answer."},
    ),
    (
        ("--idle-timeout", "idle_timeout_s"),
        {"metavar": "SECONDS", "help": "Longest silence within an answer."},
    ),
    (
        ("--ollama-url", "providers.ollama.base_url"),
        {"metavar": "URL", "help": "Where Ollama is reached."},
    ),
    (
        ("--num-gpu", "providers.ollama.num_gpu"),
        {"metavar": "LAYERS", "help": "Layers that Ollama puts on the GPU; 0 for none."},
    ),
    (
        ("--tools/--no-tools", "tools"),
        {"default": None, "help": "Hand tools to the model natively, or in words."},
    ),
)
"""Options that are settings: their last name is the key."""

CONTROLS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (
        ("--print", "-p", "print"),
        {"is_flag": True, "help": "Answer one prompt and leave; standard input is added to it."},
    ),
    (("--prompt", "prompt"), {"metavar": "TEXT", "help": "The prompt of --print."}),
    (
        ("--output-format", "output_format"),
        {
            "type": click.Choice(FORMATS),
            "envvar": "HAME_OUTPUT_FORMAT",
            "help": "What --print writes.",
        },
    ),
    (
        ("--continue", "-c", "continue"),
        {"is_flag": True, "help": "Go on with the last session of this folder."},
    ),
    (
        ("--resume", "-r", "resume"),
        {
            "metavar": "ID",
            "envvar": "HAME_RESUME",
            "help": "Go on with that session.",
            "shell_complete": completing(find_sessions),
        },
    ),
    (
        ("--cwd", "-C", "cwd"),
        {"metavar": "DIR", "envvar": "HAME_CWD", "help": "Work in that folder."},
    ),
    # No variable: a folder's own environment file must not be able to say it.
    (("--trust", "trust"), {"is_flag": True, "help": "Trust the folder, for this run only."}),
)


def add_options(command: F) -> F:
    """Give a command all of them."""
    for names, attributes in reversed((*SETTINGS, *CONTROLS)):
        command = click.option(*_dashed(names), **attributes)(command)
    return command


def merge_options(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, object]:
    """Options from both sides of a prompt's words; those after the words win."""
    merged = {
        name: value if value not in {None, False} and value != () else before[name]
        for name, value in after.items()
    }
    for switch in ("color", "tools"):
        if after[switch] is not None:
            merged[switch] = after[switch]
    merged["add_dirs"] = _joined(before["add_dirs"], after["add_dirs"])
    return merged


def key_of(parameter: str) -> str:
    """The key of the setting behind click's name of an option."""
    return parameter.replace("__", ".")


def _joined(*lists: object) -> tuple[str, ...]:
    parts = [cast("tuple[str, ...]", part) for part in lists if isinstance(part, tuple)]
    return tuple(item for part in parts for item in part)


def _dashed(names: tuple[str, ...]) -> tuple[str, ...]:
    # click wants a Python name last.
    return (*names[:-1], names[-1].replace(".", "__"))
