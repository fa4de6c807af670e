"""Fixtures of the whole suite: nothing of the machine leaks into a test."""

from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _closed_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A home of its own, no keys, no proxies."""
    home = tmp_path_factory.mktemp("home")
    import os

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
