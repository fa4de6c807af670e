"""Tools whose results have lost their secrets before anybody sees them.

Model, journal and surface then hold the same text, and nothing is redacted twice.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from hame.base.confinement import Confinement
from hame.base.errors import ToolError
from hame.base.json import JsonObject
from hame.base.message import User
from hame.base.outcome import Done, Failed, Outcome, View
from hame.base.ports import Action, Target, Tool, ToolContext
from hame.base.tool import ToolSpec


class Redaction(Protocol):
    """What takes secrets out."""

    def text(self, text: str) -> str:
        """The text without secrets."""
        ...

    def message(self, message: User) -> User:
        """The message without secrets, in its words and in its notes."""
        ...

    def outcome(self, outcome: Outcome) -> Outcome:
        """The outcome without secrets, both faces."""
        ...


class RedactingTool:
    """A tool around a tool."""

    def __init__(self, inner: Tool, redaction: Redaction) -> None:
        """Wrap a tool."""
        self._inner = inner
        self._redaction = redaction

    @property
    def spec(self) -> ToolSpec:
        """The inner tool's."""
        return self._inner.spec

    def summarize(self, arguments: JsonObject) -> str:
        """The inner tool's."""
        return self._inner.summarize(arguments)

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """The inner tool's action, redacted.

        Raises:
            ToolError: as the inner tool does, its words redacted; also for a bug in it whose words
                hold a secret.
        """
        shown = msgspec.structs.replace(context, progress=self._redacted(context.progress))
        try:
            action = await self._inner.prepare(arguments, shown)
            return _RedactingAction(action, self._redaction, self.spec.name)
        except ToolError as error:
            words, hint = self._redaction.text(error.message), self._redaction.text(error.hint)
            raise ToolError(words, hint=hint) from error
        except Exception as error:  # A bug in a tool; its words may hold a secret.
            if (words := _told(error, self._redaction)) is None:
                raise
            raise ToolError(f"{self.spec.name} {words}") from error

    def _redacted(self, progress: Callable[[str], None]) -> Callable[[str], None]:
        return lambda text: progress(self._redaction.text(text))


class _RedactingAction:
    def __init__(self, inner: Action, redaction: Redaction, tool: str) -> None:
        self._inner = inner
        self._redaction = redaction
        self._tool = tool

    @property
    def targets(self) -> Sequence[Target]:
        return self._inner.targets

    @property
    def view(self) -> View | None:
        return self._inner.view

    @property
    def digest(self) -> str:
        return self._inner.digest

    def bind(self, still: Callable[[], bool]) -> None:
        self._inner.bind(still)

    async def run(self, confinement: Confinement) -> Done | Failed:
        try:
            outcome = self._redaction.outcome(await self._inner.run(confinement))
        except ToolError as error:
            words, hint = self._redaction.text(error.message), self._redaction.text(error.hint)
            raise ToolError(words, hint=hint) from error
        except Exception as error:  # A bug in a tool; its words may hold a secret.
            if (words := _told(error, self._redaction)) is None:
                raise
            raise ToolError(f"{self._tool} {words}") from error
        assert isinstance(outcome, Done | Failed)
        return outcome

    def close(self) -> None:
        self._inner.close()


def _told(error: Exception, redaction: Redaction) -> str | None:
    """What can be said of a bug whose words hold a secret; None where they hold none."""
    words = redaction.text(str(error))
    if words == str(error):
        return None
    return f"failed unexpectedly ({type(error).__name__}: {words})."
