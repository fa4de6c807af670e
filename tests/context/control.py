"""The control: the same spill at the door and the same cache marks, and a plain summary at 75 %."""

from collections.abc import Sequence

from typing_extensions import override

from hame.base.entry import Entry, HistoryCompacted
from hame.base.memory import Constraint, KeptWords, Shortened
from hame.base.message import Message
from hame.base.model import ModelFacts
from hame.base.ports import AskModel, WriteEntry
from hame.context import Window

ASK = """[hame] The conversation is getting long. Summarise everything above in a few paragraphs; the \
summary will take its place."""


class PlainSummary(Window):
    """Implements the Context port the way most harnesses do."""

    @override
    def is_full(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        self.projection.read(entries)
        return self._tokens() > self.limit(facts) * 0.75

    @override
    def demands_in(self, words: str, record: str, at: float) -> Sequence[Constraint]:
        return ()

    @override
    async def shorten(
        self,
        entries: Sequence[Entry],
        facts: ModelFacts,
        ask: AskModel,
        write: WriteEntry,
        *,
        focus: str | None = None,
    ) -> Shortened | None:
        self.projection.read(entries)
        before = self._tokens()
        answer, _ = await ask(ASK, 4_000)
        kept, _ = self._kept(0, len(entries))
        remembered = self.projection.remembered
        # It goes on with the last request, as everybody does.
        last = (KeptWords(remembered.said[-1].words.text),) if remembered.said else ()
        await write(
            HistoryCompacted(
                summary=answer.text, kept=kept, notes=remembered.notes, words=last, by_model=True
            )
        )
        self.projection.read(entries)
        return Shortened(tokens_before=before, tokens_after=self._tokens(), summary=answer.text)

    @override
    def missing_demands(self, messages: Sequence[Message]) -> Sequence[Constraint]:
        return ()
