"""The built-in model's stage: a project in memory, the real tools' specs, the real engine."""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

import pytest

from hame.base.tool import ToolSpec
from hame.local.engine import LocalEngine
from hame.net.http import HttpClient
from hame.tools import builtin_tools
from hame.workspace.process import LocalProcesses

TOOLS: tuple[ToolSpec, ...] = tuple(tool.spec for tool in builtin_tools())


class MemoryIndex:
    """A project that is a dictionary."""

    def __init__(self, files: Mapping[str, str], test_command: str | None = None) -> None:
        self._files = dict(files)
        self._test_command = test_command

    def files(self) -> Sequence[str]:
        return sorted(self._files)

    def directories(self) -> Sequence[str]:
        found = {"."}
        for path in self._files:
            parts = path.split("/")[:-1]
            found |= {"/".join(parts[: depth + 1]) for depth in range(len(parts))}
        return sorted(found)

    def text(self, path: str) -> str | None:
        return self._files.get(path)

    def test_command(self) -> str | None:
        return self._test_command


@pytest.fixture
def processes() -> LocalProcesses:
    return LocalProcesses(os.environ)


@pytest.fixture
async def http() -> AsyncGenerator[HttpClient]:
    client = HttpClient(user_agent="hame-tests")
    yield client
    await client.aclose()


@pytest.fixture
async def engine(
    weights_folder: Path, processes: LocalProcesses, http: HttpClient
) -> AsyncGenerator[LocalEngine]:
    engine = LocalEngine(weights_folder, processes, http)
    yield engine
    await engine.close()
