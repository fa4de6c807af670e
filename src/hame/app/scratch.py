"""Scratch: the journal of a replay, which knows how far the recording has been played.

What the loop writes is compared with the recording. Where both are of one kind the recorded entry is
kept, so that a later difference is not the consequence of an earlier one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Never

import anyio
import msgspec

from hame.agent.inbox import Inbox
from hame.base.entry import (
    AnswerAbandoned,
    AnswerInterrupted,
    CacheRead,
    CallSettled,
    ConstraintAdded,
    ConstraintRemoved,
    Entry,
    HistoryCompacted,
    LabelSet,
    ModeChosen,
    ModelAnswered,
    ModelChosen,
    NoteAdded,
    QuestionSettled,
    Record,
    ResultsElided,
    Rewound,
    RunFinished,
    TitleSet,
    UserSaid,
)
from hame.base.errors import SessionError
from hame.base.message import Origin, ToolCall
from hame.base.outcome import Outcome
from hame.base.run import Stopped


class Divergence(msgspec.Struct, frozen=True):
    """A place where the replay is not what was recorded."""

    record: str
    """Id of the record that was due; empty behind the last one."""
    words: str


class Scratch:
    """A recording that is played. Implements `hame.base.ports.Journal` in memory."""

    def __init__(self, session: str, records: Sequence[Record]) -> None:
        """Play these records of one branch from the first."""
        self._session, self._records = session, records
        self._entries: list[Entry] = []
        self._ids: list[str] = []
        self._posted = 0
        self._lost = False
        self.ended = False
        """The last thing that the loop wrote was the end of its run."""
        self._outcomes: dict[str, list[tuple[int, Outcome]]] = {}
        """By call: a provider may use an id again once the call before is out of the model's sight."""
        for place, record in enumerate(records):
            if isinstance(entry := record.entry, CallSettled):
                self._outcomes.setdefault(entry.call_id, []).append((place, entry.outcome))
        self.labels: Mapping[str, str] = {}
        """None: nobody asks for them."""
        self.notices: Sequence[str] = ()
        self._origins = _next_origins(records)
        self.divergences: list[Divergence] = []
        self.inbox = Inbox()
        """Gets what the user said while the run was going, when it is due."""
        self.stop: Callable[[str], None] = lambda _: None
        """Stops the run that is going."""
        self.same_request: Callable[[bool], None] = lambda _: None
        """Is told whether the last request is the one that was recorded, where that is known."""

    # ------------------------------------------------------------ the Journal port

    @property
    def session(self) -> str:
        """The session's id."""
        return self._session

    @property
    def entries(self) -> Sequence[Entry]:
        """What has been played."""
        return self._entries

    @property
    def ids(self) -> Sequence[str]:
        """The ids of their records."""
        return self._ids

    async def move(self, record: str) -> None:
        """Refuse: a recording is played in one direction.

        Raises:
            SessionError: always.
        """
        raise SessionError(f"a replay cannot go to record {record}")

    async def append(self, entry: Entry, *, durable: bool = False) -> Record:
        """Compare an entry with the recorded one, which is kept in its place."""
        del durable
        if not self._lost:
            if not isinstance(entry, CacheRead):
                self._pass_over(type(entry))
            due = self.due
            if type(due) is type(entry):
                self._compare(entry, due)
                self.ended = isinstance(entry, RunFinished)
                return self.advance()
            self._differ(entry)
        return Record(id="", parent=None, at=self.at, entry=entry)

    def sync_soon(self) -> None:
        """Nothing is written."""

    # ------------------------------------------------------------ the place in the recording

    @property
    def due(self) -> Entry | None:
        """The recorded entry that comes next."""
        place = len(self._entries)
        return self._records[place].entry if place < len(self._records) else None

    @property
    def at(self) -> float:
        """The time of what was played last; Unix time in seconds."""
        return self._records[max(len(self._entries) - 1, 0)].at if self._records else 0.0

    @property
    def origin(self) -> Origin | None:
        """Who gives the next recorded answer, or gave the last."""
        return self._origins[len(self._entries)]

    def advance(self) -> Record:
        """Take the next recorded entry, and after it those that are not the loop's."""
        record = self._take()
        while self._is_foreign(self.due):
            self._take()
        self._post_steering()
        return record

    def skip_run(self) -> None:
        """Take what is left of a run that was given up."""
        while self.due is not None and not _is_outside(self.due):
            if isinstance(self._take().entry, RunFinished):
                break
        self.go_on()

    def go_on(self) -> None:
        """Compare again, after what was given up."""
        self._lost = False
        self.inbox.take()
        self._posted = len(self._entries)

    def outcome(self, call: ToolCall) -> Outcome | None:
        """What a call came to; None where the recording does not say."""
        here, found = len(self._entries), self._outcomes.get(call.id, ())
        return next((outcome for place, outcome in found if place >= here), None)

    def shortening(self) -> Sequence[Entry]:
        """The recorded entries, from here on, that shorten what the model sees."""
        found: list[Entry] = []
        for record in self._ahead(len(self._entries)):
            match record.entry:
                case CacheRead() if not found or isinstance(found[-1], ConstraintAdded):
                    continue
                case ConstraintAdded() if not found or isinstance(found[-1], ConstraintAdded):
                    found.append(record.entry)
                case HistoryCompacted() if not found or isinstance(found[-1], ConstraintAdded):
                    found.append(record.entry)
                case ResultsElided():
                    return [*found, record.entry]
                case _:
                    break
        ends = bool(found) and isinstance(found[-1], HistoryCompacted)
        return found if ends else []

    def end(self) -> RunFinished | Rewound | None:
        """How the run that is going ended; `Rewound` where the user went back into its midst."""
        for record in self._ahead(len(self._entries)):
            if isinstance(record.entry, RunFinished | Rewound):
                return record.entry
            if _is_outside(record.entry):
                return None
        return None

    def diverge(self, words: str) -> None:
        """Say that the replay is not what was recorded."""
        place = len(self._entries)
        record = self._records[place].id if place < len(self._records) else ""
        self.divergences.append(Divergence(record, words))

    async def give_up(self) -> Never:
        """End the run here without writing anything; the rest of it is taken as recorded."""
        self._lost = True
        await self.be_stopped()

    async def be_stopped(self) -> Never:
        """Stop the run as it was stopped, from within."""
        end = self.end()
        said = end.result if isinstance(end, RunFinished) else None
        self.stop(said.reason if isinstance(said, Stopped) else "stopped by the user")
        while True:
            await anyio.sleep_forever()

    def pass_accounts(self) -> None:
        """Take the accounts of the cache that the loop did not write."""
        self._pass_over(ModelAnswered)

    # ------------------------------------------------------------ inside

    def _ahead(self, place: int) -> Iterator[Record]:
        """The records from a place on; mostly only the first few are looked at."""
        return (self._records[each] for each in range(place, len(self._records)))

    def _take(self) -> Record:
        record = self._records[len(self._entries)]
        self._entries.append(record.entry)
        self._ids.append(record.id)
        return record

    def _post_steering(self) -> None:
        place = max(len(self._entries), self._posted)
        for record in self._ahead(place):
            if not (isinstance(record.entry, UserSaid) and record.entry.steering):
                break
            self.inbox.post(record.entry.message.words)
            place += 1
        self._posted = place

    def _is_foreign(self, entry: Entry | None) -> bool:
        """Whether an entry was written by the user's doing, beside the loop."""
        match entry:
            case QuestionSettled() | TitleSet() | LabelSet() | ModelChosen() | ModeChosen():
                return True
            case ConstraintRemoved():
                return True
            case ConstraintAdded(constraint=constraint):
                return constraint.found_by == "user"
            case NoteAdded(source="mode"):
                return True
            case NoteAdded(source="constraints"):
                # After a shortening the loop itself says which demands hold.
                return not isinstance(self._entries[-1], HistoryCompacted | ResultsElided)
            case _:
                return False

    def _pass_over(self, wanted: type[Entry]) -> None:
        """Take recorded entries beside the conversation that the loop did not write."""
        while isinstance(self.due, CacheRead | ConstraintAdded) and type(self.due) is not wanted:
            if isinstance(self.due, ConstraintAdded):
                self.diverge(f"a demand was recorded and not found: {self.due.constraint.text}")
            self.advance()

    def _compare(self, entry: Entry, due: Entry | None) -> None:
        match entry, due:
            case CacheRead(reading=now), CacheRead(reading=then):
                self.same_request(now.digest == then.digest)
            case ModelAnswered(message=now), ModelAnswered(message=then):
                if now.content != then.content:
                    self.diverge("the answer is not what was recorded")
            case CallSettled(), CallSettled():
                if (entry.call_id, type(entry.outcome)) != (due.call_id, type(due.outcome)):
                    self.diverge(f"recorded: {described(due)}; replayed: {described(entry)}")
            case NoteAdded(text=now), NoteAdded(text=then):
                if now != then:
                    self.diverge(f"recorded note: {then}; replayed: {now}")
            case ConstraintAdded(constraint=now), ConstraintAdded(constraint=then):
                if now.text != then.text:
                    self.diverge(f"recorded demand: {then.text}; replayed: {now.text}")
            case RunFinished(), RunFinished():
                if (type(entry.result), entry.steps) != (type(due.result), due.steps):
                    self.diverge(f"recorded: {described(due)}; replayed: {described(entry)}")
            case _:
                pass

    def _differ(self, entry: Entry) -> None:
        """The loop wrote what was not recorded here."""
        if isinstance(entry, CacheRead):
            return  # An older hame kept no such account.
        due = self.due
        recorded = described(due) if due is not None else "nothing more"
        self.diverge(f"recorded: {recorded}; replayed: {described(entry)}")
        if not isinstance(entry, ConstraintAdded):
            self._lost = True
            self.stop("given up")


