"""The gate: policy, the user's rules, what was granted for this session, and the question."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import msgspec

from hame.base.confinement import Confinement, Level, Reach, Standing
from hame.base.errors import ConfigError
from hame.base.outcome import Corrected, Denied
from hame.base.ports import Asker, Processes, Proposal, Shortfall
from hame.base.question import Answer, Choice, Question
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import ProjectPaths
from hame.permissions.decision import Decision, Judgement
from hame.permissions.extent import describe_extent, extent_of
from hame.permissions.inquiry import (
    Inquiry,
    command_of,
    cwd_of,
    describe_grant,
    grant_keys,
    hosts_of,
)
from hame.permissions.judging import judge
from hame.permissions.offer import Offer, offer_for
from hame.permissions.policy import Matter
from hame.permissions.rule import Scope, describe
from hame.permissions.rulebook import Rulebook
from hame.permissions.smallest import Smallest, smallest_rules
from hame.permissions.verdict import Pinned

if TYPE_CHECKING:
    from hame.permissions.witness import Witness

_MOST_CHANGES = 3
"""How often a call may change while its question is open before it is refused."""


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate knows of where it stands."""

    paths: ProjectPaths
    level: Level = Level.NONE
    """How commands are confined, unless `prepare` says it."""
    prepare: Callable[[], Awaitable[Standing]] | None = None
    """Finds out how well commands are confined here, before the first is judged."""
    unconfined: bool = False
    """The user said that commands are not to be confined."""
    search_path: tuple[str, ...] = ()
    """Folders in which programs are looked for."""
    find_program: Pinned | None = None
    """Where a program is found now."""
    processes: Processes | None = None
    """To count what a command would destroy."""
    timeout_s: float | None = None
    """How long a question waits for its answer; None: for ever."""


