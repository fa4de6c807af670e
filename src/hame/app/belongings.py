"""What a folder brings with it, gathered before the user decides whether to trust it. Nothing is run."""

import os
from typing import Any

import msgspec

from hame.base.errors import ConfigError
from hame.config.environment import read_environment
from hame.config.places import Places
from hame.config.resolve import Proposed, load_settings
from hame.config.trust import Trust, TrustStore
from hame.permissions.decision import Decision
from hame.permissions.rule import Scope, describe
from hame.permissions.rulefile import RuleFiles, read_rules
from hame.workspace.inventory import Inventory, take_inventory


class Setting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value of the folder's own settings file."""

    key: str
    value: Any
    where: str
    counts: bool
    """Now, whether the folder is trusted or not."""
    waits: bool = False
    """It would count in a trusted folder."""
    why: str = ""
    """Why it does not count."""
    executes: bool = False
    connects: bool = False


class RuleLine(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the folder's own."""

    text: str
    counts: bool
    """Deny and ask rules do; an allow rule is a proposal."""


class Belongings(msgspec.Struct, frozen=True, kw_only=True):
    """A folder, and everything in it that wants something."""

    folder: str
    """Real path."""
    trust: Trust | None
    """Why it is trusted; None: it is not."""
    settings: tuple[Setting, ...]
    rules: tuple[RuleLine, ...]
    inventory: Inventory
    faults: tuple[str, ...] = ()
    """Files of hame's in it that cannot be used, and why."""

    @property
    def any(self) -> bool:
        """Whether there is anything to say."""
        found = self.inventory
        listed = (found.instructions, found.acting, found.leading, found.shared)
        return bool(self.settings or self.rules or self.faults or any(listed))


def gather(folder: str, places: Places) -> Belongings:
    """Look through a folder.

    Raises:
        ConfigError: if it is no folder, or hame's own files cannot be read.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):  # noqa: PTH112 - strings all through
        raise ConfigError(f"{folder} is not a folder", hint="hame trust PATH names a folder.")
    faults: list[str] = []
    return Belongings(
        folder=real,
        trust=TrustStore(places.trust_file).why(real),
        settings=_settings(real, places, faults),
        rules=_rules(real, places, faults),
        inventory=take_inventory(real),
        faults=tuple(faults),
    )


def _settings(folder: str, places: Places, faults: list[str]) -> tuple[Setting, ...]:
    try:
        loaded = load_settings(read_environment(), places, folder)
    except ConfigError as error:
        if f"{folder}/" not in error.message:
            raise
        faults.append(error.message)
        return ()
    return tuple(map(_setting, loaded.proposed))


def _setting(proposed: Proposed) -> Setting:
    key, value = proposed.key, proposed.value
    secret = key.name.endswith(".api_key")
    return Setting(
        key=key.name,
        value="(set)" if secret else msgspec.to_builtins(value.value),
        where=value.where,
        counts=not proposed.ignored,
        waits=proposed.waits,
        why=proposed.ignored,
        executes=key.mark.executes,
        connects=key.mark.connects,
    )


def _rules(folder: str, places: Places, faults: list[str]) -> tuple[RuleLine, ...]:
    try:
        rules = read_rules(RuleFiles(places.config, folder).repository, Scope.REPOSITORY)
    except ConfigError as error:
        faults.append(error.message)
        return ()
    return tuple(
        RuleLine(text=describe(rule), counts=rule.decision is not Decision.ALLOW) for rule in rules
    )
