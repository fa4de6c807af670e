"""The environment, read once.

direnv puts what a folder's `.envrc` exports into the environment of the shell. That is the folder's word
and not the user's: what it sets of hame's own variables, or of the places where hame keeps its files, is
as it was before. `DIRENV_DIFF` says what that is: JSON, deflated, in base64 for addresses
(https://github.com/direnv/direnv, gzenv and env_diff.go).
"""

import os
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

_PLACES = frozenset({
    "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
})  # fmt: skip
_LARGEST = 1 << 22
"""Bytes of an environment that are looked at."""


class _Difference(msgspec.Struct, frozen=True):
    """What direnv has changed; names that were not set before are missing in `p`."""

    p: dict[str, str] = {}
    n: dict[str, str] = {}


def read_environment() -> Mapping[str, str]:
    """A snapshot of the process's environment; what changes afterwards is not seen."""
    return MappingProxyType(without_direnv(os.environ))


def without_direnv(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with hame's own variables as they were before direnv."""
    before = dict(environment)
    difference = _difference(environment)
    for name in _changed(difference):
        if name in difference.p:
            before[name] = difference.p[name]
        else:
            before.pop(name, None)
    return before


def say_direnv(environment: Mapping[str, str]) -> list[str]:
    """One line where direnv would have set something of hame's, or none."""
    names = _changed(_difference(environment))
    if not names:
        return []
    said = (
        f"{', '.join(names)} of this folder's .envrc {'is' if len(names) == 1 else 'are'} ignored"
    )
    return [f"{said}: what hame may do is yours to set, not the folder's"]


def _changed(difference: _Difference) -> list[str]:
    """The names that count for hame and are not as they were."""
    names = sorted(difference.p.keys() | difference.n.keys())
    return [
        name
        for name in names
        if (name.startswith("HAME_") or name in _PLACES)
        and difference.p.get(name) != difference.n.get(name)
    ]


def _difference(environment: Mapping[str, str]) -> _Difference:
    """What direnv has changed; nothing where it was not there, or cannot be understood."""
    text = environment.get("DIRENV_DIFF", "")
    if not text or len(text) > _LARGEST:
        return _Difference()
    import zlib
    from base64 import urlsafe_b64decode

    try:
        data = zlib.decompressobj().decompress(urlsafe_b64decode(text), _LARGEST)
        return msgspec.json.decode(data, type=_Difference)
    except (ValueError, zlib.error, msgspec.DecodeError):
        return _Difference()
