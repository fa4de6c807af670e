"""todo: the plan of a longer task, shown to the user while it is worked off."""

from functools import cache

from hame.base.errors import ArgumentError
from hame.base.json import JsonObject, get_objects, get_string
from hame.base.outcome import Done, TodoItem, TodoState, TodoView, text_content
from hame.base.ports import Action, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.tools.action import Plan, hold
from hame.tools.description import describe
from hame.tools.phrase import counted, flatten

_MOST = 50


class Todo:
    """Replaces the list."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """How far it is."""
        items = get_objects(arguments, "items")
        done = sum(get_string(item, "state") == TodoState.DONE for item in items)
        return f"{done} of {counted(len(items), 'item')} done"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:  # noqa: ARG002 - the contract's signature
        """Read the list.

        Raises:
            ArgumentError: for an item without words, or too many.
        """
        items = tuple(map(_item, get_objects(arguments, "items")))
        if len(items) > _MOST:
            raise ArgumentError(f"at most {_MOST} items; keep to what is ahead")
        left = sum(item.state is not TodoState.DONE for item in items)

        async def show() -> Done:
            words = f"Shown to the user; {left} left." if left else "Shown to the user; all done."
            return Done(text_content(words), TodoView(items))

        async def plan() -> Plan:
            return Plan(show)

        return await hold((), plan)


def _item(item: JsonObject) -> TodoItem:
    """One item.

    Raises:
        ArgumentError: for one without words or of a state there is none of.
    """
    text = flatten(get_string(item, "text") or "")
    if not text:
        raise ArgumentError("every item needs a text")
    try:
        return TodoItem(text, TodoState(get_string(item, "state") or TodoState.OPEN))
    except ValueError as error:
        raise ArgumentError(f"state is one of {', '.join(TodoState)}") from error


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="todo",
        title="Plan",
        description=describe(__file__),
        effect=Effect.INTERACT,
        arguments=(
            Argument(
                name="items",
                kind=ArgumentKind.ITEMS,
                type="array",
                items=(
                    Argument(name="text", kind=ArgumentKind.WORDS),
                    Argument(name="state", kind=ArgumentKind.CHOICE, choices=tuple(TodoState)),
                ),
            ),
        ),
    )
