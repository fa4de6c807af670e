"""Any history becomes a legal one, whatever it holds and whichever wire it goes to.

Legal means: the first message is the user's, no answer follows another and none comes last (except
after one that the provider paused); every call has exactly one result, right after its answer, in the order asked, and
every result has its call; no message is empty; call ids are unique and of the form the wire takes;
nothing a provider signed or made goes to another model; pictures go only where they are taken.

A history that needs no repair comes back as the very same messages, and a longer history repairs to
the same beginning, so what was written for a provider's cache stays valid.
"""

from collections.abc import Sequence
from operator import is_

from hame.base.message import Assistant, Message, Text, ToolResult, ToolResults, User
from hame.base.model import ModelFacts, Quirk
from hame.llm.blocks import BlockRepair
from hame.llm.callids import CallIds

_OPENING = User((Text("(Earlier messages were left out.)"),))
_ONWARD = User((Text("Continue."),))


class _Exchange:
    """An answer and everything up to the next one; the first exchange may have no answer."""

    __slots__ = ("calls", "inputs", "outputs")

    def __init__(self, inputs: list[Message]) -> None:
        self.inputs = inputs
        self.outputs: list[Message] = []
        self.calls: tuple[str, ...] = ()
        """Ids its calls have on the wire."""


class Repair:
    """Repairs the histories of one model, and remembers the last one it repaired."""

    __slots__ = ("_blocks", "_exchanges", "_facts", "_ids", "_messages")

    def __init__(self, facts: ModelFacts, refused: frozenset[str] = frozenset()) -> None:
        """For a model with these facts; `refused` are the digests of files its server did not take."""
        self._facts = facts
        self._blocks = BlockRepair(facts, refused)
        self._ids = CallIds(facts)
        self._messages: tuple[Message, ...] = ()
        self._exchanges: list[_Exchange] = []

    def __call__(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The legal form of a history."""
        known = _common(self._messages, messages)
        at = self._keep(known, messages)
        self._messages = messages
        for inputs in self._split(messages[at:]):
            self._exchanges.append(self._repair(inputs))
        repaired = [message for exchange in self._exchanges for message in exchange.outputs]
        return self._enclose(repaired)

    def _keep(self, known: int, messages: Sequence[Message]) -> int:
        """Forget the exchanges that the new history changes; how many messages the rest cover.

        The last one that is wholly known may go on, unless the next message begins another.
        """
        covered = kept = 0
        for exchange in self._exchanges:
            end = covered + len(exchange.inputs)
            if end > known:
                break
            if end == known < len(messages) and not self._begins(messages[end]):
                break
            covered = end
            kept += 1
        for exchange in self._exchanges[kept:]:
            self._ids.forget(exchange.calls)
        del self._exchanges[kept:]
        return covered

    def _split(self, messages: Sequence[Message]) -> list[list[Message]]:
        """Cut a history before every answer that says something."""
        exchanges: list[list[Message]] = []
        for message in messages:
            if not exchanges or self._begins(message):
                exchanges.append([])
            exchanges[-1].append(message)
        return exchanges

    def _begins(self, message: Message) -> bool:
        return isinstance(message, Assistant) and self._blocks.answer(message) is not None

    def _repair(self, inputs: list[Message]) -> _Exchange:
        exchange = _Exchange(inputs)
        answer = self._blocks.answer(inputs[0]) if isinstance(inputs[0], Assistant) else None
        if answer is not None:
            settled, results = self._settle(answer, inputs)
            self._separate(exchange)
            exchange.outputs.append(settled)
            if results is not None:
                exchange.outputs.append(results)
                exchange.calls = tuple(result.call_id for result in results.results)
        for message in inputs:
            if isinstance(message, User):
                self._add_user(exchange.outputs, message)
        return exchange

    def _settle(
        self, answer: Assistant, inputs: Sequence[Message]
    ) -> tuple[Assistant, ToolResults | None]:
        """The answer with ids the wire takes, and one result for each of its calls."""
        if not answer.calls:
            return answer, None
        given = [message for message in inputs if isinstance(message, ToolResults)]
        waiting: dict[str, list[ToolResult]] = {}
        for message in given:
            for result in message.results:
                waiting.setdefault(result.call_id, []).append(result)
        results: list[ToolResult] = []
        ids: list[str] = []
        for call in answer.calls:
            found = waiting.get(call.id)
            result = found.pop(0) if found else None
            ids.append(self._ids.take(call.id))
            results.append(self._blocks.result(call, result, ids[-1]))
        settled = self._blocks.with_ids(answer, ids)
        if len(given) == 1 and _same(given[0].results, results):
            return settled, given[0]
        return settled, ToolResults(tuple(results))

    def _separate(self, exchange: _Exchange) -> None:
        """Put a word of the user's between two answers."""
        last = self._exchanges[-1].outputs[-1:] if self._exchanges else []
        if last and isinstance(last[0], Assistant) and not self._blocks.is_paused(last[0]):
            exchange.outputs.append(_ONWARD)

    def _add_user(self, outputs: list[Message], message: User) -> None:
        repaired = self._blocks.user(message)
        if repaired is None:
            return
        last = outputs[-1] if outputs else None
        if isinstance(last, User) and Quirk.ALTERNATING_ROLES in self._facts.quirks:
            outputs[-1] = User((*last.content, *repaired.content))
        else:
            outputs.append(repaired)

    def _enclose(self, messages: list[Message]) -> tuple[Message, ...]:
        """Begin and end with the user's side."""
        if not messages:
            return ()
        if not isinstance(messages[0], User):
            messages.insert(0, _OPENING)
        if isinstance(messages[-1], Assistant) and not self._blocks.is_paused(messages[-1]):
            messages.append(_ONWARD)
        return tuple(messages)


def _common(earlier: Sequence[Message], later: Sequence[Message]) -> int:
    """How many messages two histories share from the start, by identity."""
    count = 0
    for same in map(is_, earlier, later):
        if not same:
            break
        count += 1
    return count


def _same(given: Sequence[ToolResult], repaired: Sequence[ToolResult]) -> bool:
    return len(given) == len(repaired) and all(map(is_, given, repaired))
