"""ask_user: a question only the user can answer."""

from functools import cache

from hame.base.errors import ArgumentError
from hame.base.json import JsonObject, get_list
from hame.base.outcome import Done, Failed, TextView, text_content
from hame.base.ports import Action, ToolContext
from hame.base.question import Question
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.tools.action import Plan, hold
from hame.tools.arguments import need_string
from hame.tools.description import describe
from hame.tools.phrase import flatten, spoken

_MOST = 9
_TITLE = 300
_NOBODY = (
    "Nobody is there to answer. Choose what is most likely meant, say which assumption you made, and "
    "go on."
)


class AskUser:
    """Asks the user."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The question."""
        return spoken(arguments, "question")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Check that there is something to ask.

        Raises:
            ArgumentError: for no question, or more choices than can be shown.
        """
        words = need_string(arguments, "question").strip()
        choices = tuple(
            dict.fromkeys(
                flatten(choice, _TITLE)
                for choice in get_list(arguments, "choices")
                if isinstance(choice, str) and choice.strip()
            )
        )
        if not words:
            raise ArgumentError("question is empty")
        if len(choices) > _MOST:
            raise ArgumentError(f"at most {_MOST} choices can be shown; give the likeliest")

        async def ask() -> Done | Failed:
            return await _ask(words, choices, context)

        async def plan() -> Plan:
            return Plan(ask, TextView(words))

        return await hold((), plan)


async def _ask(words: str, choices: tuple[str, ...], context: ToolContext) -> Done | Failed:
    from secrets import token_hex

    if context.asker is None:
        return Failed(_NOBODY)
    title = flatten(words, _TITLE)
    answer = await context.asker.ask(
        Question(
            id=f"ask-{token_hex(4)}",
            title=title,
            detail="" if title == words else words,
            tool="ask_user",
            choices=choices,
        )
    )
    if answer is None:
        return Failed(_NOBODY)
    said = answer.words or answer.choice
    if not said:
        return Done(text_content("The user closed the question without an answer."))
    return Done(text_content(f"The user answered: {said}"), TextView(said))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="ask_user",
        title="Ask",
        description=describe(__file__),
        effect=Effect.INTERACT,
        arguments=(
            Argument(name="question", kind=ArgumentKind.WORDS),
            Argument(
                name="choices",
                kind=ArgumentKind.ITEMS,
                type="array",
                required=False,
                description="short answers to choose from; free words are always possible",
            ),
        ),
    )
