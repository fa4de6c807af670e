"""Every key a user may set, as `hame config` shows it.

The list is made from `hame.base.settings` itself, its docstrings included, so it cannot go stale.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec

if TYPE_CHECKING:
    import ast

from hame.base import settings as module
from hame.base.settings import ProviderSettings, Settings

_UNITS = ("_usd", "_s")
_WORDS = ((bool, "true or false"), (int, "a whole number"), (float, "a number"), (str, "text"))
_OPTIONS = {
    "add_dirs": "add_dir",
    "providers.ollama.base_url": "ollama_url",
    "providers.ollama.num_gpu": "num_gpu",
}
"""Options that are not called like their key."""

_LISTS = {"add_dirs": "a list of paths", "fallbacks": "a list of models"}
"""What lists hold; their type does not tell."""


class Scope(StrEnum):
    """Who may set a key besides the user's own file, the environment and the flags."""

    USER = "user"
    """Nobody."""
    TRUSTED = "trusted"
    """A project that the user trusts; any other only to something narrower than the user's."""
    NARROWED = "narrowed"
    """Any project, but only to something narrower than the user's."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What a key can do, and to whom it is therefore open."""

    scope: Scope = Scope.USER
    executes: bool = False
    """Its value is, or leads to, a program that is run."""
    connects: bool = False
    """Its value decides whom hame talks to, or what is sent there."""


_USER, _TRUSTED, _NARROWED = Mark(), Mark(scope=Scope.TRUSTED), Mark(scope=Scope.NARROWED)
_CONNECTS = Mark(connects=True)

