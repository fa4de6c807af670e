"""A call that is being decided: what it comes to, and what an answer for the session would cover."""

from collections.abc import Iterable

import msgspec

from hame.base.json import get_string
from hame.base.message import ToolCall
from hame.base.outcome import CommandView
from hame.base.ports import Action, Proposal
from hame.base.tool import ArgumentKind, Effect, ToolSpec
from hame.base.zone import Zone
from hame.permissions.policy import Matter
from hame.permissions.smallest import Smallest


class Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """One call that is being decided."""

    proposal: Proposal
    matter: Matter
    keys: frozenset[tuple[str, str]]
    """What `session` would cover when no rule can say it."""


def command_of(call: ToolCall, spec: ToolSpec, action: Action) -> str | None:
    """The command that runs: what the question shows, so that nothing else can be judged."""
    if spec.effect is not Effect.RUN or spec.source:
        return None
    if isinstance(action.view, CommandView):
        return action.view.command
    named = (item.name for item in spec.arguments if item.kind is ArgumentKind.COMMAND)
    return next((text for name in named if (text := get_string(call.arguments, name))), None)


def cwd_of(action: Action) -> str:
    """The folder that a command starts in; empty for text that is no command line."""
    return action.targets[0].resolution.real if action.targets else ""


def hosts_of(call: ToolCall, spec: ToolSpec) -> Iterable[str]:
    """Machines that a tool of hame's own would talk to."""
    if spec.effect is not Effect.NETWORK:
        return
    from hame.permissions.examples import host_of

    for item in spec.arguments:
        if item.kind is ArgumentKind.URL and (text := get_string(call.arguments, item.name)):
            yield host_of(text)


def grant_keys(
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


def describe_grant(spec: ToolSpec, action: Action, smallest: Smallest | None) -> str:
    """What `session` would cover, in words."""
    if spec.effect is Effect.RUN:
        return smallest.covers if smallest else "this very command, in this folder"
    shown = ", ".join(target.resolution.shown for target in action.targets)
    outside = any(target.resolution.zone is Zone.OUTSIDE for target in action.targets)
    verb = "reading" if spec.effect is Effect.READ else "changes to"
    return f"{verb} {shown}" + (" (outside the project)" if outside else "")
