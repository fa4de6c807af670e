"""Files of rules: reading, checking and writing them. docs/permissions.md describes the format."""

import os
import re
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import cast

import msgspec

from hame.base.errors import ConfigError
from hame.base.zone import Operation
from hame.permissions.decision import Decision
from hame.permissions.rule import (
    REST,
    UNRULY,
    UNRULY_PAIRS,
    Rule,
    Scope,
    Token,
    choices_of,
    describe,
)

_LIMIT = 1 << 20
"""Bytes of a file of rules."""

_TEXTS = ("cwd", "program", "tool", "source", "path", "host", "reason")
_LISTS = ("writes", "match", "no_match")
_KEYS = frozenset({"command", "operations", *_TEXTS, *_LISTS})
_SUBJECTS = ("command", "tool", "source", "path", "host")
_HEADER = re.compile(r"^\s*\[\[\s*(allow|ask|deny)\s*\]\]", re.MULTILINE)


class RuleFiles(msgspec.Struct, frozen=True):
    """Where rules are kept for one project."""

    config: str
    """hame's own configuration folder."""
    root: str
    """Real path of the project."""

    @property
    def user(self) -> str:
        """The user's, for all projects."""
        return f"{self.config}/permissions.toml"

    @property
    def project(self) -> str:
        """The user's, for this project; kept outside it."""
        digest = sha256(self.root.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", self.root.rpartition("/")[2]) or "root"
        return f"{self.config}/permissions/{name}-{digest}.toml"

    @property
    def repository(self) -> str:
        """The project's own, which may only deny and ask."""
        return f"{self.root.rstrip('/')}/.hame/permissions.toml"

    def of(self, scope: Scope) -> str:
        """The file of a scope that has one.

        Raises:
            ValueError: for the session, whose rules are in no file.
        """
        match scope:
            case Scope.USER:
                return self.user
            case Scope.PROJECT:
                return self.project
            case Scope.REPOSITORY:
                return self.repository
            case Scope.SESSION:
                raise ValueError("the rules of a session are in no file")


def read_rules(path: str, scope: Scope, *, root: str = "") -> tuple[Rule, ...]:
    """The rules of a file in their order; none where there is no file.

    `root` is the project that a file for one project must name.

    Raises:
        ConfigError: if it cannot be read, or a rule in it cannot be used.
    """
    text = _read_text(path)
    return () if text is None else parse_rules(text, path, scope, root=root)


def parse_rules(text: str, path: str, scope: Scope, *, root: str = "") -> tuple[Rule, ...]:
    """The rules of a text.

    Raises:
        ConfigError: if a rule cannot be used, naming which.
    """
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}", hint=f"Correct {path}.") from error
    named = table.pop("project", None)
    if scope is Scope.PROJECT and named != root:
        raise ConfigError(
            f"{path}: its rules are for {named}, not for {root}", hint="Remove or rename the file."
        )
    order = [match[1] for match in _HEADER.finditer(text)]
    rules: list[Rule] = []
    for name in table:
        if name not in set(Decision):
            known = "[[allow]], [[ask]] and [[deny]]"
            raise ConfigError(
                f"{path}: {name} is unknown; it holds {known}", hint=f"Correct {path}."
            )
    for decision in Decision:
        entries = cast("object", table.get(decision, []))
        if not isinstance(entries, list):
            raise ConfigError(
                f"{path}: write [[{decision}]], not [{decision}]", hint=f"Correct {path}."
            )
        for number, entry in enumerate(cast("list[object]", entries), 1):
            where = f"{path}: [[{decision}]] number {number}"
            rules.append(make_rule(decision, entry, where=where, scope=scope))
    return _in_order(rules, order)


def make_rule(decision: Decision, entry: object, *, where: str, scope: Scope) -> Rule:
    """A rule from its table.

    Raises:
        ConfigError: if a value is wrong, or the rule would be no protection.
    """
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} is not a table", hint="See docs/permissions.md.")
    table = cast("Mapping[str, object]", entry)
    unknown = [name for name in table if name not in _KEYS]
    if unknown:
        keys = ", ".join(sorted(_KEYS))
        raise ConfigError(f"{where}: {unknown[0]} is no part of a rule", hint=f"Parts: {keys}.")
    values: dict[str, object] = {
        name: _text(table, name, where) for name in _TEXTS if name in table
    }
    values |= {name: _texts(table, name, where) for name in _LISTS if name in table}
    rule = msgspec.structs.replace(
        Rule(decision=decision, scope=scope, where=where),
        command=_tokens(table, where),
        operations=_operations(table, where),
        **values,
    )
    check_rule(rule)
    return rule


