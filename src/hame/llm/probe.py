"""Trying how a model calls tools: one small question, whose answer is a call or is none.

What a model's name or its server says is not enough: the template decides, and many models print what
they should call. The first way that works is kept: the server's own calls, an answer held to a schema,
calls printed as text.
"""

from collections.abc import Callable, Sequence

from hame.base.fold import Fold
from hame.base.message import Text, User
from hame.base.model import Effort, ToolSupport
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.client import HttpModel

WAYS: tuple[ToolSupport, ...] = (ToolSupport.NATIVE, ToolSupport.SCHEMA, ToolSupport.TEXT)
"""In the order in which they are tried."""
_WORD = "pear"
_MOST_TOKENS = 400
"""A model that thinks needs some before it calls."""
_TOOL = ToolSpec(
    name="note_word",
    description="Write down one word.",
    effect=Effect.INTERACT,
    arguments=(
        Argument(name="word", kind=ArgumentKind.WORDS, description="The word to write down."),
    ),
)
_QUESTION = ModelRequest(
    system="You act by calling tools.",
    messages=(User((Text(f"Call the tool note_word with the word {_WORD}."),)),),
    tools=(_TOOL,),
    max_output_tokens=_MOST_TOKENS,
    effort=Effort.NONE,
)


async def find_way(
    open_as: Callable[[ToolSupport], HttpModel], ways: Sequence[ToolSupport] = WAYS
) -> ToolSupport | None:
    """The first way in which the model makes the call it is asked for.

    None when the server could not be asked: that says nothing about the model. A model that makes it in
    no way is spoken to in text.
    """
    for way in ways:
        fold, model = Fold(), open_as(way)
        async with model.stream(_QUESTION) as events:
            async for event in events:
                fold.add(event)
        if fold.failure is not None:
            return None
        if model.taught.tools is not way:
            continue  # The server refused it, and another way was taken.
        message = fold.message()
        for call in message.calls:
            given = call.arguments or {}
            if call.name == _TOOL.name and _WORD in str(given.get("word", "")).lower():
                return way
    return ToolSupport.TEXT
