"""The engine: the model in a child process of its own, asked over HTTP on the loopback interface.

It starts with the first request, ends when nobody has asked for a while and when its parent ends,
and is started again if it has died. A crash of native code, its memory and its signal handlers stay
out of hame's process.
"""

import secrets
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol

import anyio
import msgspec
from typing_extensions import override

from hame.base.errors import ErrorKind, Failure, LocalModelError, ModelError, ToolError
from hame.base.json import (
    JsonObject,
    dump_bytes,
    get_int,
    get_list,
    get_number,
    get_object,
    get_objects,
    get_string,
    parse_object,
)
from hame.base.model import Timeouts
from hame.base.ports import Http, HttpRequest, Process, Processes
from hame.base.process import Launch
from hame.local.machine import require_engine, thread_counts
from hame.local.weights import find_weights

CONTEXT_TOKENS = 4_096
"""Shared by the requests at one time; the model itself takes 8,192."""
NAME = "built-in model"
_FILE_HINT = (
    "The file may be cut short, or of a kind that this engine does not know; see that it is whole, or name "
    "another."
)
_REQUESTS_AT_ONCE = 2
"""Two, so that the neutral request does not throw the conversation out of the cache."""
_START_S = 60.0
_START_FILE_S = 600.0
"""A file may be large, and the disk slow."""
_TIMEOUTS = Timeouts(connect_s=5.0, first_byte_s=300.0, idle_s=300.0, total_s=600.0)
_CANARY = "canary"
_CANARY_GRAMMAR = f'%llguidance {{}}\nstart: "{_CANARY}"'


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """What the model wrote after a prompt."""

    text: str
    whole: bool
    """It ended by itself; else it was cut and must not be acted upon."""
    prompt_tokens: int = 0
    """Read anew."""
    cached_tokens: int = 0
    """Of the prompt, kept from an earlier request."""
    output_tokens: int = 0
    likeliest: tuple[tuple[str, float], ...] = ()
    """For the first token: the likeliest ones with their log-probabilities."""


class Engine(Protocol):
    """Completes prompts."""

    async def complete(
        self, prompt: str, *, grammar: str = "", most_tokens: int = 1, likeliest: int = 0
    ) -> Completion:
        """What follows the prompt, at temperature 0.

        Raises:
            LocalModelError: if the engine cannot run here.
            ModelError: if this request failed.
        """
        ...


