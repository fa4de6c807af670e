"""The child process that holds the model: `python -m hame.local.serve`.

The first line on standard input is a JSON object: `model` (path of a GGUF file), `key` (what a
request must carry), `ctx` (tokens of context, shared by the requests at one time), `parallel` (how
many those are), `threads`, `batch_threads` and `idle_s`. The first line on standard output is
`{"url": ...}`. After that every `+` on standard input says that a request begins, every `-` that
one has ended; after `idle_s` seconds without any the process ends. It also ends when standard
input closes, and so with its parent, however that ends. Imports the engine and nothing else of
hame.
"""

import importlib
import json
import os
import select
import sys
import threading
from collections.abc import Mapping
from typing import BinaryIO, Protocol

STDIN, STDOUT, STDERR = 0, 1, 2


class _Server(Protocol):
    """The engine's server, as far as it is used."""

    listening_address: str


def main() -> None:
    """Serve until standard input closes or nobody asks any more."""
    config = json.loads(_read_line())
    answers = _keep_answers_apart()
    loaded = threading.Event()
    threading.Thread(target=_end_in_time, args=(config["idle_s"], loaded), daemon=True).start()
    server = _serve(config)
    answers.write(json.dumps({"url": server.listening_address}).encode() + b"\n")
    _be_silent()
    loaded.set()
    threading.Event().wait()


def _read_line() -> bytes:
    """The first line, and not a byte more: the rest is for the thread that waits for the end."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(STDIN, 1)
        if not byte:
            sys.exit(0)
        line += byte
    return line


def _keep_answers_apart() -> BinaryIO:
    """Standard output for us alone: what the engine prints there goes to standard error."""
    own = os.fdopen(os.dup(STDOUT), "wb", buffering=0)
    os.dup2(STDERR, STDOUT)
    return own


def _be_silent() -> None:
    """Nobody reads what the engine prints from now on: a full pipe would hold it up for ever."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (STDOUT, STDERR):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _end_in_time(idle_s: float, loaded: threading.Event) -> None:
    """End the process with its parent, or when no request has been going for so long."""
    going = 0
    while True:
        readable, _, _ = select.select([STDIN], [], [], idle_s)
        signs = os.read(STDIN, 4096) if readable else b""
        closed = readable and not signs
        forgotten = not readable and going == 0 and loaded.is_set()
        if closed or forgotten:
            os._exit(0)
        going += signs.count(b"+") - signs.count(b"-")


def _serve(config: Mapping[str, object]) -> _Server:
    """Load the model and open the server; both live as long as what is returned."""
    engine = importlib.import_module("xllamacpp")
    params = engine.CommonParams()
    params.model.path = config["model"]
    params.n_ctx = config["ctx"]
    params.n_parallel = config["parallel"]
    params.kv_unified = True
    params.cache_ram_mib = 256
    params.cpuparams.n_threads = config["threads"]
    params.cpuparams_batch.n_threads = config["batch_threads"]
    params.ui = False
    params.api_keys = [config["key"]]
    params.cors_origins = "localhost"
    params.verbosity = -1
    server: _Server = engine.Server(params)
    return server


if __name__ == "__main__":
    main()
