"""Whether one rule leaves another nothing to decide: all that it covers, a stricter one covers too.

Deny counts before ask, and ask before allow, wherever the rules stand. What cannot be told for
certain counts as not covered.
"""

from collections.abc import Iterator
from itertools import product
from math import prod

from hame.base.glob import compile_glob, fixed_folder, is_plain
from hame.base.zone import ProjectPaths, split
from hame.permissions.commands.found import Found, Spoken
from hame.permissions.rule import (
    REST,
    Fit,
    Rule,
    choices_of,
    covers_host,
    covers_path,
    refuses_command,
)

_MOST_SPELLINGS = 64


def is_shadowed(rule: Rule, by: Rule, paths: ProjectPaths) -> bool:
    """Whether `by` decides everything that `rule` is about, and more strictly."""
    if by.decision.rank <= rule.decision.rank:
        return False
    if rule.command or by.command:
        return bool(rule.command and by.command) and _covers_commands(by, rule)
    return (
        _covers_names(by.tool, rule.tool)
        and _covers_names(by.source, rule.source)
        and _covers_hosts(by, rule)
        and _covers_operations(by, rule)
        and _covers_places(by, rule, paths)
    )


def spellings(rule: Rule) -> Iterator[tuple[str, ...]]:
    """The words of a command rule without its `*`, every choice in turn; none where there are many."""
    tokens = [choices_of(token) for token in rule.command if token != REST]
    if prod(map(len, tokens)) <= _MOST_SPELLINGS:
        yield from product(*tokens)


def _covers_commands(by: Rule, rule: Rule) -> bool:
    if by.tool or by.source or by.host or by.path:
        return False
    found = [Found(words=tuple(map(Spoken, words))) for words in spellings(rule)]
    return bool(found) and all(refuses_command(by, each) is Fit.YES for each in found)


def _covers_names(by: str, name: str) -> bool:
    if not by or by == name:
        return True
    return bool(name) and is_plain(name) and bool(compile_glob(by.lower()).fullmatch(name.lower()))


def _covers_hosts(by: Rule, rule: Rule) -> bool:
    if not by.host or by.host == rule.host:
        return True
    if not rule.host.startswith("*."):
        return bool(rule.host) and covers_host(by, rule.host)
    return by.host.startswith("*.") and rule.host.lower().endswith(by.host[1:].lower())


def _covers_operations(by: Rule, rule: Rule) -> bool:
    return not by.operations or bool(rule.operations and {*rule.operations} <= {*by.operations})


def _covers_places(by: Rule, rule: Rule, paths: ProjectPaths) -> bool:
    if not by.path or by.path == rule.path:
        return True
    if not rule.path:
        return False
    if is_plain(rule.path) and not rule.path.endswith("/"):
        if "/" in rule.path or "/" not in by.path:
            return covers_path(by, place_of(rule.path, paths), paths)
        return False
    return by.path.endswith("**") and _lies_below(by.path, rule.path, paths)


def _lies_below(by: str, pattern: str, paths: ProjectPaths) -> bool:
    """Whether all that a pattern matches lies in the folder of which `by` (`FOLDER/**`) is all."""
    folder = by.removesuffix("**")
    if not is_plain(folder) or pattern.endswith("/"):
        return False
    above = split(place_of(folder, paths).lower())
    return split(fixed_place(pattern, paths).lower())[: len(above)] == above


def place_of(pattern: str, paths: ProjectPaths) -> str:
    """The absolute path that a pattern without wildcards names."""
    if pattern.startswith("/"):
        return pattern
    if pattern == "~" or pattern.startswith("~/"):
        return paths.home + pattern[1:]
    return f"{paths.root}/{pattern}"


def fixed_place(pattern: str, paths: ProjectPaths) -> str:
    """The folder in which everything lies that a pattern matches."""
    fixed = "/".join(fixed_folder(pattern))
    return place_of(f"/{fixed}" if pattern.startswith("/") else fixed, paths)