class LocalEngine(Engine):
    """The engine on this machine. Must be closed."""

    def __init__(
        self,
        folder: Path,
        processes: Processes,
        http: Http,
        *,
        idle_s: float = 300.0,
        file: Path | None = None,
        window: int = CONTEXT_TOKENS,
    ) -> None:
        """Take what it needs; nothing is started yet.

        Args:
            folder: hame's own folder, where the weights lie.
            processes: starts the child.
            http: reaches it.
            idle_s: seconds without a request after which the child ends.
            file: a model file of the user's, in place of the built-in weights.
            window: tokens of context, shared by the requests at one time.
        """
        self._folder = folder
        self._processes = processes
        self._http = http
        self._idle_s = idle_s
        self._file = file
        self._window = window
        self._child: _Child | None = None
        self._starting = anyio.Lock()

    @property
    def pid(self) -> int | None:
        """Process id of the child that was started last; None when there is none."""
        return self._child.process.pid if self._child else None

    @property
    def url(self) -> str | None:
        """Where the child that was started last is reached, with a key."""
        return self._child.address.url if self._child else None

    @override
    async def complete(
        self, prompt: str, *, grammar: str = "", most_tokens: int = 1, likeliest: int = 0
    ) -> Completion:
        """What follows the prompt; a child that has died is started once more.

        Raises:
            LocalModelError: if the engine cannot run here.
            ModelError: if this request failed.
        """
        body: JsonObject = {
            "prompt": prompt,
            "n_predict": most_tokens,
            "temperature": 0,
            "cache_prompt": True,
        }
        if grammar:
            body["grammar"] = grammar
        if likeliest:
            body["n_probs"] = likeliest
        child = await self._running()
        try:
            return await child.ask(body)
        except ModelError as error:
            if error.failure.kind is not ErrorKind.NETWORK:
                raise
        await self._drop(child)
        return await (await self._running()).ask(body)

    @asynccontextmanager
    async def serving(self) -> "AsyncGenerator[Address]":
        """Where the child is reached, for the length of one request; started if it is not running.

        Raises:
            LocalModelError: if the engine cannot run here.
        """
        child = await self._running()
        async with child.counted():
            yield child.address

    async def close(self) -> None:
        """End the child; a later request starts another."""
        if self._child is not None:
            await self._drop(self._child)

    async def _running(self) -> "_Child":
        async with self._starting:
            if self._child is None:
                self._child = await self._start()
            return self._child

    async def _drop(self, child: "_Child") -> None:
        if self._child is child:
            self._child = None
        await child.stack.aclose()

    async def _start(self) -> "_Child":
        """Start a child and try it.

        Raises:
            LocalModelError: if it cannot be started or does not keep to a grammar.
        """
        require_engine()
        path = self._file or _built_in(self._folder)
        if path is None:
            raise LocalModelError(
                "the built-in model's weights are not here yet", hint="hame local setup"
            )
        what = "the built-in model" if self._file is None else str(self._file)
        patience_s = _START_S if self._file is None else _START_FILE_S
        launch = Launch(
            argv=(sys.executable, "-P", "-m", "hame.local.serve"),
            cwd=str(path.parent),
            # Read once, when the engine's thread library is loaded. Without it the threads spin
            # while they wait, and a busy machine gets a tenth of the tokens.
            extra_env=(("OMP_WAIT_POLICY", "passive"),),
            open_stdin=True,
            merge_stderr=False,
            label=NAME,
        )
        async with AsyncExitStack() as stack:
            try:
                process = await stack.enter_async_context(self._processes.start(launch))
            except ToolError as error:
                raise LocalModelError(
                    f"{what} could not be started: {error.message}", hint=error.hint
                ) from error
            try:
                address = await _greet(
                    process, path, idle_s=self._idle_s, window=self._window, patience_s=patience_s
                )
            except LocalModelError as error:
                hint = error.hint if self._file is None else _FILE_HINT
                raise LocalModelError(f"{what} {error.message}", hint=hint) from error
            child = _Child(stack, process, self._http, address)
            if self._file is None:
                await _try_grammar(child)
            child.stack = stack.pop_all()
            return child


def _built_in(folder: Path) -> Path | None:
    weights = find_weights(folder)
    return weights.path if weights is not None else None


async def _greet(
    process: Process, model: Path, *, idle_s: float, window: int, patience_s: float
) -> "Address":
    """Tell the child what to load; where it is reached, once it has loaded that.

    Raises:
        LocalModelError: if it did not come that far; what did not, is for the caller to say.
    """
    key = secrets.token_urlsafe(24)
    threads, batch_threads = thread_counts()
    config = {
        "model": str(model),
        "key": key,
        "ctx": window,
        "parallel": _REQUESTS_AT_ONCE,
        "threads": threads,
        "batch_threads": batch_threads,
        "idle_s": idle_s,
    }
    try:
        with anyio.fail_after(patience_s):
            await process.write(dump_bytes(config) + b"\n")
            line = await _first_line(process)
    except TimeoutError as error:
        raise LocalModelError(
            f"did not start within {patience_s:.0f} s", hint="hame doctor"
        ) from error
    except ToolError:
        line = b""
    url = get_string(parse_object(line), "url")
    if url is None:
        raise await _why_it_ended(process)
    return Address(url, key)


