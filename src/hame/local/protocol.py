"""The one-line protocol: how a small model is asked, and how its line is read.

It is asked with a system line, examples, and the present turn; the part before the user's words is the
same in every request with the same tools, so the server keeps it. For the built-in model that is written
in ChatML, without a space before the answer: with one, it splits the first verb into rare tokens.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from hame.base.tool import ArgumentKind, MaskForm, ToolSpec
from hame.local.move import SAY, SHOW
from hame.local.turn import Step, Turn

NEUTRAL_WORDS = "Do the task."
"""What stands for the user's words when a verb's own likelihood is measured."""
MOST_RESULT = 500
"""Characters of a result that the model is shown."""
MOST_WORDS = 1_500
"""Characters of the user's words that the model is shown."""
UNSEEN = -20.0
"""Log-probability of a verb that is not among the likeliest tokens."""

Role = Literal["system", "user", "assistant"]


class Said(msgspec.Struct, frozen=True):
    """One message of the protocol."""

    role: Role
    text: str


class _Example(msgspec.Struct, frozen=True):
    """A conversation of two steps."""

    words: str
    line: str
    result: str
    answer: str


_EXAMPLES = (
    _Example("Read orchard.md and tell me its title.", "read orchard.md", "# Pomona\n\nNotes on pears.", "say Pomona"),
    _Example("Which files are in brook?", "list brook", "pike.py\ntrout.py", "show"),
    _Example("Create ferry.txt with the text see you.", "write ferry.txt: see you", "Created ferry.txt", "say done"),
    _Example("Which file defines the class Heron?", "find Heron", "brook/trout.py:3: class Heron:", "say brook/trout.py"),
    _Example("Change crimson to teal in sail.css.", "edit sail.css: crimson -> teal", "Edited sail.css", "say done"),
    _Example("Run the tests.", "test", "7 tests passed", "show"),
    _Example("What is the host in kiln.cfg?", "read kiln.cfg", "host=vesta\nuser=olin", "say vesta"),
    _Example("Write the word begin to brook/tide.log.", "write brook/tide.log: begin", "Created brook/tide.log", "say done"),
    _Example("In kiln.cfg, replace olin with mira.", "edit kiln.cfg: olin -> mira", "Edited kiln.cfg", "say done"),
    _Example("Search for the word quince.", "find quince", "pantry.txt:2: quince jam", "show"),
    _Example("Show me pantry.txt.", "read pantry.txt", "rye\nquince jam", "show"),
)  # fmt: skip

_LABELS: Mapping[ArgumentKind, str] = {
    ArgumentKind.EXISTING_FILE: "FILE",
    ArgumentKind.EXISTING_DIRECTORY: "DIR",
    ArgumentKind.EXISTING_PATH: "PATH",
    ArgumentKind.NEW_PATH: "FILE",
    ArgumentKind.SEARCH_TEXT: "TEXT",
    ArgumentKind.OLD_TEXT: "OLD",
    ArgumentKind.NEW_TEXT: "TEXT",
    ArgumentKind.NUMBER: "NUMBER",
}


def opening(tools: Sequence[ToolSpec]) -> list[Said]:
    """What is said before the user's words: the same for the same tools."""
    forms = [(tool, tool.mask) for tool in tools if tool.mask is not None]
    verbs = {form.verb for _, form in forms}
    usage = [_usage(tool, form) for tool, form in forms]
    parts = [_said("system", "Reply with one step: " + ", ".join([*usage, SHOW, f"{SAY} ANSWER"]))]
    for example in _EXAMPLES:
        if example.line.partition(" ")[0] in verbs:
            parts.append(_said("user", example.words))
            parts.append(_said("assistant", example.line))
            parts.append(_said("user", _observation(example.result)))
            parts.append(_said("assistant", example.answer))
    return parts


