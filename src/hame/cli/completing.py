"""What a shell completes besides commands and options: sessions, settings, providers, models.

Nothing is asked of a network. What a shell calls here must not fail: it would complete nothing at all.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Found = Sequence[tuple[str, str]]
"""Words, and what is said of each."""

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def completing(find: Callable[[str], Found]) -> Complete:
    """Make of it what click takes: `find` gets the word so far."""

    def complete(
        _ctx: click.Context, _param: click.Parameter, begun: str
    ) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        found: Found = ()
        with suppress(Exception):
            found = find(begun)
        return [CompletionItem(word, help=said) for word, said in found if word.startswith(begun)]

    return complete


def find_sessions(_begun: str) -> Found:
    """Sessions of this folder, the newest first, with their titles."""
    from hame.cli.listing import summaries
    from hame.cli.reveal import one_line
    from hame.config.environment import read_environment
    from hame.config.places import find_places

    places = find_places(read_environment())
    found = summaries(places, os.path.realpath(os.getcwd()))  # noqa: PTH109 - as `hame.cli.launch`
    return [(summary.id, one_line(summary.title, 60)) for summary in found]


def find_settings(_begun: str) -> Found:
    """Keys of settings, with what each means."""
    from hame.config.keys import keys

    return [(name, key.meaning) for name, key in keys().items()]


def find_providers(_begun: str) -> Found:
    """Providers that ship and those of the user, without a model."""
    from hame.config import load_settings
    from hame.config.environment import read_environment
    from hame.config.places import find_places
    from hame.llm.catalog import ShippedCatalogue

    environment = read_environment()
    own: list[str] = []
    with suppress(Exception):  # Settings that cannot be read are said elsewhere.
        loaded = load_settings(environment, find_places(environment), os.path.realpath("."), {})
        own = list(loaded.settings.providers)
    return [(name, "") for name in dict.fromkeys([*own, *ShippedCatalogue().vendors(), "local"])]


def find_models(begun: str) -> Found:
    """Providers; after one and a slash, the models of it that are known without asking."""
    from hame.llm.catalog import ShippedCatalogue

    provider, slash, _ = begun.partition("/")
    if not slash:
        return find_providers(begun)
    rows = ShippedCatalogue().listings(provider)
    return [(f"{provider}/{row.id}", row.display_name) for row in rows]
