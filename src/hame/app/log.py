"""The log: what happened, for the day something goes wrong. One JSON object a line, private to the user.

Runs, calls, waits and crashes are always written; with `verbose` also what is sent to models and what
comes back. Keys are masked and known secrets redacted on the way in. A log that cannot be written is
given up silently: it must never be what breaks a run.
"""

import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress

from hame.base import event
from hame.base.json import dump
from hame.base.model import Timeouts
from hame.base.ports import Http, HttpRequest, HttpResponse
from hame.config.whole import make_private_folder
from hame.net.echo import SECRET_HEADERS

LIMIT_BYTES = 10_000_000
"""A larger log is put aside as `hame.log.1`, in place of the one before."""


class Log:
    """Appends to `hame.log` in a folder; opens it with the first line."""

    def __init__(self, folder: str, redact: Callable[[str], str]) -> None:
        """Use this folder; `redact` takes secrets out of a text."""
        self._folder = folder
        self._redact = redact
        self._descriptor: int | None = None
        self._given_up = False

    def write(self, stage: str, **detail: object) -> None:
        """One line: when, which process, what, and whatever belongs to it."""
        if self._given_up:
            return
        line = dump({"at": round(time.time(), 3), "pid": os.getpid(), "stage": stage, **detail})
        try:
            os.write(self._open(), self._redact(line).encode() + b"\n")
        except OSError:
            self._given_up = True

    def note(self, item: event.RunEvent) -> None:
        """Write down a run's event, if it is one that tells the course of a run."""
        match item:
            case event.RunStarted(model=model, mode=mode, session=session):
                self.write("run_started", run=item.run, session=session, model=model, mode=mode)
            case event.CallSettled(tool=tool, outcome=outcome, seconds=seconds):
                kind = type(outcome).__name__
                self.write("call", run=item.run, tool=tool, outcome=kind, seconds=round(seconds, 4))
            case event.WaitStarted(seconds=seconds, failure=failure, attempt=attempt):
                self.write("wait", run=item.run, seconds=seconds, attempt=attempt, failure=failure)
            case event.AnswerAbandoned(failure=failure, again=again):
                self.write("answer_abandoned", run=item.run, again=again, failure=failure)
            case event.Notice(text=text, level=level):
                self.write("notice", run=item.run, level=level, text=text)
            case event.RunEnded(result=result, usage=usage, steps=steps, seconds=seconds):
                self.write(
                    "run_ended",
                    run=item.run,
                    result=result,
                    usage=usage,
                    steps=steps,
                    seconds=round(seconds, 3),
                )
            case _:
                pass

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            make_private_folder(self._folder)
            path = f"{self._folder}/hame.log"
            with suppress(FileNotFoundError):
                if os.stat(path).st_size > LIMIT_BYTES:  # noqa: PTH116 - strings all through
                    os.replace(path, f"{path}.1")  # noqa: PTH105 - strings all through
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(path, flags, 0o600)
        return self._descriptor


class LoggedHttp:
    """Implements the Http port around another: writes down what is sent and what comes back."""

    def __init__(self, inner: Http, log: Log) -> None:
        """Send through `inner`."""
        self._inner = inner
        self._log = log

    @asynccontextmanager
    async def send(self, request: HttpRequest, timeouts: Timeouts) -> AsyncGenerator[HttpResponse]:
        """Send, and write it down."""
        self._log.write(
            "request",
            method=request.method,
            url=request.url,
            headers=_shown(dict(request.headers)),
            body=request.body.decode(errors="replace"),
        )
        async with self._inner.send(request, timeouts) as response:
            self._log.write("response", status=response.status, headers=_shown(response.headers))
            yield _LoggedResponse(response, self._log)


class _LoggedResponse:
    def __init__(self, inner: HttpResponse, log: Log) -> None:
        self._inner = inner
        self._log = log

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._inner.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner.chunks():
            self._log.write("received", body=chunk.decode(errors="replace"))
            yield chunk


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers without the keys in them."""
    return {
        name: "(masked)" if name.lower() in SECRET_HEADERS else value
        for name, value in headers.items()
    }
