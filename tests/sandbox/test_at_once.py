"""Sandboxes of one session that are put together at the same time."""

import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hame.sandbox.arguments import mount_options
from hame.sandbox.handles import Handles
from hame.sandbox.layout import Kind, Layout
from hame.sandbox.namespaces import Bwrap

BWRAP = Bwrap(
    program="/usr/bin/bwrap", version="0.8.0", as_root=True, options=(), by_descriptor=False
)
AT_ONCE = 4
ROUNDS = 300


@pytest.fixture
def project() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hame-", dir="/tmp") as folder:
        made = Path(folder, "proj")
        made.mkdir()
        yield made


def test_the_folders_that_lead_to_a_project_in_tmp_are_made_once(project: Path, tmp_path: Path):
    """Seen failing where it was looked first whether a folder is there, and made then."""
    layout = Layout()
    layout.put(Kind.WRITE, [str(project)])
    start = threading.Barrier(AT_ONCE)

    def build(temporary: Path) -> list[str]:
        start.wait(20)
        with Handles() as handles:
            return mount_options(layout, BWRAP, handles, str(temporary))

    with ThreadPoolExecutor(AT_ONCE) as threads:
        for number in range(ROUNDS):
            (temporary := tmp_path / str(number)).mkdir()
            options = list(threads.map(build, [temporary] * AT_ONCE))
            assert options == options[:1] * AT_ONCE
            assert (temporary / project.parent.name).is_dir()
