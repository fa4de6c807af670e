"""Fixtures of the whole suite: nothing of the machine leaks into a test."""

import ctypes
import os
import shutil
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
IN_SANDBOXES = (
    TESTS / "sandbox",
    TESTS / "app/test_starts.py",
    TESTS / "app/test_rerun.py",
    TESTS / "cli/test_rerunning.py",
    TESTS / "walks/test_hostile_repository.py",
    TESTS / "walks/test_ordinary_work.py",
    TESTS / "walks/test_stop.py",
)
"""Tests that start programs in both sandboxes, and look at them from outside with strace.

Single ones elsewhere are marked `sandboxes`.
"""


def _landlock_version() -> int:
    """https://docs.kernel.org/userspace-api/landlock.html: landlock_create_ruleset(2) tells it."""
    if sys.platform != "linux":
        return 0
    return int(ctypes.CDLL(None).syscall(444, None, 0, 1))


def _missing() -> list[str]:
    found = [name for name in ("bwrap", "strace") if shutil.which(name) is None]
    return found if _landlock_version() >= 3 else [*found, "Landlock"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a sandbox that is not on this machine; in CI that is a failure instead."""
    missing = [] if os.environ.get("HAME_CI") else _missing()
    if not missing:
        return
    skip = pytest.mark.skip(reason=f"not on this machine: {', '.join(missing)}")
    for item in items:
        inside = any(item.path == place or place in item.path.parents for place in IN_SANDBOXES)
        if inside or item.get_closest_marker("sandboxes"):
            item.add_marker(skip)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _closed_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A home of its own, no keys, no proxies."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("XDG_", "HAME_")) or name.upper().endswith((
            "_API_KEY",
            "_BASE_URL",
            "_PROXY",
        )):
            monkeypatch.delenv(name, raising=False)
    for name in ("OLLAMA_HOST", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    if not os.environ.get("HAME_CI") and {"bwrap", "Landlock"} <= set(_missing()):
        # Nothing here can confine a command: what is tested is all but that.
        monkeypatch.setenv("HAME_SANDBOX", "none")
    return home


@pytest.fixture
def home(_closed_environment: Path) -> Path:
    """The test's own home directory."""
    return _closed_environment


@pytest.fixture(scope="session")
def weights_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """hame's own folder with the real weights in it; kept from one run of the suite to the next."""
    import fcntl
    import os
    import shutil

    import anyio

    from hame.local.weights import set_up_weights
    from hame.workspace.process import LocalProcesses

    folder = tmp_path_factory.getbasetemp().parent / "cache" / "hame"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        processes = LocalProcesses(os.environ)

        async def set_up() -> None:
            await set_up_weights(folder, processes, lambda _: None, uv=shutil.which("uv"))

        anyio.run(set_up)
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the lines that tests recorded as `summary`, also those of other processes."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    for line in sorted(
        str(value)
        for report in reports
        for name, value in report.user_properties
        if name == "summary"
    ):
        terminalreporter.write_line(line)