def check_rule(rule: Rule) -> None:
    """Make sure that the rule says something, and not too much.

    Raises:
        ConfigError: if it does not.
    """
    where = rule.where or describe(rule)
    if not any(getattr(rule, name) for name in _SUBJECTS):
        raise ConfigError(f"{where} names nothing", hint=f"Name one of: {', '.join(_SUBJECTS)}.")
    if (rule.cwd or rule.writes or rule.program) and not rule.command:
        raise ConfigError(
            f"{where}: cwd, writes and program belong to a command", hint="Add command."
        )
    if rule.decision is not Decision.ALLOW and (rule.cwd or rule.writes or rule.program):
        # A refusal that holds in one folder only would be no protection: a `cd` leads around it.
        raise ConfigError(
            f"{where}: cwd, writes and program belong to a rule that allows",
            hint="Leave them out: what is refused is refused everywhere.",
        )
    if rule.operations and not rule.path:
        raise ConfigError(f"{where}: operations belong to a path", hint="Add path.")
    if not rule.command:
        return
    if REST in rule.command[:-1]:
        raise ConfigError(
            f"{where}: only the last word of a command may be *", hint="Name the words."
        )
    if rule.decision is Decision.ALLOW and rule.command[-1] == REST:
        _check_open_end(rule, where)


def _check_open_end(rule: Rule, where: str) -> None:
    firsts = choices_of(rule.command[0])
    seconds = choices_of(rule.command[1]) if len(rule.command) > 2 else ()
    names = [first.rpartition("/")[2] for first in firsts]
    unruly = [name for name in names if name in UNRULY or name == REST]
    unruly += [
        f"{name} {second}" for name in names for second in seconds if (name, second) in UNRULY_PAIRS
    ]
    bare = [
        name
        for name in names
        if len(rule.command) == 2 and any(name == pair[0] for pair in UNRULY_PAIRS)
    ]
    if unruly or bare:
        shown = (unruly or bare)[0]
        raise ConfigError(
            f"{where}: {shown} * would allow anything, since it runs what it is given",
            hint="Name the words one by one, without *.",
        )


def _text(table: Mapping[str, object], name: str, where: str) -> str:
    value = table[name]
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{where}: {name} must be a text", hint=f'Write {name} = "...".')
    return value


def _texts(table: Mapping[str, object], name: str, where: str) -> tuple[str, ...]:
    value = table[name]
    items = cast("list[object]", value) if isinstance(value, list) else []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in items):
        raise ConfigError(
            f"{where}: {name} must be a list of texts", hint=f'Write {name} = ["..."].'
        )
    return tuple(cast("list[str]", items))


def _tokens(table: Mapping[str, object], where: str) -> tuple[Token, ...]:
    value = table.get("command", [])
    refusal = ConfigError(
        f"{where}: command must be a list of words",
        hint='Write command = ["npm", "test"]; a word may be a list of choices, the last may be "*".',
    )
    if not isinstance(value, list) or ("command" in table and not value):
        raise refusal
    tokens: list[Token] = []
    for item in cast("list[object]", value):
        if isinstance(item, str) and item:
            tokens.append(item)
        elif (
            isinstance(item, list)
            and item
            and all(isinstance(word, str) for word in cast("list[object]", item))
        ):
            tokens.append(tuple(cast("list[str]", item)))
        else:
            raise refusal
    return tuple(tokens)


def _operations(table: Mapping[str, object], where: str) -> tuple[Operation, ...]:
    if "operations" not in table:
        return ()
    names = _texts(table, "operations", where)
    wrong = [name for name in names if name not in set(Operation)]
    if wrong:
        known = ", ".join(Operation)
        raise ConfigError(f"{where}: {wrong[0]} is no operation", hint=f"Operations: {known}.")
    return tuple(Operation(name) for name in names)


def _in_order(rules: list[Rule], order: list[str]) -> tuple[Rule, ...]:
    """Rules as they stand in the file, where the headers say so for certain."""
    waiting = {
        decision: [rule for rule in rules if rule.decision == decision] for decision in Decision
    }
    if sorted(order) != sorted(rule.decision for rule in rules):
        return tuple(rules)
    return tuple(waiting[Decision(name)].pop(0) for name in order)


