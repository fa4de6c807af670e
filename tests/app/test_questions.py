"""Questions that wait for the user."""

import anyio

from hame.app.questions import Questions
from hame.base.event import QuestionWithdrawn, RunEvent
from hame.base.question import Question


async def withdrawn(question: Question, wait_s: float) -> str:
    """The reason that is given when the wait for the answer ends after so many seconds."""
    shown: list[RunEvent] = []
    questions = Questions(interactive=True, emit=shown.append)
    with anyio.move_on_after(wait_s):
        await questions.ask(question)
    (last,) = [event for event in shown if isinstance(event, QuestionWithdrawn)]
    return last.reason


async def test_a_question_that_nobody_answers_in_time_names_the_limit() -> None:
    question = Question(id="q", title="Sure?", expires_s=0.05)
    assert await withdrawn(question, 0.05) == "nobody answered within 0.05 s"


async def test_a_question_of_a_stopped_run_says_so() -> None:
    assert await withdrawn(Question(id="q", title="Sure?"), 0.01) == "the run was stopped"
    limited = Question(id="q", title="Sure?", expires_s=60.0)
    assert await withdrawn(limited, 0.01) == "the run was stopped"