class RuleGate:
    """Implements the Gate port. An approval counts for exactly what was asked."""

    def __init__(
        self, *, mode: Callable[[], Mode], asker: Asker, grounds: Grounds, book: Rulebook
    ) -> None:
        """Take the mode as a function, since the user may change it while a run is going."""
        self._mode = mode
        self._asker = asker
        self._grounds = grounds
        self._book = book
        self._grants: set[tuple[str, str]] = set()
        self._turn = anyio.Lock()
        self._count = 0

    def forget_grants(self) -> None:
        """A new session begins: what was granted for the last one counts no more."""
        self._grants.clear()
        self._book.forget_session()

    async def decide(self, proposal: Proposal) -> Denied | Corrected | Confinement:
        """A confinement: it may run, reaching so far."""
        await self._find_level(proposal.spec)
        inquiry = self._inquire(proposal)
        settled = self._settled(inquiry)
        if not isinstance(settled, Judgement):
            return settled
        # One question at a time; an answer to the one before may have settled this one too.
        async with self._turn:
            for _ in range(_MOST_CHANGES):
                inquiry = self._inquire(proposal)
                settled = self._settled(inquiry)
                if not isinstance(settled, Judgement):
                    return settled
                answered = await self._ask(inquiry, settled)
                if answered is not None:
                    return answered.outcome or self._extent(inquiry, agreed=True)
        return Denied(reason="it changed again and again while you were asked")

    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | Corrected | None:
        """Offer what would have helped, the narrowest first; what is granted counts for this run."""
        inquiry = self._inquire(proposal)
        offer = offer_for(short, inquiry.matter, self._grounds.paths)
        if offer is None or inquiry.matter.mode is Mode.PLAN:
            return None
        if offer.free:
            self._bind(inquiry, self._look_at(inquiry))
            return offer.once
        async with self._turn:
            seen = self._look_at(inquiry)
            question = self._question_of(offer, inquiry)
            answer = await self._answer_to(question)
            if answer is None:
                return None
            if answer.words:
                return Corrected(answer.words)
            if answer.choice not in question.choices or self._look_at(inquiry) != seen:
                return None
            self._bind(inquiry, seen)
            return self._take_offer(answer.choice, offer)

    def _take_offer(self, choice: str, offer: Offer) -> Confinement | None:
        match choice:
            case Choice.OUTSIDE:
                return Confinement(reach=Reach.OUTSIDE)
            case Choice.ONCE:
                return offer.once
            case Choice.SESSION:
                for rule in offer.rules:
                    self._book.grant(msgspec.structs.replace(rule, scope=Scope.SESSION))
                return offer.once
            case Choice.ALWAYS:
                try:
                    for rule in offer.rules:
                        self._book.keep(rule)
                except ConfigError:
                    return None
                return offer.once
            case _:
                return None

    def _question_of(self, offer: Offer, inquiry: Inquiry) -> Question:
        self._count += 1
        proposal = inquiry.proposal
        choices = list(offer.choices)
        if offer.rules:
            lasting = [Choice.SESSION, *([Choice.ALWAYS] if self._book.keeps else [])]
            choices[1:1] = lasting
        return Question(
            id=f"q{self._count}",
            title=offer.title,
            view=proposal.action.view,
            reason="it failed, most likely because its sandbox kept it from this; "
            "with your leave it runs again",
            call_id=proposal.call.id,
            tool=proposal.spec.name,
            choices=tuple(choices),
            grant=offer.grant,
            rules=tuple(describe(rule) for rule in offer.rules),
            expires_s=self._grounds.timeout_s,
        )

    async def _find_level(self, spec: ToolSpec) -> None:
        if spec.effect is Effect.RUN and self._grounds.prepare is not None:
            level = (await self._grounds.prepare()).level
            self._grounds = msgspec.structs.replace(self._grounds, level=level)

    def _extent(self, inquiry: Inquiry, *, agreed: bool) -> Confinement:
        return extent_of(inquiry.matter, self._book.rules, agreed=agreed)

    def _settled(self, inquiry: Inquiry) -> Denied | Judgement | Confinement:
        """Refused, allowed, or the judgement that asks."""
        judged = judge(
            inquiry.matter, self._book, self._grounds.paths, pinned=self._grounds.find_program
        )
        ruling = judged.judgement
        match ruling.decision:
            case Decision.ALLOW:
                return self._extent(inquiry, agreed=bool(judged.allowed_by))
            case Decision.DENY:
                return Denied(reason=ruling.reason)
            case Decision.ASK:
                granted = inquiry.keys and inquiry.keys <= self._grants
                return self._extent(inquiry, agreed=True) if granted else ruling

    async def _ask(self, inquiry: Inquiry, ruling: Judgement) -> "_Answered | None":
        """Ask, and take the answer; None when what was asked about changed meanwhile."""
        smallest = smallest_rules(inquiry.matter, self._grounds.paths, self._grounds.find_program)
        before = self._look_at(inquiry)
        question = await self._question(inquiry, ruling, smallest)
        began = anyio.current_time()
        answer = await self._answer_to(question)
        if answer is None:
            return _Answered(self._unanswered(ruling, anyio.current_time() - began))
        if answer.words or answer.choice not in {Choice.ONCE, Choice.SESSION, Choice.ALWAYS}:
            refused = Corrected(answer.words) if answer.words else Denied(reason="", by_user=True)
            return _Answered(refused)
        if self._look_at(inquiry) != before:
            return None
        self._bind(inquiry, before)
        return _Answered(self._take(answer, question, inquiry, smallest))

    async def _answer_to(self, question: Question) -> Answer | None:
        with anyio.move_on_after(self._grounds.timeout_s):
            return await self._asker.ask(question)
        return None

    def _bind(self, inquiry: Inquiry, seen: "tuple[Witness, str]") -> None:
        """Hold the action to what was seen until it is done: between answer and start is time too."""
        inquiry.proposal.action.bind(lambda: self._look_at(inquiry) == seen)

    def _look_at(self, inquiry: Inquiry) -> "tuple[Witness, str]":
        """Everything that an answer is bound to."""
        from hame.permissions.witness import observe

        scene = inquiry.matter.analysis.scene if inquiry.matter.analysis else None
        action = inquiry.proposal.action
        return observe(action.targets, scene, self._grounds.paths.root), action.digest

    def _unanswered(self, ruling: Judgement, waited_s: float) -> Denied:
        limit = self._grounds.timeout_s
        if limit is not None and waited_s >= limit:
            reason = f"{ruling.reason}, and nobody answered within {limit:.0f} s"
        else:
            reason = f"{ruling.reason}, and there was nobody to ask"
        return Denied(reason=reason, unanswered=True)

    def _take(
        self, answer: Answer, question: Question, inquiry: Inquiry, smallest: Smallest | None
    ) -> Denied | None:
        if answer.choice not in question.choices:
            return Denied(reason="", by_user=True)
        match answer.choice:
            case Choice.SESSION if smallest is not None:
                for rule in smallest.rules:
                    self._book.grant(msgspec.structs.replace(rule, scope=Scope.SESSION))
                self._grants |= inquiry.keys
            case Choice.SESSION:
                self._grants |= inquiry.keys
            case Choice.ALWAYS if smallest is not None:
                return self._keep(smallest, inquiry)
            case _:
                pass
        return None

    def _keep(self, smallest: Smallest, inquiry: Inquiry) -> Denied | None:
        try:
            for rule in smallest.rules:
                self._book.keep(rule)
        except ConfigError as error:
            return Denied(reason=f"the rule could not be kept: {error.message}")
        self._grants |= inquiry.keys
        return None

    async def _question(
        self, inquiry: Inquiry, ruling: Judgement, smallest: Smallest | None
    ) -> Question:
        self._count += 1
        spec, action = inquiry.proposal.spec, inquiry.proposal.action
        choices = [Choice.ONCE]
        if inquiry.keys:
            choices.append(Choice.SESSION)
        if smallest is not None and self._book.keeps:
            choices.append(Choice.ALWAYS)
        title = spec.title or spec.name
        places = "\n".join(target.resolution.real for target in action.targets)
        return Question(
            id=f"q{self._count}",
            title=f"{title} {inquiry.proposal.summary}".strip(),
            detail=places if spec.effect is not Effect.RUN else "",
            view=action.view,
            reason=ruling.reason,
            extent=describe_extent(self._extent(inquiry, agreed=True), inquiry.matter),
            loss=await self._loss(inquiry),
            call_id=inquiry.proposal.call.id,
            tool=spec.name,
            source=spec.source,
            choices=(*choices, Choice.NO),
            grant=describe_grant(spec, action, smallest) if inquiry.keys else "",
            rules=tuple(describe(rule) for rule in smallest.rules) if smallest else (),
            expires_s=self._grounds.timeout_s,
        )

    async def _loss(self, inquiry: Inquiry) -> str:
        analysis = inquiry.matter.analysis
        if analysis is None or analysis.scene is None:
            return ""
        from hame.permissions.losses import count_losses

        return await count_losses(analysis.scene, self._grounds.processes)

    def _inquire(self, proposal: Proposal) -> Inquiry:
        call, spec, action = proposal.call, proposal.spec, proposal.action
        command = command_of(call, spec, action)
        cwd = cwd_of(action) if spec.effect is Effect.RUN else ""
        analysis = None if command is None else self._analyse(command, cwd)
        matter = Matter(
            mode=self._mode(),
            spec=spec,
            targets=action.targets,
            command=command,
            analysis=analysis,
            hosts=(*hosts_of(call, spec), *(analysis.departure.hosts if analysis else ())),
            level=self._grounds.level,
            unconfined=self._grounds.unconfined,
        )
        keys = grant_keys(spec, action, command, cwd)
        return Inquiry(proposal=proposal, matter=matter, keys=keys)

    def _analyse(self, command: str, cwd: str):  # noqa: ANN202 - the type is imported late
        from hame.permissions.commands.analysis import analyse
        from hame.permissions.commands.ground import Ground

        grounds = self._grounds
        ground = Ground(
            paths=grounds.paths, cwd=cwd, level=grounds.level, search_path=grounds.search_path
        )
        analysis = analyse(command, ground)
        # Without a folder it is no command line, but text for a program: no rule speaks of that.
        return analysis if cwd else msgspec.structs.replace(analysis, liftable=False)


class _Answered(msgspec.Struct, frozen=True):
    outcome: Denied | Corrected | None
