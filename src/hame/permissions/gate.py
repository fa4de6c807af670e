"""The gate: policy, the user's rules, what was granted for this session, and the question."""

from collections.abc import Callable, Iterable

import anyio
import msgspec

from hame.base.confinement import Confinement, Reach
from hame.base.errors import ConfigError
from hame.base.json import get_string
from hame.base.message import ToolCall
from hame.base.outcome import CommandView, Corrected, Denied
from hame.base.ports import Action, Asker, Processes, Proposal, Shortfall
from hame.base.question import Answer, Choice, Question
from hame.base.settings import Mode
from hame.base.tool import ArgumentKind, Effect, ToolSpec
from hame.base.zone import ProjectPaths, Zone
from hame.permissions.decision import Decision, Judgement
from hame.permissions.judging import judge
from hame.permissions.policy import Matter, only_reads
from hame.permissions.rule import Scope, describe
from hame.permissions.rulebook import Rulebook
from hame.permissions.smallest import Smallest, smallest_rules
from hame.permissions.verdict import Pinned

_MOST_CHANGES = 3
"""How often a call may change while its question is open before it is refused."""


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate knows of where it stands."""

    paths: ProjectPaths
    level: str = "none"
    """How commands are confined."""
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
                    return answered.outcome or Confinement(reach=Reach.WRITE)
        return Denied(reason="it changed again and again while you were asked")

    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | None:
        """Nothing yet."""
        del proposal, short
        return None

    def _settled(self, inquiry: "_Inquiry") -> Denied | Judgement | Confinement:
        """Refused, allowed, or the judgement that asks."""
        ruling = judge(
            inquiry.matter, self._book, self._grounds.paths, pinned=self._grounds.find_program
        ).judgement
        match ruling.decision:
            case Decision.ALLOW:
                return _confinement_of(inquiry.matter)
            case Decision.DENY:
                return Denied(reason=ruling.reason)
            case Decision.ASK:
                granted = inquiry.keys and inquiry.keys <= self._grants
                return Confinement(reach=Reach.WRITE) if granted else ruling

    async def _ask(self, inquiry: "_Inquiry", ruling: Judgement) -> "_Answered | None":
        """Ask, and take the answer; None when what was asked about changed meanwhile."""
        from hame.permissions.witness import observe

        smallest = smallest_rules(inquiry.matter, self._grounds.paths, self._grounds.find_program)
        scene = inquiry.matter.analysis.scene if inquiry.matter.analysis else None
        root = self._grounds.paths.root
        before = (
            observe(inquiry.proposal.action.targets, scene, root),
            inquiry.proposal.action.digest,
        )
        question = await self._question(inquiry, ruling, smallest)
        began = anyio.current_time()
        answer: Answer | None = None
        with anyio.move_on_after(self._grounds.timeout_s):
            answer = await self._asker.ask(question)
        if answer is None:
            return _Answered(self._unanswered(ruling, anyio.current_time() - began))
        if answer.words or answer.choice not in {Choice.ONCE, Choice.SESSION, Choice.ALWAYS}:
            refused = Corrected(answer.words) if answer.words else Denied(reason="", by_user=True)
            return _Answered(refused)
        if (
            observe(inquiry.proposal.action.targets, scene, root),
            inquiry.proposal.action.digest,
        ) != before:
            return None
        return _Answered(self._take(answer, question, inquiry, smallest))

    def _unanswered(self, ruling: Judgement, waited_s: float) -> Denied:
        limit = self._grounds.timeout_s
        if limit is not None and waited_s >= limit:
            reason = f"{ruling.reason}, and nobody answered within {limit:.0f} s"
        else:
            reason = f"{ruling.reason}, and there was nobody to ask"
        return Denied(reason=reason, unanswered=True)

    def _take(
        self, answer: Answer, question: Question, inquiry: "_Inquiry", smallest: Smallest | None
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

    def _keep(self, smallest: Smallest, inquiry: "_Inquiry") -> Denied | None:
        try:
            for rule in smallest.rules:
                self._book.keep(rule)
        except ConfigError as error:
            return Denied(reason=f"the rule could not be kept: {error.message}")
        self._grants |= inquiry.keys
        return None

    async def _question(
        self, inquiry: "_Inquiry", ruling: Judgement, smallest: Smallest | None
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
            loss=await self._loss(inquiry),
            call_id=inquiry.proposal.call.id,
            tool=spec.name,
            source=spec.source,
            choices=(*choices, Choice.NO),
            grant=_describe_grant(spec, action, smallest) if inquiry.keys else "",
            rules=tuple(describe(rule) for rule in smallest.rules) if smallest else (),
            expires_s=self._grounds.timeout_s,
        )

    async def _loss(self, inquiry: "_Inquiry") -> str:
        analysis = inquiry.matter.analysis
        if analysis is None or analysis.scene is None:
            return ""
        from hame.permissions.losses import count_losses

        return await count_losses(analysis.scene, self._grounds.processes)

    def _inquire(self, proposal: Proposal) -> "_Inquiry":
        call, spec, action = proposal.call, proposal.spec, proposal.action
        command = _command_of(call, spec, action)
        cwd = _cwd_of(action) if spec.effect is Effect.RUN else ""
        matter = Matter(
            mode=self._mode(),
            spec=spec,
            targets=action.targets,
            command=command,
            analysis=None if command is None else self._analyse(command, cwd),
            hosts=tuple(_hosts_of(call, spec)),
        )
        keys = _grant_keys(spec, action, command, cwd)
        return _Inquiry(proposal=proposal, matter=matter, keys=keys)

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


def _confinement_of(matter: Matter) -> Confinement:
    """What a command that is allowed without a question may reach."""
    return Confinement(reach=Reach.READ if only_reads(matter) else Reach.WRITE)


class _Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """One call that is being decided."""

    proposal: Proposal
    matter: Matter
    keys: frozenset[tuple[str, str]]
    """What `session` would cover when no rule can say it."""


class _Answered(msgspec.Struct, frozen=True):
    outcome: Denied | Corrected | None


def _command_of(call: ToolCall, spec: ToolSpec, action: Action) -> str | None:
    """The command that runs: what the question shows, so that nothing else can be judged."""
    if spec.effect is not Effect.RUN or spec.source:
        return None
    if isinstance(action.view, CommandView):
        return action.view.command
    named = (item.name for item in spec.arguments if item.kind is ArgumentKind.COMMAND)
    return next((text for name in named if (text := get_string(call.arguments, name))), None)


def _cwd_of(action: Action) -> str:
    return action.targets[0].resolution.real if action.targets else ""


def _hosts_of(call: ToolCall, spec: ToolSpec) -> Iterable[str]:
    if spec.effect is not Effect.NETWORK:
        return
    from hame.permissions.examples import host_of

    for item in spec.arguments:
        if item.kind is ArgumentKind.URL and (text := get_string(call.arguments, item.name)):
            yield host_of(text)


def _grant_keys(
    spec: ToolSpec, action: Action, command: str | None, cwd: str
) -> frozenset[tuple[str, str]]:
    """What `session` would cover: this effect on these very places, or this very command.

    Contributed tools, and calls that name neither a place nor a command, are never granted.
    """
    if spec.source or spec.effect is Effect.NETWORK:
        return frozenset()
    if spec.effect is Effect.RUN:
        return frozenset({(f"{spec.name} in {cwd}", command or action.digest)})
    return frozenset(
        (f"{spec.effect} {target.operation}", target.resolution.real) for target in action.targets
    )


def _describe_grant(spec: ToolSpec, action: Action, smallest: Smallest | None) -> str:
    if spec.effect is Effect.RUN:
        return smallest.covers if smallest else "this very command, in this folder"
    shown = ", ".join(target.resolution.shown for target in action.targets)
    outside = any(target.resolution.zone is Zone.OUTSIDE for target in action.targets)
    verb = "reading" if spec.effect is Effect.READ else "changes to"
    return f"{verb} {shown}" + (" (outside the project)" if outside else "")
