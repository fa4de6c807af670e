"""What a backend may be able to do besides opening models: each a protocol that is asked for by type.

`ListsModels`, the commonest, stands beside `Backend` in `hame.base.ports`. A backend that lacks one of
these is spoken to without it; it is never swapped for another backend, and nothing of a request is lost:

| without | what happens |
|---|---|
| `ListsModels` | its default model is listed |
| `SignsIn`, `LearnsModels` | it is opened as it is |
| `ChecksKeys` | its key is tried by listing its models |
| `NativeTools` | tools are told in words, and calls are read out of its words |
| `ConstrainsOutput` | its answers are held to nothing |
| `CountsTokens` | tokens are estimated |
| `CachesContext` | nothing is let go at the end |
| `Embeds` | who wants an embedding of it is told that it makes none |
| `Configurable` | no settings of it are shown |
| `Cancellable` | hanging up is all that stops it |
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

from hame.base.errors import ConfigError
from hame.base.model import Constraint, ModelFacts, Usage
from hame.base.ports import HttpRequest, Model, ModelRequest


@runtime_checkable
class SignsIn(Protocol):
    """A backend that may have to fetch its key first: from a command or a keyring."""

    async def sign_in(self) -> None:
        """Get what `open` needs; at once where it is there already.

        Raises:
            ConfigError: if there is no key, or it cannot be had; with the remedy.
        """
        ...


@runtime_checkable
class LearnsModels(Protocol):
    """A backend whose server can be asked about one model."""

    async def learn(self, model: str) -> ModelFacts:
        """What is known of the model now; `open` goes by it from here on.

        What the server does not say, or cannot be asked, stays as it was.

        Raises:
            ConfigError: if the model is none that can hold a conversation.
        """
        ...


@runtime_checkable
class ChecksKeys(Protocol):
    """A backend that can tell whether its key is good although it lists its models to everybody."""

    async def check_key(self) -> bool:
        """Ask for something that only a good key gets; False: this service has nothing like that.

        Raises:
            ConfigError: if there is no key.
            ModelError: if it was refused, or could not be asked.
        """
        ...


@runtime_checkable
class NativeTools(Protocol):
    """A backend whose models take a request's tools, in whatever way, and answer with calls."""

    def takes_tools(self, model: str) -> bool:
        """Whether this one does."""
        ...


@runtime_checkable
class ConstrainsOutput(Protocol):
    """A backend that can hold an answer to something."""

    def constraints(self, model: str) -> Sequence[Constraint]:
        """To what, the best first: `SCHEMA` is the request's `shape`, any other its `lines`."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """A backend that can count what a request would take, without answering it."""

    async def count_tokens(self, model: str, request: ModelRequest) -> int | None:
        """Tokens of the whole request; None where it could not be counted just now. Does not raise."""
        ...


@runtime_checkable
class CachesContext(Protocol):
    """A backend that stores what requests have in common, for hire."""

    async def release(self) -> None:
        """Nobody will ask any more: let go of what is stored. Does not raise."""
        ...


class Embeddings(msgspec.Struct, frozen=True, kw_only=True):
    """Texts as vectors."""

    vectors: tuple[tuple[float, ...], ...]
    """One for each text, in their order."""
    usage: Usage = Usage()


@runtime_checkable
class Embeds(Protocol):
    """A backend with models that turn texts into vectors."""

    async def embed(self, model: str, texts: Sequence[str]) -> Embeddings:
        """The texts as vectors.

        Raises:
            ConfigError: if there is no key, or no such model.
            ModelError: if it was refused, or could not be asked.
        """
        ...


class BackendSetting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of a backend's settings, for people."""

    name: str
    """What it is set by: `providers.ollama.num_gpu`, or the backend's own word for it."""
    value: str = ""
    """As it is now, secrets masked; empty where it is not set."""
    about: str = ""
    """What it does, and what holds where it is not set."""


@runtime_checkable
class Configurable(Protocol):
    """A backend with settings of its own."""

    def settings(self) -> Sequence[BackendSetting]:
        """All of them."""
        ...


@runtime_checkable
class Cancellable(Protocol):
    """A backend that goes on working when nobody listens any more, unless it is told."""

    async def stop(self) -> None:
        """Stop what was asked last; called when an answer was left before its end. May raise anything."""
        ...


@runtime_checkable
class WritesRequests(Protocol):
    """A model that can show what it would send."""

    def encode(self, request: ModelRequest) -> HttpRequest:
        """Exactly what would be sent for a request."""
        ...


def written(model: Model, request: ModelRequest) -> HttpRequest:
    """Exactly what would be sent to a model for a request.

    Raises:
        ConfigError: if the model is not asked over HTTP.
    """
    if not isinstance(model, WritesRequests):
        raise ConfigError(
            f"{model.facts.name} runs inside hame and is not asked over HTTP",
            hint="Name a model of a provider with --model.",
        )
    return model.encode(request)
