"""A desk with the real workspace, real processes and all tools on it."""

import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from hame.base.confinement import Confinement
from hame.base.errors import ToolError
from hame.base.message import Text
from hame.base.outcome import Done, Failed
from hame.base.ports import Action, Tool, ToolContext
from hame.base.schema import check_arguments
from hame.sandbox.unconfined import Unconfined
from hame.tools import builtin_tools
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses
from hame.workspace.syntax import Syntax


class Desk:
    """Calls tools as the loop does: arguments checked, prepared, run, closed."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.shown: list[str] = []
        self.workspace = open_workspace(str(root), home=str(home))
        self.context = ToolContext(
            workspace=self.workspace,
            processes=LocalProcesses(dict(os.environ), Unconfined()),
            sandbox=Unconfined(),
            structure=Syntax(),
            diagnostics=Syntax(),
            progress=self.shown.append,
        )
        self.tools: dict[str, Tool] = {tool.spec.name: tool for tool in builtin_tools()}

    def change(self, **members: object) -> None:
        """Give the tools another context."""
        self.context = msgspec.structs.replace(self.context, **members)

    async def prepare(self, name: str, **arguments: object) -> Action:
        tool = self.tools[name]
        return await tool.prepare(check_arguments(arguments, tool.spec.schema()), self.context)

    async def call(self, name: str, **arguments: object) -> Done | Failed:
        try:
            action = await self.prepare(name, **arguments)
        except ToolError as error:
            return Failed(error.message)
        try:
            assert action.digest
            return await action.run(Confinement())
        except ToolError as error:
            return Failed(error.message)
        finally:
            action.close()

    async def done(self, name: str, **arguments: object) -> str:
        """The text of a call that must succeed."""
        outcome = await self.call(name, **arguments)
        assert isinstance(outcome, Done), outcome
        return text_of(outcome)

    async def failed(self, name: str, **arguments: object) -> str:
        """The text of a call that must fail."""
        outcome = await self.call(name, **arguments)
        assert isinstance(outcome, Failed), outcome
        return outcome.message

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()


def text_of(outcome: Done) -> str:
    return "".join(block.text for block in outcome.content if isinstance(block, Text))


@pytest.fixture
def desk(tmp_path: Path, home: Path) -> Desk:
    """All tools on an empty project."""
    root = tmp_path / "project"
    root.mkdir()
    return Desk(root, home)


@pytest.fixture
def png() -> Callable[[int, int], bytes]:
    """Makes the smallest file that says it is a picture of that size."""

    def make(width: int, height: int) -> bytes:
        def chunk(kind: bytes, data: bytes) -> bytes:
            body = kind + data
            return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

        header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IEND", b"")

    return make
