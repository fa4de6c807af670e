"""What every Model does, the scripted one and the real one over HTTP on every wire."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import anyio
import pytest

from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.message import Assistant, Message, StopReason, Text, Thinking, ToolCall, User
from hame.base.model import Usage
from hame.base.ports import Model, ModelRequest
from hame.base.stream import Completed, Failed, StreamEvent, TextDelta, ToolCallCompleted
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.testing import answer, call

READ = ToolSpec(
    name="read_file",
    description="Reads a file.",
    effect=Effect.READ,
    arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE),),
)


class Speaker(Protocol):
    """Makes models that say what a test wants."""

    def saying(self, *answers: Assistant) -> AbstractAsyncContextManager[Model]:
        """One that gives these answers, in order."""
        ...

    def breaking(self, said: str) -> AbstractAsyncContextManager[Model]:
        """One whose connection breaks after it has said that."""
        ...

    def hanging(self, said: str) -> AbstractAsyncContextManager[Model]:
        """One that falls silent after it has said that."""
        ...

    async def was_left(self) -> bool:
        """Whether the last request was noticed to be abandoned."""
        ...


def request(*messages: Message) -> ModelRequest:
    history = messages or (User((Text("Hello"),)),)
    return ModelRequest(system="Be brief.", messages=history, tools=(READ,), session="s")


async def ask(model: Model, question: ModelRequest) -> tuple[list[StreamEvent], Assistant]:
    """All events of an answer, and the answer."""
    fold, events = Fold(), list[StreamEvent]()
    async with model.stream(question) as stream:
        async for event in stream:
            events.append(event)
            fold.add(event)
    return events, fold.message()


async def begin(stream: AsyncIterator[StreamEvent]) -> None:
    """Read until something is said."""
    async for event in stream:
        if isinstance(event, TextDelta):
            return


class ModelContract:
    """Subclasses give a fixture `speaker`."""

    async def test_what_is_known_of_it_does_not_change(self, speaker: Speaker) -> None:
        async with speaker.saying(answer("Hi.")) as model:
            before = model.facts
            await ask(model, request())
            assert model.facts == before

    async def test_text_arrives_piece_by_piece_and_ends_properly(self, speaker: Speaker) -> None:
        async with speaker.saying(answer("One two three, größer 😀.")) as model:
            events, message = await ask(model, request())
        pieces = [event for event in events if isinstance(event, TextDelta)]
        assert len(pieces) > 1
        assert message.text == "One two three, größer 😀."
        assert isinstance(events[-1], Completed)
        assert message.stop_reason is StopReason.END_TURN
        assert not any(isinstance(event, Completed | Failed) for event in events[:-1])

    async def test_nothing_follows_the_end(self, speaker: Speaker) -> None:
        async with speaker.saying(answer("Hi.")) as model, model.stream(request()) as stream:
            async for _ in stream:
                pass
            with pytest.raises(StopAsyncIteration):
                await anext(stream)

    async def test_calls_come_whole_and_in_order_with_ids_of_their_own(
        self, speaker: Speaker
    ) -> None:
        asked = answer("I look.", call("read_file", path="a.py"), call("read_file", path="ü\n.py"))
        async with speaker.saying(asked) as model:
            events, message = await ask(model, request())
        assert [(each.name, each.arguments) for each in message.calls] == [
            ("read_file", {"path": "a.py"}),
            ("read_file", {"path": "ü\n.py"}),
        ]
        assert len({each.id for each in message.calls}) == 2
        assert all(each.id for each in message.calls)
        completed = [event for event in events if isinstance(event, ToolCallCompleted)]
        assert [event.index for event in completed] == [0, 1]
        assert message.stop_reason is StopReason.TOOL_USE

    async def test_thinking_is_told_from_text(self, speaker: Speaker) -> None:
        async with speaker.saying(answer(Thinking("Let me see."), "Yes.")) as model:
            _, message = await ask(model, request())
        assert (message.thinking, message.text) == ("Let me see.", "Yes.")

    async def test_an_answer_that_hit_its_limit_says_so(self, speaker: Speaker) -> None:
        async with speaker.saying(answer("Half a sen", stop=StopReason.MAX_TOKENS)) as model:
            _, message = await ask(model, request())
        assert (message.text, message.stop_reason) == ("Half a sen", StopReason.MAX_TOKENS)

    async def test_the_tokens_are_told(self, speaker: Speaker) -> None:
        usage = Usage(input_uncached=120, output=30)
        async with speaker.saying(answer("Hi.", usage=usage)) as model:
            _, message = await ask(model, request())
        assert message.usage == usage

    async def test_each_request_gets_the_next_answer(self, speaker: Speaker) -> None:
        history: list[Message] = [User((Text("Count."),))]
        async with speaker.saying(answer("one"), answer("two"), answer("three")) as model:
            for word in ("one", "two", "three"):
                _, message = await ask(model, request(*history))
                assert message.text == word
                history += [message, User((Text("And?"),))]

    async def test_an_answer_that_breaks_ends_with_the_failure_and_does_not_raise(
        self, speaker: Speaker
    ) -> None:
        async with speaker.breaking("Half of it") as model:
            events, message = await ask(model, request())
        match events[-1]:
            case Failed(failure=failure):
                assert failure.kind is ErrorKind.NETWORK
                assert failure.retryable
                assert failure.mid_stream
                assert failure.message
            case other:
                pytest.fail(f"ended with {other}")
        # A wire may hold its newest piece back until it knows that it is not the last.
        assert message.text in {"Half of it", "Half of"}
        assert message.stop_reason is StopReason.ERROR

    async def test_leaving_early_ends_the_request(self, speaker: Speaker) -> None:
        with anyio.fail_after(10):
            async with speaker.hanging("I begin") as model:
                async with model.stream(request()) as stream:
                    await begin(stream)
                assert await speaker.was_left()

    async def test_a_silent_answer_can_be_cancelled(self, speaker: Speaker) -> None:
        with anyio.fail_after(10):
            async with speaker.hanging("I begin") as model:
                with anyio.CancelScope() as scope:
                    async with model.stream(request()) as stream:
                        await begin(stream)
                        scope.cancel()
                        async for event in stream:
                            assert not isinstance(event, Completed | Failed)
                assert scope.cancelled_caught
                assert await speaker.was_left()

    async def test_arguments_that_are_no_json_are_kept_as_they_are(self, speaker: Speaker) -> None:
        broken = ToolCall(id="", name="read_file", arguments=None, malformed='{"path": "a')
        async with speaker.saying(answer(broken)) as model:
            _, message = await ask(model, request())
        if message.calls:
            assert message.calls[0].arguments is None
            assert message.calls[0].malformed == '{"path": "a'
        else:
            assert message.stop_reason is StopReason.MALFORMED_TOOL_CALL