async def _first_line(process: Process) -> bytes:
    line = b""
    async for chunk in process.output():
        line += chunk
        if b"\n" in line:
            break
    return line.partition(b"\n")[0]


async def _try_grammar(child: "_Child") -> None:
    """A grammar that the engine does not understand is passed over in silence: see that it counts.

    Raises:
        LocalModelError: if it does not.
    """
    tried = await child.ask({
        "prompt": "Say a word.",
        "n_predict": 8,
        "temperature": 0,
        "grammar": _CANARY_GRAMMAR,
    })
    if tried.text != _CANARY:
        raise LocalModelError(
            "the engine does not keep to grammars, so its answers cannot be used",
            hint="pip install --force-reinstall 'hame[local]'",
        )


async def _why_it_ended(process: Process) -> LocalModelError:
    said = b""
    async for chunk in process.errors():
        said = (said + chunk)[-2_000:]
    ended = await process.wait()
    how = f"exit code {ended.code}" if ended.code is not None else f"signal {ended.signal}"
    lines = said.decode(errors="replace").strip().splitlines()
    return LocalModelError(
        f"could not be loaded ({how}): {lines[-1] if lines else 'no message'}",
        hint="Run `hame local setup` again; `hame doctor` checks the processor and the weights.",
    )


class Address(msgspec.Struct, frozen=True):
    """Where a child is reached, and with which key."""

    url: str
    key: str


class _Child:
    """A child that has been started."""

    def __init__(
        self, stack: AsyncExitStack, process: Process, http: Http, address: Address
    ) -> None:
        self.stack = stack
        """Closing it ends the child."""
        self.process = process
        self._http = http
        self.address = address

    async def ask(self, body: JsonObject) -> Completion:
        request = HttpRequest(
            method="POST",
            url=f"{self.address.url}/completion",
            headers=(
                ("content-type", "application/json"),
                ("authorization", f"Bearer {self.address.key}"),
            ),
            body=dump_bytes(body),
        )
        async with self.counted(), self._http.send(request, _TIMEOUTS) as response:
            answer = b"".join([chunk async for chunk in response.chunks()])
            return _read_completion(response.status, answer)

    @asynccontextmanager
    async def counted(self) -> AsyncGenerator[None]:
        """Tell the child that a request is going, so that it does not end for want of any."""
        await self._sign(b"+")
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._sign(b"-")

    async def _sign(self, sign: bytes) -> None:
        try:
            await self.process.write(sign)
        except ToolError:
            # It has ended; the request says so in its own way.
            return


def _read_completion(status: int, body: bytes) -> Completion:
    answer = parse_object(body)
    if status != 200 or answer is None:
        raise ModelError(_refused(status, answer, body))
    timings = get_object(answer, "timings")
    first = next(iter(get_objects(answer, "completion_probabilities")), None)
    likeliest = tuple(
        (get_string(token, "token") or "", get_number(token, "logprob") or 0.0)
        for token in get_list(first, "top_logprobs")
    )
    return Completion(
        text=get_string(answer, "content") or "",
        whole=get_string(answer, "stop_type") == "eos",
        prompt_tokens=get_int(timings, "prompt_n") or 0,
        cached_tokens=get_int(timings, "cache_n") or 0,
        output_tokens=get_int(timings, "predicted_n") or 0,
        likeliest=likeliest,
    )


def _refused(status: int, answer: JsonObject | None, body: bytes) -> Failure:
    error = get_object(answer, "error")
    too_long = get_string(error, "type") == "exceed_context_size_error"
    said = get_string(error, "message") or body[:200].decode(errors="replace")
    return Failure(
        kind=ErrorKind.CONTEXT_OVERFLOW if too_long else ErrorKind.SERVER_ERROR,
        message="the request is too long for the built-in model"
        if too_long
        else "the built-in model's engine refused the request",
        hint="Say it in fewer words." if too_long else "`hame doctor` checks the engine.",
        provider=NAME,
        said=said,
        status=status,
    )
