"""The gate asks where the policy says so, and remembers what was granted."""

from collections.abc import Callable, Sequence

import anyio

from hame.base.confinement import Confinement
from hame.base.message import ToolCall
from hame.base.outcome import Corrected, Denied, Done, Failed, View
from hame.base.path import FileKind, Resolution
from hame.base.ports import Target
from hame.base.question import Answer, Choice, Question
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import Operation, ProjectPaths, Zone
from hame.permissions.gate import Grounds, RuleGate
from hame.permissions.rulebook import Rulebook
from permissions.call import judged

WRITE = ToolSpec(name="edit_file", description="", effect=Effect.WRITE, title="Edit")
RUN = ToolSpec(name="run_command", description="", effect=Effect.RUN, title="Run")
CALL = ToolCall(id="c1", name="edit_file", arguments={})


class Prepared:
    """An action that touches one place."""

    def __init__(self, path: str = "a.py", digest: str = "d1", *, places: bool = True) -> None:
        place = Resolution(
            asked=path, real=f"/p/{path}", shown=path, zone=Zone.PROJECT, kind=FileKind.FILE
        )
        self.targets: Sequence[Target] = [Target(place, Operation.WRITE)] if places else []
        self.view: View | None = None
        self.digest = digest

    def bind(self, still: Callable[[], bool]) -> None: ...

    async def run(self, confinement: Confinement) -> Done | Failed:
        raise AssertionError("the gate must not run anything")

    def close(self) -> None: ...


class Asker:
    """Answers from a list; None once it is used up."""

    def __init__(self, *answers: Answer | None) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer | None:
        self.asked.append(question)
        await anyio.lowlevel.checkpoint()
        return self.answers.pop(0)


def gate(asker: Asker, mode: Mode = Mode.ASK) -> RuleGate:
    grounds = Grounds(paths=ProjectPaths(root="/p", home="/h"))
    return RuleGate(mode=lambda: mode, asker=asker, grounds=grounds, book=Rulebook())


async def test_once_lets_this_call_run_and_asks_again_for_the_next() -> None:
    asker = Asker(Answer(choice=Choice.ONCE), Answer(choice=Choice.NO))
    door = gate(asker)
    assert await judged(door, CALL, WRITE, Prepared(), "a.py") is None
    refused = await judged(door, CALL, WRITE, Prepared(), "a.py")
    assert refused == Denied(reason="", by_user=True)


async def test_a_session_grant_covers_the_same_place_and_no_other() -> None:
    asker = Asker(Answer(choice=Choice.SESSION), Answer(choice=Choice.NO))
    door = gate(asker)
    assert await judged(door, CALL, WRITE, Prepared("a.py"), "a.py") is None
    assert await judged(door, CALL, WRITE, Prepared("a.py", "d2"), "a.py") is None
    assert isinstance(await judged(door, CALL, WRITE, Prepared("b.py"), "b.py"), Denied)
    assert len(asker.asked) == 2


async def test_a_session_grant_of_a_command_covers_that_very_command() -> None:
    asker = Asker(Answer(choice=Choice.SESSION), Answer(choice=Choice.NO))
    door = gate(asker)
    first = Prepared(digest="npm test", places=False)
    assert await judged(door, CALL, RUN, first, "npm test") is None
    assert await judged(door, CALL, RUN, first, "npm test") is None
    other = Prepared(digest="npm test; rm -rf /", places=False)
    assert isinstance(await judged(door, CALL, RUN, other, "npm test; rm -rf /"), Denied)


async def test_a_new_session_forgets_the_grants() -> None:
    asker = Asker(Answer(choice=Choice.SESSION), Answer(choice=Choice.NO))
    door = gate(asker)
    assert await judged(door, CALL, WRITE, Prepared(), "a.py") is None
    door.forget_grants()
    assert isinstance(await judged(door, CALL, WRITE, Prepared(), "a.py"), Denied)


async def test_no_with_words_carries_the_words_to_the_model() -> None:
    door = gate(Asker(Answer(words="use tabs")))
    assert await judged(door, CALL, WRITE, Prepared(), "a.py") == Corrected(words="use tabs")


async def test_nobody_to_ask_is_a_refusal_that_says_so() -> None:
    refused = await judged(gate(Asker(None)), CALL, WRITE, Prepared(), "a.py")
    assert isinstance(refused, Denied)
    assert refused.unanswered
    assert "nobody to ask" in refused.reason


async def test_mode_auto_asks_nothing_inside_the_project() -> None:
    asker = Asker()
    assert await judged(gate(asker, Mode.AUTO), CALL, WRITE, Prepared(), "a.py") is None
    assert asker.asked == []


async def test_a_contributed_tool_is_never_granted_for_the_session() -> None:
    spec = ToolSpec(name="weather", description="", effect=Effect.READ, source="acme")
    asker = Asker(Answer(choice=Choice.SESSION))
    refused = await judged(gate(asker), CALL, spec, Prepared(places=False), "")
    assert isinstance(refused, Denied)
    assert Choice.SESSION not in asker.asked[0].choices
    assert asker.asked[0].source == "acme"


async def test_calls_that_ask_together_queue_and_a_grant_settles_those_behind_it() -> None:
    asker = Asker(Answer(choice=Choice.SESSION))
    door = gate(asker)
    outcomes: list[Denied | Corrected | None] = []

    async def decide() -> None:
        outcomes.append(await judged(door, CALL, WRITE, Prepared(), "a.py"))

    async with anyio.create_task_group() as group:
        group.start_soon(decide)
        group.start_soon(decide)
    assert outcomes == [None, None]
    assert len(asker.asked) == 1


async def test_the_question_names_the_place_and_what_a_grant_would_cover() -> None:
    asker = Asker(Answer(choice=Choice.ONCE))
    await judged(gate(asker), CALL, WRITE, Prepared(), "a.py")
    question = asker.asked[0]
    assert question.title == "Edit a.py"
    assert question.detail == "/p/a.py"
    assert question.grant == "changes to a.py"
