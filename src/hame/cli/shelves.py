"""Models to choose from as rows for people: name, window, price, what they can do."""

from collections.abc import Sequence

from hame.app.sheet import Sheet
from hame.app.shelf import Choice
from hame.base.capability import BackendSetting
from hame.base.model import ToolSupport
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


_SPOKEN = {
    ToolSupport.NATIVE: "it calls them by itself",
    ToolSupport.SCHEMA: "called in answers held to a JSON schema",
    ToolSupport.TEXT: "told in words; what it prints as a call is run as one",
    ToolSupport.MASKED: "single lines that its server holds it to; it writes no code",
    ToolSupport.NONE: "none",
}


def sheet_lines(sheet: Sheet) -> list[str]:
    """All that is known of one model."""
    model = sheet.model
    other = model.display_name not in {model.id, ""}
    named = f"  {one_line(model.display_name, 80)}" if other else ""
    output = f", {model.max_output:,} of them written" if model.max_output else ""
    window = f"{model.context_window:,} tokens{output}" if model.context_window else "unknown"
    spoken = _SPOKEN[sheet.spoken_to]
    if sheet.untried:
        spoken = f"not tried yet; hame models {one_line(model.name, 200)} --try does it now"
    rows = [
        ("window", window),
        ("price", _whole_price(model)),
        ("tools", spoken),
        ("images", "yes" if model.images else "no"),
        ("effort", ", ".join(sheet.efforts) or "cannot be set"),
    ]
    lines = [f"{one_line(model.name, 200)}{named}"]
    lines += [f"  {label:<8}{text}" for label, text in rows]
    return lines


def setting_lines(settings: Sequence[BackendSetting]) -> list[str]:
    """What can be set, how it is, and what it does."""
    width = max((len(one.name) for one in settings), default=0)
    return [
        line
        for one in settings
        for line in (
            f"{one.name:<{width}}  {one_line(one.value, 200) or '-'}",
            f"    {one_line(one.about, 200)}",
        )
    ]


def _whole_price(choice: Choice) -> str:
    price = choice.price
    if choice.local:
        return "free: it runs here"
    if price is None or price.input is None or price.output is None:
        return "unknown"
    if price.input == price.output == 0:
        return "free"
    first = f"${price.input:g} in, ${price.output:g} out for a million tokens"
    rates = [
        f"above {tier.above:,} tokens ${_rate(tier.input, price.input):g} in,"
        f" ${_rate(tier.output, price.output):g} out"
        for tier in price.tiers
    ]
    cached = f", ${price.cache_read:g} cached" if price.cache_read is not None else ""
    return "; ".join([first + cached, *rates])


def _rate(own: float | None, usual: float) -> float:
    return usual if own is None else own


def _cells(choice: Choice) -> tuple[str, str, str, str, str]:
    name = one_line(choice.display_name, 80) if choice.display_name != choice.id else ""
    window = tokens(choice.context_window) if choice.context_window else "?"
    return one_line(choice.name, 200), window, _price(choice), _abilities(choice), name


def _price(choice: Choice) -> str:
    price = choice.price
    if choice.local:
        return "free"
    if price is None or price.input is None or price.output is None:
        return "?"
    if price.input == price.output == 0:
        return "free"
    more = "+" if price.tiers else ""
    return f"{price.input:g} / {price.output:g}{more}"


def _abilities(choice: Choice) -> str:
    able = [("tools", choice.tools), ("images", choice.images), ("effort", choice.thinks)]
    return " ".join(name for name, can in able if can)
