"""What a backend may be able to do besides opening models: each a protocol that is asked for by type.

`ListsModels`, the commonest, stands beside `Backend` in `hame.base.ports`. A backend that lacks one of
these is spoken to without it; it is never swapped for another backend.
"""

from typing import Protocol, runtime_checkable

from hame.base.errors import ConfigError
from hame.base.model import ModelFacts
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
