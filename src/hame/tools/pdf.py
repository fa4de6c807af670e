"""A PDF file as text, read by a process of its own."""

import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import anyio

from hame.base.confinement import Confinement
from hame.base.errors import PathError
from hame.base.ports import Located, ToolContext
from hame.base.process import Launch

_BYTES = 32_000_000
_SECONDS = 30.0
_TEXT_LIMIT = 8_000_000
"""Bytes of text that are taken."""


async def read_pdf(place: Located, context: ToolContext) -> str:
    """The text, each page under a line with its number.

    Raises:
        PathError: when it cannot be read, or what reads it is not installed.
    """
    shown = place.resolution.shown
    if find_spec("pypdf") is None:
        raise PathError(
            f"{shown} is a PDF, and reading one as text needs the extra `pdf`: pip install"
            " 'hame[pdf]'. Or convert it with a command, such as pdftotext."
        )
    data = await context.workspace.read_bytes(place, _BYTES + 1)
    if len(data) > _BYTES:
        raise PathError(f"{shown} is too large (the limit for a PDF is {_BYTES:,} bytes)")
    text, ended = await _extract(data, context)
    *pages, rest = text.split("\f")
    if not pages:
        raise PathError(f"{shown} is a PDF, but {ended or 'has no pages'}")
    if not any(map(str.strip, pages)):
        raise PathError(f"{shown} is a PDF without text, perhaps scanned pictures of pages")
    note = f"\n[not all pages could be read: {ended}]" if ended or rest else ""
    return "\n".join(f"--- page {n} ---\n{page}" for n, page in enumerate(pages, 1)) + note


async def _extract(data: bytes, context: ToolContext) -> tuple[str, str]:
    """Pages that each end with a form feed, and what went wrong, if something did."""
    launch = Launch(
        argv=(sys.executable, "-P", str(Path(__file__).with_name("pdf_pages.py"))),
        cwd="/",
        stdin=data,
        merge_stderr=False,
        confinement=Confinement(),
        label="PDF reader",
    )
    pages, errors = bytearray(), bytearray()
    with anyio.move_on_after(_SECONDS):
        async with context.processes.start(launch) as process:
            async with anyio.create_task_group() as group:
                group.start_soon(_gather, process.errors(), errors, 2_000)
                await _gather(process.output(), pages, _TEXT_LIMIT)
            ended = await process.wait()
        said = errors.decode("utf-8", "replace").strip().splitlines()
        why = "" if ended.ok else (said[-1] if said else "what reads it ended early")
        return pages.decode("utf-8", "replace"), why
    return pages.decode("utf-8", "replace"), "it takes too long to read"


async def _gather(chunks: AsyncIterator[bytes], into: bytearray, limit: int) -> None:
    """Keep what comes, up to a limit; read on, so that nobody waits for us."""
    async for chunk in chunks:
        into += chunk[: max(limit - len(into), 0)]
