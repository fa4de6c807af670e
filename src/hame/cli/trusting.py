"""What a folder brings, in words, and the question whether it is trusted."""

import os
import time
from collections.abc import Callable, Iterator, Sequence

from hame.app.belongings import Belongings, Setting, gather
from hame.base.errors import ConfigError
from hame.cli.reveal import one_line, reveal
from hame.cli.words import counted
from hame.config.places import Places
from hame.config.trust import Trust, TrustStore

_SHOWN = 12
"""Lines of one kind."""
_MEANING = (
    "Trusting it: its instructions are taken as yours, and the settings marked so count. It starts"
    " nothing, allows nothing, and whatever runs a program or opens a connection stays yours to set."
)
_SECOND_NAMES = (
    "What is written into such a file in place appears under its other names too, also outside this"
    " folder, and no sandbox sees that. hame's own edits put a new file in its place; a command that"
    " appends to it does not. Package managers that link from a store (uv, pnpm) make such files."
)


def belongings_lines(found: Belongings) -> list[str]:
    """Everything the folder brings, in paragraphs with headings."""
    lines = [_standing(found)]
    if not found.any:
        return [
            *lines,
            "It brings nothing that wants anything: no settings, rules or instructions.",
        ]
    lines += [f"cannot be used: {reveal(fault)}" for fault in found.faults]
    lines += _paragraph("Its settings for hame (.hame/config.toml)", map(_setting, found.settings))
    lines += _paragraph("Its rules for hame (.hame/permissions.toml)", _rules(found))
    stuff = found.inventory
    lines += _paragraph(
        "Instructions for agents",
        (
            f"{reveal(each.path)}, {counted(each.size, 'byte')}"
            + (f", {counted(each.hidden, 'hidden character')}" if each.hidden else "")
            for each in stuff.instructions
        ),
    )
    lines += _paragraph(
        "What makes other tools run something (hame runs none of it)",
        (f"{reveal(each.path)}: {one_line(each.what, 200)}" for each in stuff.acting),
    )
    lines += _paragraph(
        "Links that lead out of the folder",
        (f"{reveal(each.path)} -> {reveal(each.target)}" for each in stuff.leading),
        total=stuff.leading_count,
    )
    shared = [f"{reveal(each.path)}, {each.names} names" for each in stuff.shared]
    lines += _paragraph("Files with a second name", shared, total=stuff.shared_count)
    if shared:
        lines.append(f"  {_SECOND_NAMES}")
    if stuff.cut:
        lines += ["", "The folder is large: not all of it was looked through."]
    return lines


def meaning_lines(*, below: bool, path: str, home: str) -> list[str]:
    """What it means to say yes."""
    lines = [_MEANING]
    if below:
        lines.append(f"So is every folder below {reveal(path)}, whatever comes to lie there.")
        if path in {"/", home}:
            where = "this machine" if path == "/" else "your home"
            lines.append(f"That is everything in {where}, downloads included.")
    return lines


def decide_trust(
    project: str, places: Places, argument: str
) -> tuple[list[str], Callable[[], str] | None]:
    """What `/trust` shows, and what a yes does; None where there is nothing to ask.

    Raises:
        ConfigError: for an argument that is none, or if hame's own files cannot be used.
    """
    store = TrustStore(places.trust_file)
    if argument == "revoke":
        return [revoke_line(store, project)], None
    if argument not in {"", "below"}:
        raise ConfigError(f"/trust does not know {argument}", hint="/trust, below or revoke.")
    below = argument == "below"
    found = gather(project, places)
    lines = belongings_lines(found)
    if found.trust is not None and (found.trust.below or not below):
        return lines, None
    home = os.path.realpath(places.home)
    lines += ["", *meaning_lines(below=below, path=found.folder, home=home)]

    def grant() -> str:
        store.grant(found.folder, below=below)
        return "it is trusted; instructions count from the next session (/clear), settings from the next start"

    return lines, grant


def revoke_line(store: TrustStore, folder: str) -> str:
    """Trust a folder no more, and say what came of it.

    Raises:
        ConfigError: if that cannot be kept.
    """
    gone = store.revoke(folder)
    left = store.why(folder)
    if left is not None:
        return f"{reveal(folder)} is still trusted, as everything below {reveal(left.path)} is"
    return f"{reveal(folder)} is {'trusted no more' if gone else 'not trusted'}"


def trust_lines(folders: Sequence[Trust]) -> list[str]:
    """One line for each folder that is trusted."""
    if not folders:
        return ["no folder is trusted"]
    return [
        f"{reveal(each.path)}"
        + (" and everything below" if each.below else "")
        + f"  since {time.strftime('%Y-%m-%d', time.localtime(each.since))}"
        + ("" if each.stands else "  (not the folder that was trusted any more: it does not count)")
        for each in folders
    ]


def _standing(found: Belongings) -> str:
    folder, trust = reveal(found.folder), found.trust
    if trust is None:
        return f"{folder} is not trusted"
    if trust.path == found.folder:
        return f"{folder} is trusted" + (", and everything below it" if trust.below else "")
    return f"{folder} is trusted, as everything below {reveal(trust.path)} is"


def _setting(setting: Setting) -> str:
    marks = [
        *["runs a program"] * setting.executes,
        *["decides what is sent where"] * setting.connects,
    ]
    state = "counts" if setting.counts else "counts once trusted" if setting.waits else "ignored"
    if not setting.counts and not setting.waits:
        state = f"{state}: {setting.why}"
    mark = f" [{', '.join(marks)}]" if marks else ""
    return f"{one_line(setting.key, 80)} = {one_line(str(setting.value), 80)}{mark}: {state}"


def _rules(found: Belongings) -> Iterator[str]:
    for rule in found.rules:
        state = "counts" if rule.counts else "a proposal; hame permissions add --proposal"
        yield f"{one_line(rule.text, 160)}: {state}"


def _paragraph(title: str, lines: Iterator[str] | Sequence[str], total: int = 0) -> list[str]:
    found = list(lines)
    if not found:
        return []
    shown = found[:_SHOWN]
    more = max(total, len(found)) - len(shown)
    rest = [f"  and {more:,} more (--json lists them)"] if more else []
    return ["", title, *(f"  {line}" for line in shown), *rest]
