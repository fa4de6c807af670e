"""Rules of the user: what they are, and what they match."""

from enum import StrEnum
from typing import TypeAlias

import msgspec

from hame.base.glob import compile_glob
from hame.base.ports import Target
from hame.base.tool import ToolSpec
from hame.base.zone import Operation, ProjectPaths, split
from hame.permissions.commands.found import UNKNOWN, Found
from hame.permissions.commands.line import Word
from hame.permissions.decision import Decision
from hame.permissions.names import names

REST = "*"
"""As the last token of a command: whatever follows, and nothing too."""

Token: TypeAlias = str | tuple[str, ...]
"""A word of a command, or a choice of words."""

UNRULY = names(
    "python python2 python3 pypy node nodejs deno bun bash sh zsh dash fish ksh perl ruby php lua awk gawk mawk sed "
    "env xargs sudo doas su timeout nice nohup setsid time watch find fd npx bunx uvx pipx docker podman ssh eval "
    "exec command source . parallel strace busybox osascript pwsh powershell make just vim vi emacs nano ed ex"
)
"""Programs that run whatever they are given: no rule may end with `*` for them."""

UNRULY_PAIRS = frozenset({
    ("npm", "run"), ("npm", "exec"), ("npm", "x"), ("pnpm", "run"), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "run"),
    ("yarn", "exec"), ("yarn", "dlx"), ("uv", "run"), ("uv", "tool"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"),
    ("hatch", "run"), ("cargo", "run"), ("go", "run"), ("go", "generate"), ("bundle", "exec"), ("rye", "run"),
    ("git", "-c"), ("git", "bisect"), ("git", "filter-branch"), ("git", "config"), ("conda", "run"), ("bun", "run"),
    ("kubectl", "exec"), ("composer", "exec"), ("dotnet", "run"), ("mise", "exec"), ("nix", "run"), ("nix", "develop"),
})  # fmt: skip
"""Sub-commands that do."""


class Scope(StrEnum):
    """Where a rule comes from."""

    SESSION = "session"
    """Granted until the session ends."""
    PROJECT = "project"
    """The user's, for one project."""
    USER = "user"
    """The user's, for all projects."""
    REPOSITORY = "repository"
    """The project's own file: it may only deny and ask."""


