"""`hame auth`: keys for providers, tried before they are kept and never shown whole."""

import re
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio
import click
import msgspec

from hame.app.access import Access, Candidate, accesses, keep, try_access, try_candidate, untried
from hame.app.offers import open_models
from hame.backends.address import Reach, reach_of
from hame.backends.served import own_variable
from hame.backends.trial import Trial, Verdict
from hame.base.errors import ConfigError
from hame.base.json import dump
from hame.base.model import Vendor
from hame.cli.completing import completing, find_providers
from hame.cli.exits import ExitCode
from hame.cli.launch import Launch, prepare
from hame.cli.reveal import clean
from hame.cli.session import launchpad
from hame.config.keys import nearest
from hame.llm.catalog import ShippedCatalogue

_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_MOST_CHARACTERS = 16_384
"""Of a key on standard input; access tokens are long."""


@click.group(invoke_without_command=True)
@click.pass_context
def auth(ctx: click.Context) -> None:
    """Keep, try and forget the keys of providers.

    Without a subcommand: the keys there are.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_keys)


@auth.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_keys(options: Mapping[str, Any], *, as_json: bool = False) -> None:
    """The keys there are, where each is, and where it is sent."""
    launch = prepare(options, interactive=False)
    found = anyio.run(_accesses, launch)
    if as_json:
        sys.stdout.write(dump([msgspec.to_builtins(access) for access in found]) + "\n")
        return
    if not found:
        sys.stderr.write("hame: there are no keys yet; hame auth add PROVIDER keeps one\n")
    widest = [max((len(cell) for cell in column), default=0) for column in _columns(found)]
    for access in found:
        columns = zip(_cells(access), widest, strict=True)
        cells = [f"{cell:<{width}}" for cell, width in columns if width]
        sys.stdout.write(clean("  ".join(cells)).rstrip() + "\n")


@auth.command()
@click.argument("provider", shell_complete=completing(find_providers))
@click.option("--base-url", metavar="URL", default="", help="Where the key is for.")
@click.option("--allow-http", is_flag=True, help="Send it unencrypted, on a network of yours.")
@click.option("--no-verify", is_flag=True, help="Keep it without trying it.")
@click.option(
    "--store", type=click.Choice(["keyring", "file"]), help="Where; a keyring where there is one."
)
@click.pass_obj
def add(
    options: Mapping[str, Any],
    provider: str,
    *,
    base_url: str,
    allow_http: bool,
    no_verify: bool,
    store: str | None,
) -> int:
    """Try a key for PROVIDER and keep it.

    The key is asked for, or read from standard input; it is no argument, which others could see.
    With --base-url, PROVIDER may be any name for a server of your own.
    """
    launch = prepare(options, interactive=False)
    vendor = anyio.run(_vendor, launch, provider)
    if vendor is None:
        _require_address(launch, provider, base_url)
    if base_url:
        allow_http = _acknowledge(base_url, allow_http=allow_http)
    key = _read_key(provider, vendor)
    candidate = Candidate(
        provider=provider, key=key, base_url=base_url, allow_http=allow_http and bool(base_url)
    )
    return anyio.run(partial(_add, launch, candidate, no_verify=no_verify, store=store))


@auth.command()
@click.argument("provider", required=False, shell_complete=completing(find_providers))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def test(options: Mapping[str, Any], provider: str | None, *, as_json: bool) -> int:
    """Try the key of PROVIDER, or all keys.

    Each provider is asked for its list of models.
    """
    launch = prepare(options, interactive=False)
    trials = anyio.run(_test, launch, provider)
    if as_json:
        plain = {name: msgspec.to_builtins(trial) for name, trial in trials.items()}
        sys.stdout.write(dump(plain) + "\n")
    else:
        for name, trial in trials.items():
            _show(name, trial)
    bad = any(not trial.verdict.good for trial in trials.values())
    return ExitCode.FAILED if bad else ExitCode.DONE


@auth.command()
@click.argument("provider", shell_complete=completing(find_providers))
@click.pass_obj
def remove(options: Mapping[str, Any], provider: str) -> int:
    """Forget the saved key of PROVIDER."""
    launch = prepare(options, interactive=False)
    found = anyio.run(_remove, launch, provider)
    if not found:
        sys.stderr.write(f"hame: no key of {clean(provider)} is saved; hame auth list shows all\n")
        return ExitCode.FAILED
    sys.stdout.write(f"The key of {clean(provider)} is forgotten.\n")
    own = launch.settings.providers.get(provider)
    if own is not None and own.base_url:
        setting = f"providers.{provider}.base_url"
        sys.stdout.write(f"Its address stays: hame config unset {clean(setting)}\n")
    return ExitCode.DONE


# ---------------------------------------------------------------- on the event loop


async def _accesses(launch: Launch) -> list[Access]:
    async with open_models(launchpad(launch)) as models:
        return accesses(models)


async def _vendor(launch: Launch, provider: str) -> Vendor | None:
    async with open_models(launchpad(launch)) as models:
        return models.catalogue.vendor(provider)


async def _add(launch: Launch, candidate: Candidate, *, no_verify: bool, store: str | None) -> int:
    async with open_models(launchpad(launch)) as models:
        if store == "keyring" and models.keys.store.plain:
            raise ConfigError(
                "there is no keyring here that keeps secrets",
                hint="pip install 'hame[keyring]', or --store file",
            )
        if no_verify:
            tried = untried(models, candidate)
        else:
            tried = await try_candidate(models, candidate)
            _show(candidate.provider, tried.trial)
            if not _wanted(tried.trial):
                sys.stderr.write("hame: nothing was saved\n")
                return ExitCode.FAILED
        place = keep(models, launch.places, tried, in_file=store == "file")
        sys.stdout.write(f"Saved in {place}.\n")
        vendor = models.catalogue.vendor(candidate.provider)
        for name in vendor.key_env if vendor is not None else ():
            if launch.environment.get(name, "").strip():
                sys.stdout.write(f"{name} is set in the environment and comes before it.\n")
    return ExitCode.DONE


async def _test(launch: Launch, provider: str | None) -> dict[str, Trial]:
    async with open_models(launchpad(launch)) as models:
        names = [provider] if provider else [each.provider for each in accesses(models)]
        if not names:
            raise ConfigError("there are no keys to try", hint="hame auth add PROVIDER keeps one.")
        trials: dict[str, Trial] = {}
        for name in dict.fromkeys(names):
            try:
                trials[name] = await try_access(models, name)
            except ConfigError as error:
                if provider:
                    raise
                trials[name] = Trial(verdict=Verdict.UNCERTAIN, said=error.message, hint=error.hint)
        return trials


async def _remove(launch: Launch, provider: str) -> bool:
    async with open_models(launchpad(launch)) as models:
        return models.keys.store.remove(provider)


# ---------------------------------------------------------------- with the user


def _read_key(provider: str, vendor: Vendor | None) -> str | None:
    """The key: typed unseen, or from a pipe; None for a server that needs none.

    Raises:
        ConfigError: if there is none where one is needed.
    """
    needed = vendor.needs_key if vendor is not None else False
    if sys.stdin.isatty():
        if vendor is not None and vendor.key_page:
            sys.stderr.write(f"Keys of {vendor.display_name}: {vendor.key_page}\n")
        name = vendor.display_name if vendor is not None else provider
        rest = "" if needed else " (empty for none)"
        typed: str = click.prompt(
            f"Key for {name}{rest}", hide_input=True, default="", show_default=False, err=True
        )
    else:
        typed = sys.stdin.read(_MOST_CHARACTERS)
    words = typed.split()
    if len(words) > 1:
        raise ConfigError("a key is one word", hint="Nothing was saved; give the key alone.")
    if words and not (words[0].isascii() and words[0].isprintable()):
        raise ConfigError(
            "a key has no letters but those of ASCII",
            hint="Nothing was saved; copy the key itself, without what stands around it.",
        )
    if not words and needed:
        raise ConfigError(
            "no key was given", hint=f"Type it, or pipe it: hame auth add {provider} < FILE"
        )
    return words[0] if words else None


def _require_address(launch: Launch, provider: str, base_url: str) -> None:
    """See that a server of the user's own has a name that can be said, and an address.

    Raises:
        ConfigError: if not.
    """
    if not _NAME.fullmatch(provider):
        raise ConfigError(
            f"{provider!r} cannot be the name of a provider",
            hint="A name has letters, digits, dots, dashes and underscores.",
        )
    own = launch.settings.providers.get(provider)
    told = launch.environment.get(own_variable(provider, "BASE_URL"), "").strip()
    if not (base_url or told or (own is not None and own.base_url)):
        near = nearest(provider, dict.fromkeys(ShippedCatalogue().vendors()))
        raise ConfigError(
            f"there is no provider called {provider!r}{near}",
            hint=f"A server of your own needs its address: hame auth add {provider} --base-url "
            "https://HOST/v1",
        )


def _acknowledge(base_url: str, *, allow_http: bool) -> bool:
    """Whether unencrypted requests to that address are wanted, asking where somebody can answer.

    Raises:
        ConfigError: if they are not.
    """
    try:
        parts = urlsplit(base_url if "://" in base_url else f"//{base_url}")
    except ValueError:
        return allow_http  # It is no address; that is said when it is tried.
    host = parts.hostname or ""
    if parts.scheme != "http" or reach_of(host) is Reach.HERE or allow_http:
        return allow_http
    if reach_of(host) is Reach.PUBLIC:
        raise ConfigError(f"{base_url} is not encrypted", hint="Use https.")
    question = f"{host} is reached unencrypted: who shares the network can read all. Go on?"
    if sys.stdin.isatty() and click.confirm(question, err=True):
        return True
    raise ConfigError(
        f"{base_url} is not encrypted",
        hint="Use https, or say --allow-http for a network of yours.",
    )


def _wanted(trial: Trial) -> bool:
    """Whether a key is to be kept: a good one is, a bad one is not, in between the user decides."""
    if trial.verdict.good or trial.verdict is Verdict.NO_MODELS:
        return True
    if trial.verdict.bad:
        return False
    if sys.stdin.isatty():
        return click.confirm("It could not be tried. Save it all the same?", err=True)
    sys.stderr.write("hame: it could not be tried; --no-verify saves it all the same\n")
    return False


def _show(provider: str, trial: Trial) -> None:
    sys.stdout.write(clean(f"{provider}: {trial.verdict}: {trial.said}") + "\n")
    if trial.hint and not trial.verdict.good:
        sys.stdout.write(clean(f"  {trial.hint}") + "\n")


def _columns(found: list[Access]) -> list[tuple[str, ...]]:
    return list(zip(*map(_cells, found), strict=True))


def _cells(access: Access) -> tuple[str, ...]:
    bound = f"only for {access.bound}, which is not in use" if access.bound else ""
    return access.provider, access.where, access.shown, access.origin, bound
