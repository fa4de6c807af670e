"""Models to choose from as rows for people: name, window, price, what they can do."""

from collections.abc import Sequence

from hame.app.shelf import Choice
from hame.cli.reveal import one_line
from hame.cli.words import tokens


def choice_rows(choices: Sequence[Choice]) -> list[str]:
    """A row for each, aligned; under a head that says what the columns are."""
    head = ("model", "window", "$ in / out per 1M", "can", "")
    rows = [head, *map(_cells, choices)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in {1, 2} else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _cells(choice: Choice) -> tuple[str, str, str, str, str]:
    name = one_line(choice.display_name, 80) if choice.display_name != choice.id else ""
    window = tokens(choice.context_window) if choice.context_window else "?"
    return one_line(choice.name, 200), window, _price(choice), _abilities(choice), name


def _price(choice: Choice) -> str:
    price = choice.price
    if price is None or price.input is None or price.output is None:
        return "free" if choice.local else "?"
    more = "+" if price.tiers else ""
    return f"{price.input:g} / {price.output:g}{more}"


def _abilities(choice: Choice) -> str:
    able = [("tools", choice.tools), ("images", choice.images), ("effort", choice.thinks)]
    return " ".join(name for name, can in able if can)
