"""`hame permissions`: the rules, what they make of a command, and rules worth having."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import click
import msgspec

from hame.app.rules import Checked, Checker, ground_of, past_commands, project_paths
from hame.base.errors import ConfigError
from hame.base.json import dump
from hame.base.settings import Mode
from hame.base.zone import ProjectPaths
from hame.cli.exits import ExitCode
from hame.cli.launch import Launch, prepare
from hame.cli.reveal import one_line, reveal
from hame.permissions.decision import Decision
from hame.permissions.futility import Futile, futile_rules
from hame.permissions.proposing import Proposal
from hame.permissions.rule import Rule, Scope, describe
from hame.permissions.rulebook import Rulebook, failed_examples, open_rulebook
from hame.permissions.rulefile import RuleFiles, make_rule, read_rules, render_rule

_LEVELS = ("A", "B", "none")
_SCOPES = (Scope.USER, Scope.PROJECT, Scope.REPOSITORY)
_TITLES = {
    Scope.USER: "Yours, for all projects",
    Scope.PROJECT: "Yours, for this project",
    Scope.REPOSITORY: "The project's own (deny and ask count; allow is a proposal)",
}


@click.group(invoke_without_command=True)
@click.pass_context
def permissions(ctx: click.Context) -> None:
    """Show, check and change what may run without a question.

    Without a subcommand: the rules of this project.
    """
    ctx.obj = prepare(ctx.obj, interactive=False)
    if ctx.invoked_subcommand is None:
        _list(ctx.obj, as_json=False)


@permissions.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_rules(launch: Launch, *, as_json: bool) -> None:
    """The rules of this project, numbered."""
    _list(launch, as_json=as_json)


@permissions.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option(
    "--batch",
    metavar="FILE",
    help="Judge every row (id, command) of a JSON-lines file, as for a user without rules.",
)
@click.option("--mode", type=click.Choice([*map(str, Mode)]), default="ask", help="In which mode.")
@click.option(
    "--sandbox-level",
    "level",
    type=click.Choice(_LEVELS),
    default="A",
    help="How it would be confined.",
)
@click.option("--home", metavar="DIR", help="Another home.")
@click.option("--workspace", metavar="DIR", help="Another project; it need not exist.")
@click.argument("words", nargs=-1, metavar="[-- COMMAND...]")
@click.pass_obj
def check(launch: Launch, words: tuple[str, ...], **options: object) -> int:
    """Say what would become of COMMAND, by which rule, and why. Nothing is run.

    One word is taken for a whole command line, several for the words of one command.
    """
    asked = msgspec.convert(options, _Check)
    paths = _paths(launch, asked.home, asked.workspace)
    ground = ground_of(paths, launch.environment, asked.level)
    if asked.batch is not None:
        checker = Checker(ground)
        for row in _rows(asked.batch):
            sys.stdout.write(json.dumps(_judge_row(checker, row, asked.mode)) + "\n")
        return ExitCode.DONE
    command = _command_line(words)
    config = launch.places.config
    book = Rulebook() if asked.workspace is not None else open_rulebook(config, paths)
    checked = Checker(ground, book).check(command, asked.mode)
    if asked.as_json:
        sys.stdout.write(json.dumps(_as_json(checked) | {"command": command}) + "\n")
    else:
        _explain(command, checked)
    return ExitCode.DONE


class _Check(msgspec.Struct, frozen=True, kw_only=True):
    """What `check` was asked."""

    as_json: bool
    batch: str | None
    mode: Mode
    level: str
    home: str | None
    workspace: str | None


def _command_line(words: tuple[str, ...]) -> str:
    """The command line of one word, or of the words of one command.

    Raises:
        ConfigError: if there is none.
    """
    if not words:
        hint = "hame permissions check -- COMMAND, or --batch FILE."
        raise ConfigError("there is no command to check", hint=hint)
    from shlex import join

    return words[0] if len(words) == 1 else join(words)


@permissions.command()
@click.pass_obj
def test(launch: Launch) -> int:
    """Check every rule and its examples; exit code 1 when one fails.

    Rules that can never match are named too; they are no failure.
    """
    paths = _paths(launch, None, None)
    rules = [rule for _, rules in _read_all(launch, paths) for rule in rules]
    examples = sum(len(rule.match) + len(rule.no_match) for rule in rules)
    failed = failed_examples(rules, paths)
    futile = _futile(launch, rules, paths)
    for line in (*failed, *(each.said for each in futile)):
        sys.stdout.write(f"{reveal(line)}\n")
    never = f", {len(futile)} without effect" if futile else ""
    sys.stdout.write(f"{len(rules)} rules, {examples} examples, {len(failed)} failed{never}\n")
    return ExitCode.FAILED if failed else ExitCode.DONE


@permissions.command()
@click.argument("decision", type=click.Choice([*map(str, Decision)]), required=False)
@click.option("--everywhere", is_flag=True, help="For all projects, not for this one.")
@click.option("--tool", help="A tool, as a glob.")
@click.option("--source", help="Who contributes the tool, as a glob.")
@click.option("--path", help="A place, as a glob: relative, absolute or below ~/.")
@click.option(
    "--operation",
    "operations",
    multiple=True,
    help="read, list, write, create, delete; repeatable.",
)
@click.option("--host", help="A machine; *.example.org for all below.")
@click.option("--cwd", help="Folder the command must start in.")
@click.option(
    "--writes", multiple=True, help="File it may write by redirection, as a glob; repeatable."
)
@click.option("--reason", help="Shown with every verdict.")
@click.option("--match", multiple=True, help="An example that it must match; repeatable.")
@click.option(
    "--no-match", "no_match", multiple=True, help="An example that it must not match; repeatable."
)
@click.option(
    "--proposal", type=int, metavar="N", help="Take over the project's proposal number N."
)
@click.argument("words", nargs=-1, metavar="[-- COMMAND...]")
@click.pass_obj
def add(
    launch: Launch,
    *,
    decision: str | None,
    everywhere: bool,
    proposal: int | None,
    words: tuple[str, ...],
    **parts: object,
) -> None:
    """Add a rule, for instance: hame permissions add allow -- npm test.

    The words of the command are matched one by one; the last may be '*' for whatever follows.
    """
    paths = _paths(launch, None, None)
    scope = Scope.USER if everywhere else Scope.PROJECT
    if proposal is not None:
        rule = msgspec.structs.replace(_proposal(launch, paths, proposal), scope=scope, where="")
    else:
        table: dict[str, object] = {
            name: list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
            for name, value in parts.items()
            if value
        }
        if words:
            table["command"] = list(words)
        rule = make_rule(_decision(decision), table, where="the new rule", scope=scope)
    _refuse_failing(rule, paths)
    book = open_rulebook(launch.places.config, paths)
    book.keep(rule)
    sys.stdout.write(f"{reveal(describe(rule))}\n")
    for futile in _futile(launch, book.rules, paths):
        if futile.rule is rule:
            sys.stderr.write(f"hame: {reveal(futile.said)}\n")


def _decision(named: str | None) -> Decision:
    """The decision that was named.

    Raises:
        ConfigError: if none was.
    """
    if named is None:
        hint = "hame permissions add deny --path 'secrets/**'."
        raise ConfigError("say what to decide: allow, ask or deny", hint=hint)
    return Decision(named)


def _refuse_failing(rule: Rule, paths: ProjectPaths) -> None:
    """Make sure that the examples of a new rule hold.

    Raises:
        ConfigError: if one does not.
    """
    failed = failed_examples([rule], paths)
    if failed:
        raise ConfigError(failed[0], hint="Nothing was written.")


@permissions.command()
@click.argument("number", type=int)
@click.pass_obj
def remove(launch: Launch, number: int) -> None:
    """Remove the rule of that NUMBER.

    `hame permissions list` shows the numbers.

    Raises:
        ConfigError: if there is none, or it is not the user's.
    """
    paths = _paths(launch, None, None)
    numbered = [rule for _, rules in _read_all(launch, paths) for rule in rules]
    if not 1 <= number <= len(numbered):
        raise ConfigError(
            f"there is no rule number {number}", hint="hame permissions list shows them."
        )
    rule = numbered[number - 1]
    if rule.scope is Scope.REPOSITORY:
        path = RuleFiles(launch.places.config, paths.root).repository
        raise ConfigError("it is the project's own rule", hint=f"Edit {path}.")
    open_rulebook(launch.places.config, paths).drop(rule)
    sys.stdout.write(f"removed: {reveal(describe(rule))}\n")


@permissions.command("propose")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def propose_rules(launch: Launch, *, as_json: bool) -> None:
    """Propose rules that would have saved questions.

    Questions of past sessions of this project; the smallest rules come first.
    """
    paths = _paths(launch, None, None)
    book = open_rulebook(launch.places.config, paths)
    checker = Checker(ground_of(paths, launch.environment), book)
    proposals = checker.propose(past_commands(launch.places, paths))
    if as_json:
        sys.stdout.write(dump([_proposal_json(proposal) for proposal in proposals]) + "\n")
        return
    if not proposals:
        sys.stderr.write("hame: no rule would have saved more than one question here\n")
    for proposal in proposals:
        sys.stdout.write(f"{render_rule(proposal.rule)}")
        sys.stdout.write(
            f"# would have saved {proposal.saves} questions; allows also: {proposal.allows_too}\n\n"
        )


# ---------------------------------------------------------------- inside


def _paths(launch: Launch, home: str | None, workspace: str | None) -> ProjectPaths:
    places = launch.places
    if home is not None:
        home = os.path.realpath(home)
        from hame.config.places import find_places

        places = find_places({"HOME": home})
    root = os.path.realpath(workspace) if workspace is not None else launch.project
    return project_paths(places, root, launch.settings.add_dirs if workspace is None else ())


def _futile(launch: Launch, rules: Sequence[Rule], paths: ProjectPaths) -> list[Futile]:
    """The rules that can never match, and why."""
    pinned = Checker(ground_of(paths, launch.environment)).pinned
    return futile_rules(rules, paths, pinned, reading=True)


def _read_all(launch: Launch, paths: ProjectPaths) -> list[tuple[Scope, tuple[Rule, ...]]]:
    files = RuleFiles(launch.places.config, paths.root)
    return [(scope, read_rules(files.of(scope), scope, root=paths.root)) for scope in _SCOPES]


def _list(launch: Launch, *, as_json: bool) -> None:
    paths = _paths(launch, None, None)
    found = _read_all(launch, paths)
    if as_json:
        rows = [_rule_json(rule) for _, rules in found for rule in rules]
        numbered = [{"number": number, **row} for number, row in enumerate(rows, 1)]
        sys.stdout.write(dump(numbered) + "\n")
        return
    number = proposals = 0
    for scope, rules in found:
        if not rules:
            continue
        sys.stdout.write(
            f"{_TITLES[scope]}: {RuleFiles(launch.places.config, paths.root).of(scope)}\n"
        )
        for rule in rules:
            number += 1
            proposed = scope is Scope.REPOSITORY and rule.decision is Decision.ALLOW
            proposals += proposed
            mark = f"  (proposal {proposals}, does not count)" if proposed else ""
            because = f"  # {one_line(rule.reason, 200)}" if rule.reason else ""
            sys.stdout.write(f"  {number:>3}  {reveal(describe(rule))}{mark}{because}\n")
        sys.stdout.write("\n")
    if not number:
        sys.stderr.write("hame: there are no rules yet; hame permissions add allow -- npm test\n")


def _proposal(launch: Launch, paths: ProjectPaths, number: int) -> Rule:
    """A proposal of the project by its number.

    Raises:
        ConfigError: if there is none.
    """
    proposals = open_rulebook(launch.places.config, paths).proposals
    if not 1 <= number <= len(proposals):
        raise ConfigError(
            f"there is no proposal {number}", hint="hame permissions list shows them."
        )
    return proposals[number - 1]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a batch."""

    command: str
    id: str | int | None = None
    cwd: str = ""
    """Folder it would start in; empty: the project's."""
    symlinks: dict[str, str] = {}
    """Links that are taken as being there: path and target, absolute."""


