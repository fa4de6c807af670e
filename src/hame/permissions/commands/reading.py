"""A line counts as read when two readers that share no code agree on every word of it."""

from hame.permissions.commands.lexer import read_line
from hame.permissions.commands.line import Line, UnreadableError
from hame.permissions.commands.tree import read_tree

LARGEST = 64
"""Commands of one line that may run without a question; a longer one is for eyes."""


def read_certainly(text: str) -> Line:
    """The line, as both readers have it.

    Raises:
        UnreadableError: when one of them cannot read it, or they differ.
    """
    lexed = read_line(text)
    if len(lexed.commands) > LARGEST:
        raise UnreadableError(f"it holds {len(lexed.commands)} commands")
    if lexed != read_tree(text):
        raise UnreadableError("it can be read in two ways")
    return lexed
