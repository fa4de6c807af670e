"""Questions that are waiting for the user, by id."""

import anyio

from hame.base.entry import QuestionSettled
from hame.base.event import QuestionAnswered, QuestionAsked, QuestionWithdrawn
from hame.base.ports import Emit, Journal
from hame.base.question import Answer, Question


class Questions:
    """Implements the Asker port: shows a question as an event and waits for its answer."""

    def __init__(self, *, interactive: bool, emit: Emit) -> None:
        """With `interactive` False nobody is there, and every question comes back unanswered."""
        self._interactive = interactive
        self._emit = emit
        self._waiting: dict[str, anyio.Event] = {}
        self._answers: dict[str, Answer] = {}
        self.journal: Journal | None = None
        """Where questions and answers are recorded; set by the runtime for its session."""

    async def ask(self, question: Question) -> Answer | None:
        """The answer; None when there is nobody to ask."""
        if not self._interactive:
            return None
        answered = self._waiting[question.id] = anyio.Event()
        began = anyio.current_time()
        self._emit(QuestionAsked(question))
        try:
            await answered.wait()
        except anyio.get_cancelled_exc_class():
            reason = _why_withdrawn(question, anyio.current_time() - began)
            self._emit(QuestionWithdrawn(question=question.id, reason=reason))
            raise
        finally:
            self._waiting.pop(question.id, None)
        answer = self._answers.pop(question.id)
        self._emit(QuestionAnswered(question=question.id, answer=answer))
        if self.journal is not None:
            settled = QuestionSettled(question=question.id, title=question.title, answer=answer)
            await self.journal.append(settled)
        return answer

    def answer(self, question_id: str, answer: Answer) -> bool:
        """Answer a waiting question; False when no such question waits."""
        waiting = self._waiting.get(question_id)
        if waiting is None:
            return False
        self._answers[question_id] = answer
        waiting.set()
        return True


def _why_withdrawn(question: Question, waited_s: float) -> str:
    """Who asks ends the wait at the question's time limit; before that, only the run's end does."""
    limit = question.expires_s
    if limit is not None and waited_s >= limit:
        return f"nobody answered within {limit:g} s"
    return "the run was stopped"