def _read_text(path: str) -> str | None:
    try:
        # Not blocking: a FIFO in a project must not hold up the start.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LIMIT:
            raise ConfigError(f"{path}: is not a file of rules", hint="Move it out of the way.")
        return os.read(descriptor, _LIMIT).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 (byte {error.start})") from error
    finally:
        os.close(descriptor)


# ---------------------------------------------------------------- writing


def render_rule(rule: Rule) -> str:
    """The rule as TOML."""
    lines = [f"[[{rule.decision}]]"]
    if rule.command:
        tokens = [
            _quote(token) if isinstance(token, str) else _list(token) for token in rule.command
        ]
        lines.append(f"command = [{', '.join(tokens)}]")
    if rule.operations:
        lines.append(f"operations = {_list(rule.operations)}")
    lines += [
        f"{name} = {_quote(value)}"
        for name in _TEXTS
        if (value := cast("str", getattr(rule, name)))
    ]
    lines += [
        f"{name} = {_list(values)}"
        for name in _LISTS
        if (values := cast("tuple[str, ...]", getattr(rule, name)))
    ]
    return "\n".join(lines) + "\n"


def append_rule(path: str, rule: Rule, *, root: str = "") -> None:
    """Add a rule at the end of a file, which is made where it is missing; once is enough.

    Raises:
        ConfigError: if the rule cannot be used, or the file cannot be read or written.
    """
    check_rule(rule)
    with _locked(path):
        text = _read_text(path) or ""
        present = parse_rules(text, path, rule.scope, root=root) if text.strip() else ()
        if any(_same(rule, other) for other in present):
            return
        if not text.strip() and rule.scope is Scope.PROJECT:
            text = f"project = {_quote(root)}\n"
        if text and not text.endswith("\n"):
            text += "\n"
        _replace(path, f"{text}{chr(10) if text else ''}{render_rule(rule)}")


def remove_rule(path: str, rule: Rule, *, root: str = "") -> None:
    """Take a rule out of a file; the rest stays as it is written.

    Raises:
        ConfigError: if it is not there, or cannot be told from the rest.
    """
    with _locked(path):
        text = _read_text(path) or ""
        rules = parse_rules(text, path, rule.scope, root=root)
        index = next((i for i, other in enumerate(rules) if _same(rule, other)), None)
        headers = [match.start() for match in _HEADER.finditer(text)]
        if index is None or len(headers) != len(rules):
            raise ConfigError(f"{path}: the rule cannot be found", hint="Edit the file by hand.")
        end = headers[index + 1] if index + 1 < len(headers) else len(text)
        shorter = text[: headers[index]].rstrip("\n") + "\n\n" + text[end:].lstrip("\n")
        left = parse_rules(shorter, path, rule.scope, root=root)
        wanted = [other for i, other in enumerate(rules) if i != index]
        if len(left) != len(wanted) or not all(map(_same, left, wanted)):
            raise ConfigError(
                f"{path}: the rule cannot be taken out", hint="Edit the file by hand."
            )
        _replace(path, shorter.strip("\n") + "\n")


def _same(one: Rule, other: Rule) -> bool:
    return render_rule(one) == render_rule(other)


def _quote(text: str) -> str:
    # TOML's basic strings take JSON's escapes.
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(_quote(str(text)) for text in texts)}]"


@contextmanager
def _locked(path: str) -> Generator[None]:
    """One writer at a time.

    Raises:
        ConfigError: if the folder cannot be made or opened.
    """
    import fcntl

    folder = Path(path).parent
    try:
        _make_private(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _make_private(folder: Path) -> None:
    """Make a folder, and the missing ones above it, for the user alone whatever the umask.

    Raises:
        OSError: if it cannot be made.
    """
    if not folder.is_dir():
        _make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _replace(path: str, text: str) -> None:
    """Write the whole file anew: at every moment it is the old one or the new one.

    Raises:
        ConfigError: if it cannot be written.
    """
    import tempfile

    target = Path(os.path.realpath(path))  # A link to a file kept elsewhere stays a link.
    try:
        handle, temporary = tempfile.mkstemp(prefix=".permissions-", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
