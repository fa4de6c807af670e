"""`hame models`: the providers there are, and the models that one of them serves."""

import sys
from collections.abc import Mapping
from typing import Any

import anyio
import click
import msgspec

from hame.app.offers import Offer, listed_models, offers, open_models
from hame.base.json import dump
from hame.base.model import ModelListing
from hame.cli.launch import Launch, prepare
from hame.cli.reveal import clean
from hame.cli.session import launchpad
from hame.cli.words import tokens


@click.command()
@click.argument("provider", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def models(options: Mapping[str, Any], provider: str | None, *, as_json: bool) -> None:
    """List the providers, or the models that PROVIDER serves."""
    launch = prepare(options, interactive=False)
    if provider is None:
        _show_offers(anyio.run(_offers, launch), as_json=as_json)
    else:
        _show_models(provider, anyio.run(_models, launch, provider), as_json=as_json)


async def _offers(launch: Launch) -> list[Offer]:
    async with open_models(launchpad(launch)) as found:
        return offers(found)


async def _models(launch: Launch, provider: str) -> list[ModelListing]:
    async with open_models(launchpad(launch)) as found:
        return list(await listed_models(found, provider))


def _show_offers(found: list[Offer], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(dump([msgspec.to_builtins(offer) for offer in found]) + "\n")
        return
    ids = max(len(offer.id) for offer in found)
    names = max(len(offer.name) for offer in found)
    states = max(len(_state(offer)) for offer in found)
    for offer in found:
        row = f"{offer.id:<{ids}}  {offer.name:<{names}}  {_state(offer):<{states}}  {offer.model}"
        sys.stdout.write(f"{row.rstrip()}\n")
    sys.stdout.write(
        "\nhame models PROVIDER lists its models; hame --model PROVIDER/MODEL asks one.\n"
    )


def _state(offer: Offer) -> str:
    if offer.ready:
        return "if it runs here" if offer.local and not offer.chosen else "ready"
    return f"needs {offer.needs}" if offer.needs else "not set up"


def _show_models(provider: str, found: list[ModelListing], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(dump([msgspec.to_builtins(model) for model in found]) + "\n")
        return
    if not found:
        sys.stderr.write(f"hame: {provider} serves no models\n")
        return
    widest = max(len(model.id) for model in found)
    for model in sorted(found, key=lambda model: model.id):
        window = f"{tokens(model.context_window)} tokens" if model.context_window else ""
        name = model.display_name if model.display_name != model.id else ""
        row = f"{provider}/{model.id:<{widest}}  {window:>13}  {name}"
        sys.stdout.write(f"{clean(row).rstrip()}\n")
