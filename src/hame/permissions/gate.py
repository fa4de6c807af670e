"""The gate: policy, grants of this session, and the question."""

from collections.abc import Callable

import anyio

from hame.base.message import ToolCall
from hame.base.outcome import Corrected, Denied
from hame.base.ports import Action, Asker
from hame.base.question import Answer, Choice, Question
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import Zone
from hame.permissions.policy import Decision, judge


class ModeGate:
    """Implements the Gate port. Grants are scoped to a tool's effect and the very places or command."""

    def __init__(self, *, mode: Callable[[], Mode], asker: Asker) -> None:
        """Take the mode as a function, since the user may change it while a run is going."""
        self._mode = mode
        self._asker = asker
        self._grants: set[tuple[str, str]] = set()
        self._turn = anyio.Lock()
        self._count = 0

    def forget_grants(self) -> None:
        """A new session begins: what was granted for the last one counts no more."""
        self._grants.clear()

    async def decide(
        self, call: ToolCall, spec: ToolSpec, action: Action, summary: str
    ) -> Denied | Corrected | None:
        """None: it may run."""
        judgement = judge(self._mode(), spec, action.targets)
        if judgement.decision is Decision.ALLOW:
            return None
        if judgement.decision is Decision.DENY:
            return Denied(reason=judgement.reason)
        # One question at a time; an answer to the one before may have settled this one too.
        async with self._turn:
            keys = _grant_keys(spec, action)
            if keys and keys <= self._grants:
                return None
            answer = await self._asker.ask(
                self._question(call, spec, action, summary=summary, reason=judgement.reason)
            )
            return self._take(answer, keys, judgement.reason)

    def _take(
        self, answer: Answer | None, keys: frozenset[tuple[str, str]], reason: str
    ) -> Denied | Corrected | None:
        if answer is None:
            return Denied(reason=f"{reason}, and there was nobody to ask", unanswered=True)
        if answer.words:
            return Corrected(words=answer.words)
        if answer.choice == Choice.ONCE:
            return None
        if answer.choice == Choice.SESSION and keys:
            self._grants |= keys
            return None
        return Denied(reason="", by_user=True)

    def _question(
        self, call: ToolCall, spec: ToolSpec, action: Action, *, summary: str, reason: str
    ) -> Question:
        self._count += 1
        keys = _grant_keys(spec, action)
        choices = (Choice.ONCE, Choice.SESSION, Choice.NO) if keys else (Choice.ONCE, Choice.NO)
        title = spec.title or spec.name
        places = "\n".join(target.resolution.real for target in action.targets)
        return Question(
            id=f"q{self._count}",
            title=f"{title} {summary}".strip(),
            detail=places if spec.effect is not Effect.RUN else "",
            view=action.view,
            reason=reason,
            call_id=call.id,
            tool=spec.name,
            source=spec.source,
            choices=choices,
            grant=_describe_grant(spec, action) if keys else "",
        )


def _grant_keys(spec: ToolSpec, action: Action) -> frozenset[tuple[str, str]]:
    """What `session` would cover: this effect on these very places, or this very command.

    Contributed tools, and calls that name neither a place nor a command, are never granted.
    """
    if spec.source or spec.effect is Effect.NETWORK:
        return frozenset()
    if spec.effect is Effect.RUN:
        return frozenset({(spec.name, action.digest)})
    return frozenset(
        (f"{spec.effect} {target.operation}", target.resolution.real) for target in action.targets
    )


def _describe_grant(spec: ToolSpec, action: Action) -> str:
    if spec.effect is Effect.RUN:
        return "this very command, in this folder"
    shown = ", ".join(target.resolution.shown for target in action.targets)
    outside = any(target.resolution.zone is Zone.OUTSIDE for target in action.targets)
    verb = "reading" if spec.effect is Effect.READ else "changes to"
    return f"{verb} {shown}" + (" (outside the project)" if outside else "")
