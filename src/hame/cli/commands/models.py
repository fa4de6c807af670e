"""`hame models`: the providers there are, the models that one of them serves, what is known of one model."""

import sys
from collections.abc import Mapping
from typing import Any

import anyio
import click
import msgspec

from hame.app.offers import Offer, offers, open_models
from hame.app.sheet import Sheet, settings_of, sheet_of
from hame.app.shelf import Shelf, shelf_of
from hame.app.shelf import search as search_models
from hame.base.capability import BackendSetting
from hame.base.errors import ConfigError
from hame.base.json import dump
from hame.cli.completing import completing, find_models
from hame.cli.exits import ExitCode
from hame.cli.launch import Launch, prepare
from hame.cli.reveal import clean
from hame.cli.session import launchpad
from hame.cli.shelves import choice_rows, setting_lines, sheet_lines


@click.command()
@click.argument(
    "provider",
    required=False,
    metavar="[PROVIDER[/MODEL]]",
    shell_complete=completing(find_models),
)
@click.option("--search", metavar="WORDS", help="Only models whose name holds these words.")
@click.option("--settings", "with_settings", is_flag=True, help="What can be set for PROVIDER.")
@click.option("--try", "tries", is_flag=True, help="Try now how a local MODEL calls tools.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def models(
    options: Mapping[str, Any],
    provider: str | None,
    *,
    search: str | None,
    with_settings: bool,
    tries: bool,
    as_json: bool,
) -> int:
    """List the providers, the models that PROVIDER serves, or what is known of one MODEL.

    With --search and no PROVIDER, all providers that you set up are asked.
    """
    launch = prepare(options, interactive=False)
    if tries or (provider and "/" in provider.rstrip("/") and not with_settings):
        sheet = anyio.run(_sheet, launch, provider or "", tries)
        _show_sheet(sheet, as_json=as_json)
        return ExitCode.FAILED if tries and sheet.untried else ExitCode.DONE
    if with_settings:
        _show_settings(anyio.run(_settings, launch, provider), as_json=as_json)
        return ExitCode.DONE
    if provider is None and search is None:
        _show_offers(anyio.run(_offers, launch), as_json=as_json)
        return ExitCode.DONE
    shelf = anyio.run(_shelf, launch, provider and provider.rstrip("/"), search or "")
    if as_json:
        plain = [msgspec.to_builtins(choice) for choice in shelf.choices]
        sys.stdout.write(dump(plain) + "\n")
    else:
        _show(shelf, provider)
    return ExitCode.DONE


async def _sheet(launch: Launch, name: str, tries: bool) -> Sheet:  # noqa: FBT001 - anyio.run
    """One model.

    Raises:
        ConfigError: if no model is named, or it is none that can be asked.
    """
    if not name.partition("/")[2]:
        raise ConfigError("no model is named", hint="hame models PROVIDER/MODEL --try")

    def tell(line: str) -> None:
        sys.stderr.write(f"hame: {clean(line)}\n")

    async with open_models(launchpad(launch)) as found:
        return await sheet_of(found, name, tell if tries else None)


async def _settings(launch: Launch, provider: str | None) -> tuple[BackendSetting, ...]:
    """What can be set for a provider.

    Raises:
        ConfigError: if none is named, or there is none of that name.
    """
    if not provider:
        raise ConfigError("no provider is named", hint="hame models PROVIDER --settings")
    async with open_models(launchpad(launch)) as found:
        return settings_of(found, provider.partition("/")[0])


async def _offers(launch: Launch) -> list[Offer]:
    async with open_models(launchpad(launch)) as found:
        return offers(found)


async def _shelf(launch: Launch, provider: str | None, words: str) -> Shelf:
    async with open_models(launchpad(launch)) as found:
        if provider is None:
            return await search_models(found, words)
        shelf = await shelf_of(found, provider)
    parts = words.lower().split()
    wanted = [
        choice
        for choice in shelf.choices
        if all(part in f"{choice.name} {choice.display_name}".lower() for part in parts)
    ]
    return Shelf(choices=tuple(wanted), failed=shelf.failed)


def _show(shelf: Shelf, provider: str | None) -> None:
    for line in shelf.failed:
        sys.stderr.write(f"hame: {clean(line)}\n")
    if not shelf.choices:
        whose = clean(provider) if provider else "no provider that is set up"
        verb = "serves no" if provider else "serves"
        sys.stderr.write(f"hame: {whose} {verb} such a model; hame models lists all providers\n")
        return
    for row in choice_rows(sorted(shelf.choices, key=lambda choice: choice.name)):
        sys.stdout.write(f"{clean(row)}\n")


def _show_sheet(sheet: Sheet, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(dump(msgspec.to_builtins(sheet)) + "\n")
        return
    for line in sheet_lines(sheet):
        sys.stdout.write(f"{clean(line)}\n")


def _show_settings(found: tuple[BackendSetting, ...], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(dump([msgspec.to_builtins(one) for one in found]) + "\n")
        return
    if not found:
        sys.stderr.write("hame: there is nothing to set for it\n")
    for line in setting_lines(found):
        sys.stdout.write(f"{clean(line)}\n")


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
    # One variable is enough to begin with, and keeps the table narrow.
    return f"needs {offer.needs.partition(' or ')[0]}" if offer.needs else "not set up"
