"""The built-in model as a Model: with a scripted engine, and with the real one."""

from collections.abc import Sequence

import pytest

from hame.base.errors import ErrorKind, Failure, LocalModelError, ModelError
from hame.base.message import (
    Assistant,
    Message,
    Note,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.ports import ModelRequest
from hame.base.stream import (
    Completed,
    Failed,
    StreamEvent,
    TextDelta,
    ToolCallCompleted,
    ToolCallStarted,
    UsageReported,
)
from hame.local.engine import Completion, LocalEngine
from hame.local.model import LocalModel, local_facts
from local.conftest import TOOLS, MemoryIndex

INDEX = MemoryIndex(
    {"config.txt": "retries=1\nport=8080\n", "src/util.py": "def foo(x):\n    return x\n"},
    "make test",
)


class ScriptedEngine:
    """Gives the answers it was made with; remembers what it was asked."""

    def __init__(self, *answers: str | Exception | Completion) -> None:
        self._answers = list(answers)
        self.grammars: list[str] = []
        self.prompts: list[str] = []

    async def complete(
        self, prompt: str, *, grammar: str = "", most_tokens: int = 1, likeliest: int = 0
    ) -> Completion:
        self.prompts.append(prompt)
        if likeliest:
            best = -1.0 if "Do the task." in prompt else 0.0
            return Completion(
                text="find", whole=False, prompt_tokens=5, likeliest=(("find", best),)
            )
        self.grammars.append(grammar)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        return Completion(
            text=answer, whole=True, prompt_tokens=7, cached_tokens=3, output_tokens=4
        )


async def ask(engine: ScriptedEngine | LocalEngine, *messages: Message) -> Sequence[StreamEvent]:
    model = LocalModel(local_facts(), engine, INDEX)
    async with model.stream(
        ModelRequest(system="ignored", messages=messages, tools=TOOLS)
    ) as events:
        return [event async for event in events]


def said(text: str) -> User:
    return User((Text(text), Note("Project folder: /x", "environment")))


def after(
    name: str, arguments: dict[str, object], text: str, *, is_error: bool = False
) -> tuple[Assistant, ToolResults]:
    call = ToolCall("c1", name, arguments)
    return Assistant((call,)), ToolResults((ToolResult("c1", name, (Text(text),), is_error),))


async def test_a_line_becomes_a_call_with_the_tools_own_arguments() -> None:
    engine = ScriptedEngine("find foo")
    started, completed, usage, end = await ask(engine, said("Find foo in src/util.py"))
    assert isinstance(completed, ToolCallCompleted)
    assert completed.call.name == "search_text"
    assert completed.call.arguments == {"pattern": "foo"}
    assert started == ToolCallStarted(0, completed.call.id, "search_text")
    assert isinstance(usage, UsageReported)
    assert usage.usage.output == 4
    assert usage.usage.input_total == 20
    assert end == Completed(StopReason.TOOL_USE)


async def test_the_first_verb_is_chosen_against_the_neutral_task_which_is_asked_once() -> None:
    engine = ScriptedEngine("find foo", "find foo")
    model = LocalModel(local_facts(), engine, INDEX)
    for _ in range(2):
        request = ModelRequest(system="", messages=(said("Find foo in src/util.py"),), tools=TOOLS)
        async with model.stream(request) as events:
            assert [event async for event in events]
    assert sum("Do the task." in prompt for prompt in engine.prompts) == 1
    assert all('"find "' in grammar and '"read "' not in grammar for grammar in engine.grammars)


async def test_where_one_line_is_left_it_is_still_the_model_that_says_it() -> None:
    engine = ScriptedEngine("edit config.txt: 8080 -> 9090")
    events = await ask(engine, said("Replace 8080 with 9090 in config.txt."))
    call = next(event.call for event in events if isinstance(event, ToolCallCompleted))
    assert call.name == "edit_file"
    assert call.arguments == {"path": "config.txt", "old_string": "8080", "new_string": "9090"}
    assert len(engine.grammars) == 1


async def test_an_answer_is_text_and_ends_the_turn() -> None:
    engine = ScriptedEngine("say 8080")
    read = after("read_file", {"path": "config.txt"}, "1\tretries=1\n2\tport=8080")
    events = await ask(engine, said("What is the port in config.txt?"), *read)
    assert events[0] == TextDelta("8080")
    assert events[-1] == Completed(StopReason.END_TURN)
    assert "1\tretries" not in engine.prompts[0]


async def test_show_repeats_the_last_result_without_line_numbers() -> None:
    read = after("read_file", {"path": "config.txt"}, "1\tretries=1\n2\tport=8080")
    events = await ask(ScriptedEngine("show"), said("Show me config.txt."), *read)
    assert events[0] == TextDelta("retries=1\nport=8080")


async def test_a_long_result_is_shown_in_part_and_says_so() -> None:
    read = after("read_file", {"path": "config.txt"}, "x" * 5000)
    events = await ask(ScriptedEngine("show"), said("Show me config.txt."), *read)
    assert isinstance(events[0], TextDelta)
    assert events[0].text.endswith("[1,000 more characters in the result above]")


async def test_after_a_change_it_is_done_without_a_question() -> None:
    edited = after("edit_file", {"path": "config.txt"}, "edited config.txt")
    events = await ask(ScriptedEngine(), said("Replace 8080 with 9090 in config.txt."), *edited)
    assert events[0] == TextDelta("Done.")


async def test_what_it_cannot_do_it_says_plainly() -> None:
    events = await ask(ScriptedEngine(), said("Hello, world!"), said("Write me a poem"))
    assert isinstance(events[0], TextDelta)
    assert "hame models" in events[0].text
    assert events[-1] == Completed(StopReason.END_TURN)


async def test_a_line_outside_the_grammar_is_asked_again_in_the_other_dialect() -> None:
    engine = ScriptedEngine("find quux", "find foo")
    events = await ask(engine, said("Find foo in src/util.py"))
    assert any(isinstance(event, ToolCallCompleted) for event in events)
    assert engine.grammars[0].startswith("%llguidance")
    assert engine.grammars[1].startswith("root ::=")


@pytest.mark.parametrize(
    "answer",
    ["list /etc", "", "edit config.txt: a -> b", Completion(text="find foo", whole=False)],
)
async def test_what_the_mask_does_not_hold_is_never_run(answer: str | Completion) -> None:
    events = await ask(ScriptedEngine(answer, answer), said("Find foo in src/util.py"))
    assert [type(event) for event in events] == [Failed]
    assert isinstance(events[0], Failed)
    assert events[0].failure.kind is ErrorKind.PROTOCOL
    assert events[0].failure.hint


async def test_failures_of_the_engine_end_the_stream_with_their_remedy() -> None:
    broken = LocalModelError("no weights", hint="hame local setup")
    events = await ask(ScriptedEngine(broken), said("Find foo in src/util.py"))
    assert isinstance(events[0], Failed)
    assert events[0].failure.hint == "hame local setup"
    late = Failure(kind=ErrorKind.TIMEOUT, message="too slow", hint="wait")
    events = await ask(ScriptedEngine(ModelError(late)), said("Find foo in src/util.py"))
    assert events == [Failed(late)]


def test_its_facts_say_local_free_and_masked() -> None:
    facts = local_facts()
    assert facts.name == "local/smollm2-135m"
    assert facts.local
    assert facts.price is not None
    assert facts.price.output == 0.0
    assert facts.context_window == 4096


async def test_the_real_engine_takes_a_step_and_answers(engine: LocalEngine) -> None:
    """Which words it picks is its own; that they keep to the mask is not."""
    question = said("What is the port in config.txt?")
    events = await ask(engine, question)
    call = next(event.call for event in events if isinstance(event, ToolCallCompleted))
    assert call.name in {"read_file", "search_text"}
    read = after("read_file", {"path": "config.txt"}, "1\tretries=1\n2\tport=8080")
    events = await ask(engine, question, *read)
    assert (isinstance(events[0], TextDelta) and "8080" in events[0].text) or any(
        isinstance(event, ToolCallCompleted) for event in events
    )
    usage = next(event.usage for event in events if isinstance(event, UsageReported))
    assert usage.output > 0
