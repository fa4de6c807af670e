"""The environment, read once."""

import os
from collections.abc import Mapping
from types import MappingProxyType


def read_environment() -> Mapping[str, str]:
    """A snapshot of the process's environment; what changes afterwards is not seen."""
    return MappingProxyType(dict(os.environ))
