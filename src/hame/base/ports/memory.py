"""What is kept of a session, and what the model sees of it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from hame.base.entry import Entry, Record
from hame.base.errors import ErrorKind, Failure
from hame.base.memory import Constraint, Shortened, WindowReport
from hame.base.message import Assistant, Message, User
from hame.base.model import ModelFacts
from hame.base.outcome import Outcome
from hame.base.ports.models import ModelRequest
from hame.base.tool import ToolSpec


class Journal(Protocol):
    """A session's history: append-only, one writer."""

    @property
    def session(self) -> str:
        """The session's id."""
        ...

    @property
    def entries(self) -> Sequence[Entry]:
        """The active branch from the root; grows only at its end."""
        ...

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the entries' records, in the same order."""
        ...

    @property
    def labels(self) -> Mapping[str, str]:
        """The records that have a name for people, by it, branches that were left included."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What people have to know of it: what was repaired or left out, that it is not kept. It grows."""
        ...

    async def move(self, record: str) -> None:
        """Make the branch that ends in that record the active one; nothing is forgotten.

        The next entry follows it. `entries` and `ids` are new sequences from then on.

        Raises:
            SessionError: if there is no such record, or it could not be written down.
        """
        ...

    async def append(self, entry: Entry, *, durable: bool = False) -> Record:
        """Write an entry at the end of the active branch; it survives a kill of the process.

        With `durable` it survives a loss of power too.

        Raises:
            SessionError: if it could not be written (disk full, folder gone), or if what
                `sync_soon` began has failed.
        """
        ...

    def sync_soon(self) -> None:
        """Begin to make everything appended so far survive a loss of power; wait for nothing."""
        ...


AskModel: TypeAlias = Callable[[str, int], Awaitable[tuple[Assistant, Failure | None]]]
"""Asks the model, on the way of every turn, what these words of hame's say about the conversation.

The second argument is how many tokens the answer may have. What came is returned beside the failure.
"""


CountTokens: TypeAlias = Callable[[ModelRequest], Awaitable[int | None]]
"""Has the tokens of a request counted by who would answer it; None where they are not counted."""


WriteEntry: TypeAlias = Callable[[Entry], Awaitable[object]]
"""Journals an entry."""


class Context(Protocol):
    """What the model sees: a projection of the journal that fits its window."""

    def frame(self, system: str, tools: Sequence[ToolSpec]) -> None:
        """What goes with every request besides the messages; said at the start of each run."""
        ...

    async def fit(self, entries: Sequence[Entry], facts: ModelFacts) -> tuple[Message, ...]:
        """The messages to send.

        Successive calls with a growing history keep the earlier messages, until `shorten` has
        written an entry.
        """
        ...

    def admit(self, outcome: Outcome, facts: ModelFacts, among: int = 1) -> Outcome:
        """An outcome as the history takes it: what is too large is kept aside.

        `among` is how many calls its answer asked for.
        """
        ...

    def admit_message(self, message: User, facts: ModelFacts) -> User:
        """A message of the user's as the history takes it."""
        ...

    def is_full(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        """Whether room should be made before the next request."""
        ...

    def is_doubtful(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        """Whether only an exact count can tell if the next request fits: an estimate near the edge."""
        ...

    def counted(self, entries: Sequence[Entry], tokens: int) -> None:
        """The provider has counted the next request."""
        ...

    def overflowed(self, facts: ModelFacts, kind: ErrorKind) -> None:
        """The server said that the last request was too large: `shorten` will go further."""
        ...

    async def shorten(
        self,
        entries: Sequence[Entry],
        facts: ModelFacts,
        ask: AskModel,
        write: WriteEntry,
        *,
        focus: str | None = None,
    ) -> Shortened | None:
        """Make room by entries that change what is shown; None when there is nothing to gain.

        With `focus`, even an empty one, the user asks for a summary whatever the window holds.
        """
        ...

    def demands_in(self, words: str, record: str, at: float) -> Sequence[Constraint]:
        """The standing demands in a message of the user's that are not held yet."""
        ...

    def constraints(self, entries: Sequence[Entry]) -> Sequence[Constraint]:
        """The demands that hold."""
        ...

    def next_constraint(self, entries: Sequence[Entry]) -> str:
        """Id for a demand that is added by hand."""
        ...

    def report(self, entries: Sequence[Entry], facts: ModelFacts) -> WindowReport:
        """What fills the window now, for people."""
        ...

    def missing_demands(self, messages: Sequence[Message]) -> Sequence[Constraint]:
        """Those that hold and are not said anywhere in these messages."""
        ...
