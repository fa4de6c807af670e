"""The table of wires: {wire name: codec}. The only importer of `hame.llm.wires`.

A wire's folder is imported when it is first asked for, so a process that talks to one vendor loads
one wire.
"""

from importlib import import_module

from hame.base.errors import ConfigError
from hame.base.ports import Codec

WIRES: tuple[str, ...] = (
    "anthropic_messages",
    "openai_chat",
    "openai_responses",
    "gemini",
    "ollama",
)


def codec(name: str) -> Codec:
    """The codec of a wire.

    Raises:
        ConfigError: if there is no such wire.
    """
    if name not in WIRES:
        raise ConfigError(
            f"There is no wire called {name!r}.", hint=f"Use one of: {', '.join(WIRES)}."
        )
    found: Codec = import_module(f"hame.llm.wires.{name}").CODEC
    return found