MARKS: Mapping[str, Mark] = {
    # Within the provider that the user chose, a project never names another; see resolve.py.
    "model": _TRUSTED,
    "fallbacks": _CONNECTS,
    "mode": _NARROWED,
    "effort": _TRUSTED,
    "tools": _USER,
    "web_search": _CONNECTS,
    "cache_lifetime": _USER,
    "max_steps": _NARROWED,
    "max_tokens": _NARROWED,
    "max_output_tokens": _NARROWED,
    "max_time_s": _NARROWED,
    "max_cost_usd": _NARROWED,
    "max_steps_per_day": _NARROWED,
    "max_tokens_per_day": _NARROWED,
    "max_time_per_day_s": _NARROWED,
    "max_cost_per_day_usd": _NARROWED,
    "max_retry_wait_s": _NARROWED,
    "first_byte_timeout_s": _TRUSTED,
    "idle_timeout_s": _TRUSTED,
    "command_timeout_s": _TRUSTED,
    "ask_timeout_s": _USER,
    "add_dirs": _USER,
    "color": _TRUSTED,
    "accent": _TRUSTED,
    "show_thinking": _TRUSTED,
    "verbose": _USER,
    "sandbox": _USER,
    "ca_file": _CONNECTS,
    "proxy": _CONNECTS,
    "providers": Mark(executes=True, connects=True),
    "providers.NAME.base_url": _CONNECTS,
    "providers.NAME.api_key": _CONNECTS,
    "providers.NAME.api_key_env": _CONNECTS,
    "providers.NAME.api_key_cmd": Mark(executes=True),
    "providers.NAME.allow_http": _CONNECTS,
    "providers.NAME.wire": _CONNECTS,
    "providers.NAME.context_window": _USER,
    "providers.NAME.model": _CONNECTS,
    "providers.NAME.num_gpu": _USER,
    "providers.NAME.keep_alive": _USER,
}
"""Every key. One that is missing here is the user's alone, and a test fails."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """One key."""

    name: str
    """As it is written in a settings file; `providers.NAME.base_url` for a server's values."""
    type: Any
    """The Python type its value must have."""
    expects: str
    """That type in words."""
    default: object
    owner: str
    """Name of the class in `hame.base.settings` whose field it is."""
    mark: Mark = _USER
    """What it can do, and to whom it is open."""

    @property
    def meaning(self) -> str:
        """The docstring of the field."""
        return _docstrings()[self.owner].get(self.name.rpartition(".")[2], "")

    @property
    def option(self) -> str:
        """Its name on the command line, without dashes before it: `max-cost` for `max_cost_usd`."""
        return option_name(self.name).replace("_", "-")

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables that set it, the first that is set wins."""
        return tuple(
            f"HAME_{name.upper()}"
            for name in dict.fromkeys((self.name, option_name(self.name)))
            if "." not in name
        )


def option_name(name: str) -> str:
    """The name of the option: the key without its unit."""
    if name in _OPTIONS:
        return _OPTIONS[name]
    for unit in _UNITS:
        name = name.removesuffix(unit)
    return name


@cache
def keys() -> Mapping[str, Key]:
    """The keys of the top level, in the order of Settings; `providers` is among them."""
    return _keys_of(Settings)


@cache
def settable() -> tuple[Key, ...]:
    """The keys that a variable or an option may set."""
    dotted = [key for name in _OPTIONS if "." in name and (key := find_key(name))]
    return (*(key for name, key in keys().items() if name != "providers"), *dotted)


@cache
def provider_keys() -> Mapping[str, Key]:
    """The keys of one `[providers.NAME]` table."""
    return _keys_of(ProviderSettings)


def find_key(dotted: str) -> Key | None:
    """The key of that name; the name of a provider in it may be anything."""
    parts = split_key(dotted)
    if len(parts) == 3:
        found = provider_keys().get(parts[2]) if parts[0] == "providers" and parts[1] else None
        return found and msgspec.structs.replace(found, name=dotted)
    return keys().get(dotted)


def split_key(dotted: str) -> tuple[str, ...]:
    """The tables and the key in a dotted name; the name of a provider may have dots itself."""
    head, _, rest = dotted.partition(".")
    name, _, leaf = rest.rpartition(".")
    return (head, name, leaf) if name else (dotted,)


def nearest(name: str, known: Mapping[str, object]) -> str:
    """`, did you mean ...?` for a name that is almost one of the known, else nothing."""
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f", did you mean {close[0]}?" if close else ""


def describe_type(kind: object) -> str:
    """A type in words for people."""
    options = [part for part in get_args(kind) if part is not type(None)]
    if isinstance(kind, UnionType) or len(options) < len(get_args(kind)):
        return describe_type(options[0])
    if get_origin(kind) is tuple:
        return "a list"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "one of " + ", ".join(str(member.value) for member in kind)
    for plain, words in _WORDS:
        if kind is plain:
            return words
    return "tables [providers.NAME]"


def _keys_of(struct: type[msgspec.Struct]) -> Mapping[str, Key]:
    found: dict[str, Key] = {}
    for field in msgspec.structs.fields(struct):
        made = field.default_factory is not msgspec.NODEFAULT
        default: object = field.default_factory() if made else field.default
        found[field.name] = Key(
            name=field.name,
            type=field.type,
            expects=_LISTS.get(field.name) or describe_type(field.type),
            default=default,
            owner=struct.__name__,
            mark=MARKS.get(_place_of(struct, field.name), _USER),
        )
    return found


def _place_of(struct: type[msgspec.Struct], name: str) -> str:
    """A key's name in the table of marks."""
    return name if struct is Settings else f"providers.NAME.{name}"


@cache
def _docstrings() -> Mapping[str, Mapping[str, str]]:
    """The docstring under each field of each class of `hame.base.settings`."""
    # Only help asks for meanings: neither module is wanted on the way to the first request.
    import ast
    from pathlib import Path

    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    return {
        node.name: dict(_field_docstrings(node))
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def _field_docstrings(node: "ast.ClassDef") -> list[tuple[str, str]]:
    import ast

    found: list[tuple[str, str]] = []
    for statement, after in zip(node.body, node.body[1:], strict=False):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found.append((statement.target.id, " ".join(str(after.value.value).split())))
    return found
