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