def _rows(file: str) -> Iterator[Row]:
    """The rows of a JSON-lines file.

    Raises:
        ConfigError: if it cannot be read, naming the line.
    """
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"cannot read {file}: {why}", hint="Name a JSON-lines file.") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                # Not msgspec: half a surrogate pair is to be judged, not refused.
                yield msgspec.convert(json.loads(line), Row)
            except ValueError as error:
                hint = "One JSON object a line, with id and command."
                raise ConfigError(f"{file}:{number}: {error}", hint=hint) from error


def _judge_row(checker: Checker, row: Row, mode: Mode) -> dict[str, object]:
    checked = checker.check(row.command, mode, cwd=row.cwd, links=row.symlinks)
    return {"id": row.id, **_verdict(checked)}


def _verdict(checked: Checked) -> dict[str, object]:
    judgement = checked.judgement
    return {"verdict": judgement.decision, "rule": judgement.rule, "reason": judgement.reason}


def _as_json(checked: Checked) -> dict[str, object]:
    asks = [
        {"command": [word.text for word in item.words], "reason": item.reason}
        for item in checked.analysis.open
    ]
    return {**_verdict(checked), "asks": asks, "extent": checked.extent}


def _explain(command: str, checked: Checked) -> None:
    judgement = checked.judgement
    sys.stdout.write(f"{judgement.decision}: {reveal(command)}\n")
    if judgement.reason:
        sys.stdout.write(f"  because {reveal(judgement.reason)}\n")
    if judgement.rule:
        sys.stdout.write(f"  by {reveal(judgement.rule)}\n")
    if judgement.decision is not Decision.DENY:
        sys.stdout.write(f"  {reveal(checked.extent)}\n")
    for item in checked.analysis.open[1:]:
        words = " ".join(word.text for word in item.words)
        sys.stdout.write(f"  also asks: {reveal(words)} ({reveal(item.reason)})\n")


def _rule_json(rule: Rule) -> dict[str, object]:
    plain = msgspec.to_builtins(rule)
    return {"decision": rule.decision, **plain, "scope": rule.scope}


def _proposal_json(proposal: Proposal) -> dict[str, object]:
    return {
        "rule": describe(proposal.rule),
        "toml": render_rule(proposal.rule),
        "saves": proposal.saves,
        "allows_too": proposal.allows_too,
    }