def described(entry: Entry | None) -> str:
    """An entry in a few words."""
    match entry:
        case CallSettled(name=name, call_id=call, outcome=outcome):
            return f"{type(outcome).__name__} for {name} ({call})"
        case RunFinished(result=result, steps=steps):
            return f"the end of the run ({type(result).__name__}) after {steps} steps"
        case NoteAdded(source=source):
            return f"a note of hame's ({source})"
        case _:
            return type(entry).__name__


def _is_outside(entry: Entry) -> bool:
    """Whether a run that was going is over here: another begins, or the user went back."""
    return isinstance(entry, Rewound) or (isinstance(entry, UserSaid) and not entry.steering)


def _next_origins(records: Sequence[Record]) -> Sequence[Origin | None]:
    """For each place, and that behind the last: who answers next, or who answered last."""
    own = [_origin(record.entry) for record in records]
    following = next((origin for origin in reversed(own) if origin is not None), None)
    found: list[Origin | None] = [following]
    for origin in reversed(own):
        following = origin or following
        found.append(following)
    found.reverse()
    return found


def _origin(entry: Entry) -> Origin | None:
    match entry:
        case ModelAnswered(message=message) | AnswerAbandoned(message=message):
            return message.origin
        case AnswerInterrupted(message=message):
            return message.origin
        case _:
            return None
