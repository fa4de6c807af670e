"""Trying a backend before it is relied upon: what its server says to the key and the address."""

from enum import StrEnum

import msgspec

from hame.backends.detect import talking_models
from hame.base.capability import ChecksKeys
from hame.base.errors import ErrorKind, Failure, ModelError
from hame.base.ports import Backend, ListsModels


class Verdict(StrEnum):
    """What came of a trial."""

    VERIFIED = "verified"
    RATE_LIMITED = "rate-limited"
    """The key is good and is being used too much just now."""
    REJECTED = "rejected"
    UNREACHABLE = "unreachable"
    WRONG_ENDPOINT = "wrong endpoint"
    NO_MODELS = "no models"
    UNCERTAIN = "uncertain"
    """The server answered with something that says nothing about the key."""

    @property
    def good(self) -> bool:
        """The key is known to be right."""
        return self in {Verdict.VERIFIED, Verdict.RATE_LIMITED}

    @property
    def bad(self) -> bool:
        """The key or the address is known to be wrong: it is of no use to keep it."""
        return self in {Verdict.REJECTED, Verdict.WRONG_ENDPOINT}


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a trial, with the words for it."""

    verdict: Verdict
    said: str
    """One line."""
    hint: str = ""
    models: tuple[str, ...] = ()
    """What it serves, where it lists that."""


_VERDICTS = {
    ErrorKind.AUTH: Verdict.REJECTED,
    ErrorKind.PERMISSION: Verdict.REJECTED,
    ErrorKind.RATE_LIMIT: Verdict.RATE_LIMITED,
    ErrorKind.OVERLOADED: Verdict.UNCERTAIN,
    ErrorKind.QUOTA_EXHAUSTED: Verdict.RATE_LIMITED,
    ErrorKind.NETWORK: Verdict.UNREACHABLE,
    ErrorKind.TIMEOUT: Verdict.UNREACHABLE,
    ErrorKind.NOT_FOUND: Verdict.WRONG_ENDPOINT,
    ErrorKind.PROTOCOL: Verdict.WRONG_ENDPOINT,
}
"""By what failed; every other kind is UNCERTAIN."""


async def try_backend(backend: Backend) -> Trial:
    """Ask for what only a good key gets, and for the models.

    Raises:
        ConfigError: if it cannot be asked at all (no key, no address).
    """
    try:
        if isinstance(backend, ChecksKeys) and not await backend.check_key():
            said = f"{backend.display_name} can only be tried by asking a model"
            return Trial(verdict=Verdict.UNCERTAIN, said=said, hint="hame -p hi asks one.")
        listed = await backend.list_models() if isinstance(backend, ListsModels) else ()
    except ModelError as error:
        return _judge(error.failure)
    names = tuple(model.id for model in listed)
    if not talking_models(listed):
        said = f"{backend.display_name} accepts the key and serves no model"
        hint = "Load or enable a model there."
        return Trial(verdict=Verdict.NO_MODELS, said=said, hint=hint, models=names)
    some = "one model" if len(names) == 1 else f"{len(names):,} models"
    said = f"{backend.display_name} answers and lists {some}"
    return Trial(verdict=Verdict.VERIFIED, said=said, models=names)


def _judge(failure: Failure) -> Trial:
    verdict = _VERDICTS.get(failure.kind, Verdict.UNCERTAIN)
    hint = failure.hint
    moved = failure.status is not None and 300 <= failure.status < 400
    if verdict is Verdict.WRONG_ENDPOINT and not moved:
        hint = "Check the base URL; for an OpenAI-compatible server it ends in /v1."
    if verdict is Verdict.REJECTED:
        hint = "See that the key is whole, still valid, and for this address."
    said = failure.message
    if failure.said and failure.said not in said:
        said = f"{said} ({failure.said})"
    return Trial(verdict=verdict, said=said, hint=hint)
