"""Standard input as part of a prompt."""

import sys
import threading

from hame.base.errors import ConfigError

_LIMIT = 10 << 20
"""Bytes; no model takes more, and a pipe may have no end."""
_PATIENCE_S = 2.0


def read_piped() -> str:
    """What is piped in, to its end; says so when that takes long.

    Raises:
        ConfigError: if it is not text, or more than any model takes.
    """
    timer = threading.Timer(_PATIENCE_S, _say_waiting)
    timer.daemon = True
    timer.start()
    try:
        data = sys.stdin.buffer.read(_LIMIT + 1)
    finally:
        timer.cancel()
    if len(data) > _LIMIT:
        raise ConfigError(
            "standard input is larger than 10 MiB", hint="Name the file in the prompt instead."
        )
    if b"\0" in data:
        raise ConfigError("standard input is not text", hint="Name the file in the prompt instead.")
    return data.decode("utf-8", "replace")


def compose_prompt(words: str, piped: str | None) -> str:
    """The prompt from what was said and what was piped in; `-` stands for the latter.

    Raises:
        ConfigError: if nothing is left to ask.
    """
    said = "" if words.strip() == "-" else words.strip()
    more = (piped or "").strip("\n")
    if said and more.strip():
        return f"{said}\n\n<stdin>\n{more}\n</stdin>"
    if not said and not more.strip():
        raise ConfigError(
            "there is no prompt", hint='Say what to do: hame -p "explain this project".'
        )
    return said or more


def _say_waiting() -> None:
    sys.stderr.write(
        "hame: reading standard input until it ends (Ctrl-D; or start with </dev/null)\n"
    )
    sys.stderr.flush()