def _usage(tool: ToolSpec, form: MaskForm) -> str:
    kinds = [argument.kind for name in form.arguments if (argument := tool.argument(name))]
    labels = [_LABELS.get(kind, "WORDS") for kind in kinds]
    if ArgumentKind.OLD_TEXT in kinds:
        labels = ["NEW" if label == "TEXT" else label for label in labels]
    line = form.verb
    for before, label in zip((" ", *form.separators), labels, strict=False):
        line += before + label
    return line


def present(turn: Turn, tools: Sequence[ToolSpec]) -> list[Said]:
    """What is said of this turn, up to where the model goes on."""
    forms = {tool.name: tool.mask for tool in tools if tool.mask is not None}
    parts = [_said("user", turn.words[:MOST_WORDS])]
    for step in turn.steps:
        form = forms.get(step.tool)
        parts.append(_said("assistant", _retell(step, form) if form else step.tool))
        parts.append(_said("user", _observation(step.result)))
    return parts


def preamble(tools: Sequence[ToolSpec]) -> str:
    """The prompt before the user's words."""
    return _chatml(opening(tools))


def question(turn: Turn, tools: Sequence[ToolSpec]) -> str:
    """The prompt from the user's words up to where the model goes on."""
    return _chatml(present(turn, tools)) + "<|im_start|>assistant\n"


def _retell(step: Step, form: MaskForm) -> str:
    line = form.verb
    for before, name in zip((" ", *form.separators), form.arguments, strict=False):
        line += f"{before}{step.arguments.get(name, '')}"
    return line


def _observation(result: str) -> str:
    return "Result: " + (result[:MOST_RESULT].rstrip() or "(empty)")


def _said(role: Role, text: str) -> Said:
    """With nothing in the text that a template would take for a mark of its own."""
    return Said(role, text.replace("<|", "< |"))


def _chatml(parts: Iterable[Said]) -> str:
    return "".join(f"<|im_start|>{said.role}\n{said.text}<|im_end|>\n" for said in parts)


def verb_scores(likeliest: Iterable[tuple[str, float]], verbs: Iterable[str]) -> dict[str, float]:
    """Log-probability of each verb, judged by its first token."""
    scores = dict.fromkeys(verbs, UNSEEN)
    for token, score in likeliest:
        begun = token.strip()
        for verb in scores:
            if len(begun) > 1 and verb.startswith(begun):
                scores[verb] = max(scores[verb], score)
    return scores


def best_verb(told: Mapping[str, float], neutral: Mapping[str, float]) -> str:
    """The verb that the user's words make likelier by most than it is by itself."""
    return max(told, key=lambda verb: told[verb] - neutral[verb])


def closing_words(turn: Turn, tools: Sequence[ToolSpec], who: str = "The built-in model") -> str:
    """What is said where nothing is left to do."""
    last = turn.last
    if last is None:
        return f"{who} found nothing it can do with that. {what_it_can(tools)}"
    if last.failed:
        return f"Not done. {last.result}"
    return "Done."


_SKILLS: Mapping[tuple[ArgumentKind, ...], str] = {
    (ArgumentKind.EXISTING_DIRECTORY,): "list a folder",
    (ArgumentKind.EXISTING_FILE,): "read a file you name",
    (ArgumentKind.SEARCH_TEXT,): "find a word",
    (ArgumentKind.NEW_PATH, ArgumentKind.NEW_TEXT): "create a file with words you give",
    (
        ArgumentKind.EXISTING_FILE,
        ArgumentKind.OLD_TEXT,
        ArgumentKind.NEW_TEXT,
    ): "replace words in a file you name",
    (): "run the tests",
}


def what_it_can(tools: Sequence[ToolSpec]) -> str:
    """What can be said in the protocol with these tools, and how."""
    skills: list[str] = []
    for tool in tools:
        if tool.mask is not None:
            names = (tool.argument(name) for name in tool.mask.arguments)
            kinds = tuple(argument.kind for argument in names if argument)
            skills.append(_SKILLS.get(kinds, tool.mask.verb))
    can = f"It can {', '.join(skills)}. " if skills else ""
    return (
        f"{can}Name the file, the folder or the words exactly as they are, one step at a time;"
        " `hame models` shows larger models."
    )