class Rule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One rule. It applies when everything it names fits; at least one thing is named."""

    decision: Decision
    command: tuple[Token, ...] = ()
    """Words of one simple command."""
    cwd: str = ""
    """Folder the command must start in, relative to the project; empty: any."""
    writes: tuple[str, ...] = ()
    """Files that the line may write by redirection, as globs."""
    program: str = ""
    """Path of the program when the rule was made; another program asks again."""
    tool: str = ""
    """Name of a tool, as a glob."""
    source: str = ""
    """Who contributes the tool, as a glob."""
    path: str = ""
    """Place, as a glob: relative to the project, absolute, or below `~/`."""
    operations: tuple[Operation, ...] = ()
    """What may be done there; empty: anything."""
    host: str = ""
    """Machine, `*.example.org` for all below."""
    reason: str = ""
    """Shown to the user and told to the model."""
    match: tuple[str, ...] = ()
    """Examples that it must match."""
    no_match: tuple[str, ...] = ()
    """Examples that it must not match."""
    scope: Scope = Scope.USER
    where: str = ""
    """File and number, for messages."""

    @property
    def name(self) -> str:
        """How a verdict names the rule."""
        return f"{self.scope} rule: {describe(self)}"


def describe(rule: Rule) -> str:
    """The rule in one line, as it would stand in a file."""
    parts: list[str] = []
    if rule.command:
        parts.append(f"command {show_tokens(rule.command)}")
    for label in ("tool", "source", "path", "host", "cwd"):
        value = getattr(rule, label)
        if value:
            parts.append(f"{label} {value}")
    if rule.operations:
        parts.append(f"to {'/'.join(rule.operations)}")
    if rule.writes:
        parts.append(f"writing {', '.join(rule.writes)}")
    return f"{rule.decision} {', '.join(parts)}"


def show_tokens(tokens: tuple[Token, ...]) -> str:
    """Tokens as a shell would have them typed."""
    from shlex import quote

    return " ".join(
        "*" if token == REST else quote(token) if isinstance(token, str) else f"({'|'.join(token)})"
        for token in tokens
    )


# ---------------------------------------------------------------- commands


def allows_words(rule: Rule, words: tuple[Word, ...]) -> bool:
    """Whether an allow rule covers a simple command: token by token, `*` only for plain words."""
    tokens = rule.command
    rest = bool(tokens) and tokens[-1] == REST
    if rest:
        tokens = tokens[:-1]
    if len(words) < len(tokens) or (len(words) > len(tokens) and not rest):
        return False
    if not all(_fits(token, word.text) for token, word in zip(tokens, words, strict=False)):
        return False
    # What the shell expands may become an option; only the very text that was agreed to passes.
    return all(word.literal for word in words[len(tokens) :])


class Fit(StrEnum):
    """Whether a rule that refuses covers a command."""

    YES = "yes"
    NO = "no"
    PERHAPS = "perhaps"
    """Too little of the command is known before it runs."""


def refuses_command(rule: Rule, found: Found) -> Fit:
    """Whether a deny or ask rule covers a command: its words in this order, others between them.

    `git push --force` covers `git -C sub push origin --force` too; a short option is found in a
    cluster of options.
    """
    if not found.words or not rule.command:
        return Fit.NO
    first, *tokens = rule.command
    name = found.name
    if first == REST:
        return Fit.YES
    if UNKNOWN in found.words[0].text:
        return Fit.PERHAPS
    if not _fits(first, name) and not _fits(first, found.words[0].text):
        return Fit.NO
    left = list(found.texts)
    for token in tokens:
        if token == REST:
            continue
        while left and not _refused_word(token, left[0]):
            left.pop(0)
        if not left:
            return Fit.PERHAPS if any(UNKNOWN in text for text in found.texts) else Fit.NO
        left.pop(0)
    return Fit.YES


def choices_of(token: Token) -> tuple[str, ...]:
    """The words that a token stands for."""
    return (token,) if isinstance(token, str) else token


def _fits(token: Token, text: str) -> bool:
    return text in choices_of(token)


def _refused_word(token: Token, text: str) -> bool:
    choices = choices_of(token)
    if text in choices or text.partition("=")[0] in choices:
        return True
    if not text.startswith("-") or text.startswith("--"):
        return False
    return any(
        len(choice) == 2 and choice[0] == "-" and choice[1] in text[1:] for choice in choices
    )


# ---------------------------------------------------------------- places, tools, hosts


def covers_tool(rule: Rule, spec: ToolSpec) -> bool:
    """Whether the rule speaks of this tool; one that names none speaks of all."""
    if rule.tool and not _glob_fits(rule.tool, spec.name, fold=True):
        return False
    return not rule.source or _glob_fits(rule.source, spec.source, fold=True)


def covers_target(rule: Rule, target: Target, paths: ProjectPaths) -> bool:
    """Whether the rule speaks of this place and of what is done there."""
    if rule.operations and target.operation not in rule.operations:
        return False
    return not rule.path or covers_path(rule, target.resolution.real, paths)


def covers_path(rule: Rule, real: str, paths: ProjectPaths) -> bool:
    """Whether a real path is one that the rule names; rules that refuse ignore case."""
    fold = rule.decision is not Decision.ALLOW
    pattern = rule.path
    if pattern == "~" or pattern.startswith("~/"):
        pattern = paths.home + pattern[1:]
    parts = split(real)
    if pattern.startswith("/"):
        return _path_fits(pattern, "/".join(parts), fold=fold)
    root = split(paths.root)
    if parts[: len(root)] != root:
        return False
    return _path_fits(pattern, "/".join(parts[len(root) :]), fold=fold)


def covers_host(rule: Rule, host: str) -> bool:
    """Whether the rule names this machine."""
    wanted, host = rule.host.lower().rstrip("."), host.lower().rstrip(".")
    if wanted.startswith("*."):
        return host.endswith(wanted[1:]) and len(host) > len(wanted) - 1
    return host == wanted


def _path_fits(pattern: str, path: str, *, fold: bool) -> bool:
    if fold:
        pattern, path = pattern.lower(), path.lower()
    whole = pattern.strip("/")
    if path == whole:
        return True
    return _glob_fits(f"/{whole}" if pattern.startswith("/") else pattern, path, fold=False)


def _glob_fits(pattern: str, text: str, *, fold: bool) -> bool:
    if fold:
        pattern, text = pattern.lower(), text.lower()
    return compile_glob(pattern).fullmatch(text) is not None
