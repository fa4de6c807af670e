"""Noticing that a server has cut a prompt without saying so.

Ollama drops what does not fit into its window (`num_ctx`): https://docs.ollama.com/context-length.
The only sign is that it counts fewer prompt tokens than the request can have had.
"""

from hame.base.message import Assistant, Message, Note, Text, ToolResults, User
from hame.base.model import ModelFacts, Quirk, Usage
from hame.base.ports import ModelRequest

_LETTERS_PER_TOKEN = 8
"""More than any ordinary text has: fewer tokens than its letters by this cannot be the whole of it."""
_NEAR = 0.5
"""Share of the window below which nothing needs to be cut, whatever is counted."""


def was_cut(request: ModelRequest, usage: Usage | None, facts: ModelFacts) -> str:
    """What to tell the user when the server has read only a part of the request; else nothing."""
    window = facts.context_window
    if Quirk.CUTS_SILENTLY not in facts.quirks or window is None or usage is None:
        return ""
    read = usage.input_total
    least = sum(map(_letters, request.messages)) // _LETTERS_PER_TOKEN
    pinned = read >= window - 1 and least > window
    if not read or least < window * _NEAR or not (pinned or read < least):
        return ""
    return (
        f"{facts.vendor} has read only {read:,} tokens of at least {least:,}: the window of"
        f" {window:,} is full, and the oldest words were dropped. /clear begins anew; hame config set"
        f" providers.{facts.backend}.context_window gives it more."
    )


def _letters(message: Message) -> int:
    """Letters that the model must have read; pictures, thoughts and calls are left out."""
    match message:
        case User(content=content) | Assistant(content=content):
            return sum(len(block.text) for block in content if isinstance(block, Text | Note))
        case ToolResults(results=results):
            blocks = [block for result in results for block in result.content]
            return sum(len(block.text) for block in blocks if isinstance(block, Text))
