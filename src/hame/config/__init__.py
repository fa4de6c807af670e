"""Files, environment and flags in, one frozen Settings out; the only reader of the environment.

environment.py   the environment as a snapshot
places.py        where hame keeps its files
keys.py          every key: type, default, meaning, names in the environment and on the command line
values.py        one value: from text or TOML to its type, checked
versions.py      the versions of a settings file, and the way from each to the next
sources.py       one layer: a file, the environment or the flags, read into values
resolve.py       the layers on top of each other, and what a project may not set
write.py         `hame config set` and `unset`
"""

from hame.config.resolve import Loaded, load_settings

__all__ = ["Loaded", "load_settings"]
