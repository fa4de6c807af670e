"""Git's configuration files, read as git reads them, and what of one may stay.

What a confined command wrote into one is read by the git that the user runs tomorrow without any sandbox.
Most keys only say how things look; many start a program (git-config(1): `core.fsmonitor`,
`core.sshCommand`, `diff.*.command`, `filter.*.clean`, `alias.*`, `include.path`, ...), and each version of
git knows new ones. So what may stay is listed here, and all else goes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from typing_extensions import override

_ANY = frozenset({"*"})

_SAFE: Mapping[str, frozenset[str]] = {
    section: frozenset(keys.split())
    for section, keys in {
        "core": "repositoryformatversion filemode bare logallrefupdates ignorecase symlinks "
        "precomposeunicode autocrlf eol safecrlf sharedrepository compression loosecompression "
        "bigfilethreshold abbrev quotepath untrackedcache commitgraph multipackindex protecthfs "
        "protectntfs fscache longpaths sparsecheckout sparsecheckoutcone whitespace hidedotfiles "
        "trustctime checkstat preloadindex",
        "extensions": "*",
        "user": "name email signingkey useconfigonly",
        "author": "name email",
        "committer": "name email",
        "init": "defaultbranch",
        "push": "default autosetupremote followtags",
        "pull": "rebase ff",
        "fetch": "prune prunetags parallel writecommitgraph recursesubmodules",
        "merge": "ff conflictstyle renames log stat",
        "rebase": "autostash autosquash updaterefs",
        "rerere": "enabled autoupdate",
        "submodule": "recurse active fetchjobs alternatelocation alternateerrorstrategy",
        "diff": "renames algorithm context colormoved mnemonicprefix noprefix submodule",
        "status": "*",
        "log": "date decorate abbrevcommit follow",
        "color": "*",
        "advice": "*",
        "index": "version threads sparse",
        "pack": "threads windowmemory packsizelimit depth window",
        "gc": "auto autodetach autopacklimit",
        "maintenance": "auto strategy",
        "feature": "*",
        "lfs": "repositoryformatversion",
    }.items()
}
"""Keys of sections without a name of their own, in lower case."""

_SAFE_NAMED: Mapping[str, frozenset[str]] = {
    "remote": frozenset({
        "url", "pushurl", "fetch", "push", "tagopt", "mirror", "prune", "prunetags", "promisor",
        "partialclonefilter", "skipdefaultupdate", "skipfetchall", "followremotehead",
    }),
    "branch": frozenset({"remote", "merge", "rebase", "pushremote", "description"}),
    "submodule": frozenset({"url", "active", "branch", "ignore", "fetchrecursesubmodules", "update"}),
    "color": _ANY,
}  # fmt: skip
"""Keys of sections that have one, `[remote "origin"]`."""

_ADDRESSES = frozenset({"url", "pushurl", "remote", "pushremote"})
_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::|-")
"""Begins an address that git hands to a program of that name (gitremote-helpers(7)), or an option."""

_SPACE = " \t\n\r"
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}


class Variable(msgspec.Struct, frozen=True):
    """One line of a configuration."""

    section: str
    """In lower case."""
    name: str | None
    """What stands in quotes behind the section."""
    key: str
    """In lower case."""
    value: str | None
    """None: there is no `=`, which means true."""

    @override
    def __str__(self) -> str:
        """As `git config` names it."""
        return ".".join(part for part in (self.section, self.name, self.key) if part is not None)


def read_config(text: str) -> list[Variable]:
    """All variables, in their order.

    Raises:
        ValueError: for what git does not read either.
    """
    return list(_Reader(text).variables())


def write_config(variables: Iterable[Variable]) -> str:
    """A file that git reads as exactly these."""
    lines: list[str] = []
    at: tuple[str, str | None] | None = None
    for each in variables:
        if (each.section, each.name) != at:
            at = (each.section, each.name)
            lines.append(f"[{each.section}{_named(each.name)}]")
        lines.append(
            f"\t{each.key}" if each.value is None else f"\t{each.key} = {_quote(each.value)}"
        )
    return "\n".join((*lines, ""))


def may_stay(variable: Variable) -> bool:
    """Whether a variable can do no more than change how things look, or where they are fetched from."""
    safe = (_SAFE if variable.name is None else _SAFE_NAMED).get(variable.section, frozenset())
    if variable.key not in safe and safe != _ANY:
        return False
    value = variable.value or ""
    if variable.key in _ADDRESSES:
        return _HELPER.match(value) is None
    return not (variable.key == "update" and value.startswith("!"))


def only_tracks(before: Iterable[Variable], after: Iterable[Variable]) -> bool:
    """Whether two configurations differ in nothing but which branch follows which known one."""
    before, after = list(before), list(after)
    remotes = {each.name for each in before if each.section == "remote"} | {"."}

    def rest(variables: list[Variable]) -> list[Variable]:
        return [each for each in variables if not _is_tracking(each, remotes)]

    return rest(before) == rest(after)


def _is_tracking(variable: Variable, remotes: set[str | None]) -> bool:
    if variable.section != "branch" or variable.name is None:
        return False
    if variable.key in {"remote", "pushremote"}:
        return variable.value in remotes
    return variable.key in {"merge", "rebase", "description"}


def _named(name: str | None) -> str:
    if name is None:
        return ""
    return ' "' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _quote(value: str) -> str:
    swapped = {made: f"\\{letter}" for letter, made in _ESCAPES.items()}
    return '"' + "".join(swapped.get(letter, letter) for letter in value) + '"'


class _Reader:
    """Goes through a text as `git_parse_source` in git's config.c does."""

    def __init__(self, text: str) -> None:
        if "\0" in text:
            raise ValueError("a NUL character")
        self._text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        self._at = 0

    def variables(self) -> Iterator[Variable]:
        section: tuple[str, str | None] = ("", None)
        while (letter := self._next()) is not None:
            if letter in "#;":
                self._skip_line()
            elif letter == "[":
                section = self._section()
            elif section[0] and letter.isascii() and letter.isalpha():
                key, value = self._variable(letter)
                yield Variable(*section, key, value)
            elif letter not in _SPACE:
                raise ValueError(f"{letter!r} begins no variable")

    def _next(self) -> str | None:
        if self._at >= len(self._text):
            return None
        self._at += 1
        return self._text[self._at - 1]

    def _skip_line(self) -> None:
        while self._next() not in {"\n", None}:
            pass

    def _section(self) -> tuple[str, str | None]:
        name = ""
        while (letter := self._next()) != "]":
            if letter is None or letter == "\n":
                raise ValueError("a section has no end")
            if letter in _SPACE:
                return name.lower(), self._name()
            if not _is_key(letter) and letter != ".":
                raise ValueError(f"{letter!r} in the name of a section")
            name += letter
        # The old way to give it a name: [branch.main], in lower case.
        section, dot, rest = name.lower().partition(".")
        return section, rest if dot else None

    def _name(self) -> str:
        while (letter := self._next()) in {" ", "\t"}:
            pass
        if letter != '"':
            raise ValueError("the name of a section is not quoted")
        name = ""
        while (letter := self._next()) != '"':
            if letter == "\\":
                letter = self._next()
            if letter is None or letter == "\n":
                raise ValueError("the name of a section has no end")
            name += letter
        if self._next() != "]":
            raise ValueError("a section has no end")
        return name

    def _variable(self, letter: str | None) -> tuple[str, str | None]:
        key = ""
        while letter is not None and _is_key(letter):
            key += letter
            letter = self._next()
        while letter in {" ", "\t"}:
            letter = self._next()
        if letter in {"\n", None}:
            return key.lower(), None
        if letter != "=":
            raise ValueError(f"{letter!r} after {key}")
        return key.lower(), self._value()

    def _value(self) -> str:
        value = kept = ""
        quoted = False
        while (letter := self._next()) not in {"\n", None} or quoted:
            if letter is None or letter == "\n":
                raise ValueError("a quoted value has no end")
            if letter == '"':
                quoted = not quoted
            elif letter == "\\":
                value += self._escaped()
                kept = value
                continue
            elif not quoted and letter in "#;":
                self._skip_line()
                break
            elif not quoted and letter in _SPACE:
                value += letter if value else ""
                continue
            else:
                value += letter
            kept = value
        return kept

    def _escaped(self) -> str:
        letter = self._next()
        if letter in {"\n", None}:
            return ""
        if letter not in _ESCAPES:
            raise ValueError(f"\\{letter} in a value")
        return _ESCAPES[letter]


def _is_key(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter == "-")
