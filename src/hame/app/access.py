"""The user's keys as `hame auth` shows, tries, keeps and forgets them."""

import msgspec
from msgspec.structs import replace

from hame.app.models import Models
from hame.backends.address import check_address, origin_of, split_query, with_query
from hame.backends.credential import Source
from hame.backends.served import ServedBackend
from hame.backends.trial import Trial, Verdict, try_backend
from hame.base.secret import SavedKey, mask
from hame.base.settings import ProviderSettings
from hame.config.keystore import KeyStore
from hame.config.places import Places
from hame.config.write import set_value


class Access(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One provider's key as a list shows it: never the key itself."""

    provider: str
    name: str
    source: Source
    where: str
    """The variable, the file, the keyring, or the setting."""
    shown: str = ""
    """The key, masked; empty where it was not fetched."""
    origin: str = ""
    """Where it is sent."""
    bound: str = ""
    """Of a saved key: where it may be sent, if that is another origin than `origin`."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A key, or an address, that is to be tried before it is kept."""

    provider: str
    key: str | None
    """None: the server wants none."""
    base_url: str = ""
    """As the user wrote it; empty: the one that is known."""
    allow_http: bool = False


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate, and what came of it."""

    candidate: Candidate
    base_url: str
    """As it is used."""
    trial: Trial


def accesses(models: Models) -> list[Access]:
    """All providers that have a key."""
    models.know_all()
    found = [
        _access(models, backend)
        for backend in models.registry
        if isinstance(backend, ServedBackend)
        and backend.credential.exists
        and not backend.vendor.variant_of
    ]
    used = {access.provider for access in found if access.source is Source.SAVED}
    unused = [name for name in models.keys.store.providers() if name not in used]
    return found + [_unused(models, provider) for provider in unused]


async def try_access(models: Models, provider: str) -> Trial:
    """Try a provider as it is set up.

    Raises:
        ConfigError: if there is no such provider, or no key for it.
    """
    models.know_all()
    await models.meet(provider)
    return await try_backend(models.registry.find(provider))


async def try_candidate(models: Models, candidate: Candidate) -> Tried:
    """Try a key that is not kept yet; of a server of the user's own, with `/v1` too.

    Raises:
        ConfigError: for an unknown provider without an address, or an address that may not be used.
    """
    tried = await _try(models, candidate)
    address, query = split_query(tried.base_url)
    if tried.trial.verdict is Verdict.WRONG_ENDPOINT and not address.endswith("/v1"):
        longer = with_query(f"{address}/v1", query)
        again = await _try(models, replace(candidate, base_url=longer))
        if not again.trial.verdict.bad:
            return again
    return tried


def untried(models: Models, candidate: Candidate) -> Tried:
    """A candidate that the user wants to keep as it is.

    Raises:
        ConfigError: for an unknown provider without an address, or an address that may not be used.
    """
    endpoint = models.candidate(candidate.provider, _settings(candidate)).endpoint
    base_url = with_query(endpoint.base_url, endpoint.query)
    if endpoint.base_url:
        check_address(endpoint.base_url, candidate.provider, allow_http=candidate.allow_http)
    trial = Trial(verdict=Verdict.UNCERTAIN, said="not tried")
    return Tried(candidate=candidate, base_url=base_url, trial=trial)


def keep(models: Models, places: Places, tried: Tried, *, in_file: bool = False) -> str:
    """Keep a key, and the address that it is for; where it is kept, in words.

    With `in_file` it goes to the file also where there is a keyring.

    Raises:
        ConfigError: if it cannot be written.
    """
    candidate = tried.candidate
    if candidate.base_url:
        set_value(places, f"providers.{candidate.provider}.base_url", tried.base_url)
    if candidate.allow_http:
        set_value(places, f"providers.{candidate.provider}.allow_http", "true")
    if not candidate.key:
        return places.config_file
    store = KeyStore(places.keys_file) if in_file else models.keys.store
    origin = origin_of(tried.base_url)
    store.save(SavedKey(provider=candidate.provider, origin=origin, secret=candidate.key))
    plain = " as plain text, readable by you only" * store.plain
    return f"{store.where(candidate.provider)}{plain}"


async def _try(models: Models, candidate: Candidate) -> Tried:
    if candidate.key:
        models.keys.learned(candidate.key)
    backend = models.candidate(candidate.provider, _settings(candidate))
    trial = await try_backend(backend)
    endpoint = backend.endpoint
    base_url = with_query(endpoint.base_url, endpoint.query)
    return Tried(candidate=candidate, base_url=base_url, trial=trial)


def _settings(candidate: Candidate) -> ProviderSettings:
    return ProviderSettings(
        api_key=candidate.key, base_url=candidate.base_url or None, allow_http=candidate.allow_http
    )


def _access(models: Models, backend: ServedBackend) -> Access:
    credential, store = backend.credential, models.keys.store
    saved = credential.source is Source.SAVED
    where = store.where(backend.id) if saved else credential.where
    base_url = backend.endpoint.base_url
    origin = origin_of(base_url) if base_url else ""
    bound = (store.origin(backend.id) or "") if saved else ""
    return Access(
        provider=backend.id,
        name=backend.display_name,
        source=credential.source,
        where=where,
        shown=mask(credential.known) if credential.known else "",
        origin=origin,
        bound=bound if bound != origin else "",
    )


def _unused(models: Models, provider: str) -> Access:
    """A key that is kept and not used: another one comes first, or the provider is gone."""
    store = models.keys.store
    bound = store.origin(provider) or ""
    where = f"{store.where(provider)}, not used"
    return Access(provider=provider, name="", source=Source.SAVED, where=where, origin=bound)
