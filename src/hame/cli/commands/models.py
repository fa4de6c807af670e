"""`hame models`: the providers there are, and the models that one of them serves."""

import sys
from collections.abc import Mapping
from typing import Any

import anyio
import click
import msgspec

from hame.app.offers import Offer, offers, open_models
from hame.app.shelf import Shelf, look_at
from hame.app.shelf import search as search_models
from hame.base.json import dump
from hame.cli.launch import Launch, prepare
from hame.cli.reveal import clean
from hame.cli.session import launchpad
from hame.cli.shelves import choice_rows


@click.command()
@click.argument("provider", required=False)
@click.option("--search", metavar="WORDS", help="Only models whose name holds these words.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def models(
    options: Mapping[str, Any], provider: str | None, *, search: str | None, as_json: bool
) -> None:
    """List the providers, or the models that PROVIDER serves.

    With --search and no PROVIDER, all providers that you set up are asked.
    """
    launch = prepare(options, interactive=False)
    if provider is None and search is None:
        _show_offers(anyio.run(_offers, launch), as_json=as_json)
        return
    shelf = anyio.run(_shelf, launch, provider, search or "")
    if as_json:
        plain = [msgspec.to_builtins(choice) for choice in shelf.choices]
        sys.stdout.write(dump(plain) + "\n")
    else:
        _show(shelf, provider)


async def _offers(launch: Launch) -> list[Offer]:
    async with open_models(launchpad(launch)) as found:
        return offers(found)


async def _shelf(launch: Launch, provider: str | None, words: str) -> Shelf:
    async with open_models(launchpad(launch)) as found:
        if provider is None:
            return await search_models(found, words)
        choices = await look_at(found, provider)
    parts = words.lower().split()
    wanted = [
        choice
        for choice in choices
        if all(part in f"{choice.name} {choice.display_name}".lower() for part in parts)
    ]
    return Shelf(choices=tuple(wanted))


def _show(shelf: Shelf, provider: str | None) -> None:
    for line in shelf.failed:
        sys.stderr.write(f"hame: {clean(line)}\n")
    if not shelf.choices:
        sys.stderr.write(f"hame: {clean(provider or 'nobody')} serves no such models\n")
        return
    for row in choice_rows(sorted(shelf.choices, key=lambda choice: choice.name)):
        sys.stdout.write(f"{clean(row)}\n")


def _show_offers(found: list[Offer], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(dump([msgspec.to_builtins(offer) for offer in found]) + "\n")
        return
    ids = max(len(offer.id) for offer in found)
    names = max(len(offer.name) for offer in found)
    states = max(len(_state(offer)) for offer in found)
    for offer in found:
        row = f"{offer.id:<{ids}}  {offer.name:<{names}}  {_state(offer):<{states}}  {offer.model}"
        sys.stdout.write(f"{clean(row.rstrip())}\n")
    sys.stdout.write(
        "\nhame models PROVIDER lists its models; hame --model PROVIDER/MODEL asks one.\n"
    )


def _state(offer: Offer) -> str:
    if offer.ready:
        return "if it runs here" if offer.local and not offer.chosen else "ready"
    return f"needs {offer.needs}" if offer.needs else "not set up"
