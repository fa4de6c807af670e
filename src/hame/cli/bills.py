"""Bills as rows for people: tokens and money."""

from collections.abc import Sequence

from hame.app.spending import Bill, Group, add_up, prices
from hame.cli.words import counted, money, tokens
from hame.config.places import Places
from hame.sessions.spent import read_spent


def bill_rows(bills: Sequence[tuple[str, Bill]]) -> list[str]:
    """A row for each: name, answers, tokens in and out, money; aligned."""
    cells = [(name, *_cells(bill)) for name, bill in bills]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in {0, 5} else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def session_rows(places: Places, session: str) -> list[str]:
    """What a session has used so far: its last run, each model, and all of it."""
    found = list(read_spent(places.sessions, session=session))
    if not found:
        return ["nothing was used in this session yet"]
    priced = prices(places)
    runs, total = add_up(found, Group.RUN, priced)
    models, _ = add_up(found, Group.MODEL, priced)
    rows = [("last run", runs[-1]), *((bill.name, bill) for bill in models)]
    return bill_rows([*rows, ("session", total)])


def _cells(bill: Bill) -> tuple[str, str, str, str, str]:
    spent = bill.usage
    cached = f"({tokens(spent.cache_read)} cached)" if spent.cache_read else ""
    return (
        counted(bill.answers, "answer"),
        f"{tokens(spent.input_total)} in",
        cached,
        f"{tokens(spent.output)} out",
        _cost(bill),
    )


def _cost(bill: Bill) -> str:
    if bill.unpriced == bill.answers and bill.answers:
        return money(None)
    known = f"{money(bill.cost_usd)}{_billed(bill)}"
    if not bill.unpriced:
        return known
    return f"{known} and {counted(bill.unpriced, 'answer')} of unknown cost"


def _billed(bill: Bill) -> str:
    """What of it is no computation of hame's."""
    if not bill.billed_usd:
        return ""
    if bill.cost_usd - bill.billed_usd < 0.00005:
        return " as billed"
    return f" ({money(bill.billed_usd)} of it as billed)"
