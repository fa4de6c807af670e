"""A project that need not exist, and commands judged in it."""

from collections.abc import Callable

import pytest

from hame.base.zone import ProjectPaths
from hame.permissions.commands.analysis import Analysis, analyse
from hame.permissions.commands.ground import Ground
from hame.permissions.decision import Judgement

PATHS = ProjectPaths(
    root="/home/dev/proj",
    home="/home/dev",
    config="/home/dev/.config/hame",
    results="/home/dev/.local/share/hame/results",
)


@pytest.fixture
def verdict() -> Callable[[str], Judgement]:
    """The judgement on a command, level A, no rules."""
    return lambda text: analyse(text, Ground(paths=PATHS)).judgement


@pytest.fixture
def analysed() -> Callable[[str], Analysis]:
    return lambda text: analyse(text, Ground(paths=PATHS))
