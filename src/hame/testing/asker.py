"""ScriptedAsker: a user whose answers are known beforehand."""

from collections.abc import Callable
from typing import TypeAlias

import anyio.lowlevel

from hame.base.question import Answer, Question

Reply: TypeAlias = Answer | str | None
"""An answer, the choice alone, or None: there is nobody to ask."""


class ScriptedAsker:
    """Implements `hame.base.ports.Asker`: gives these answers in order."""

    def __init__(self, *replies: Reply | Callable[[Question], Reply]) -> None:
        """Give these; a function makes its answer from the question."""
        self._replies = replies
        self.questions: list[Question] = []
        """Everything that was asked, in order."""

    async def ask(self, question: Question) -> Answer | None:
        """The next answer.

        Raises:
            AssertionError: for a question more than there are answers.
        """
        self.questions.append(question)
        await anyio.lowlevel.checkpoint()
        if len(self.questions) > len(self._replies):
            raise AssertionError(f"nobody expected to be asked: {question.title}")
        reply = self._replies[len(self.questions) - 1]
        if callable(reply):
            reply = reply(question)
        return Answer(choice=reply) if isinstance(reply, str) else reply

    def finish(self) -> None:
        """Check that everything was asked.

        Raises:
            AssertionError: when answers are left.
        """
        left = len(self._replies) - len(self.questions)
        if left > 0:
            raise AssertionError(f"{left} of {len(self._replies)} answers were not asked for")
