"""`hame usage`: tokens and money, from the sessions on this machine."""

import sys
import time
from collections.abc import Mapping
from typing import Any

import click
import msgspec

from hame.app.spending import Bill, Group, add_up, prices
from hame.base.json import dump
from hame.cli.bills import bill_rows
from hame.cli.launch import prepare
from hame.cli.reveal import clean
from hame.sessions.spent import read_spent

_DAY_S = 86_400.0


@click.command()
@click.option(
    "--by",
    type=click.Choice([group.value for group in Group]),
    default="day",
    help="What is added up.",
)
@click.option(
    "--days", type=click.IntRange(min=1), default=30, help="How far back; 30 unless said."
)
@click.option("--session", metavar="ID", help="Only that session, or what begins so.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def usage(
    options: Mapping[str, Any], *, by: str, days: int, session: str | None, as_json: bool
) -> None:
    """Tokens and money by day, model, project, session, run or step.

    Prices are today's; an answer whose price is not known is counted apart.
    """
    launch = prepare(options, interactive=False)
    folder, since = launch.places.sessions, time.time() - days * _DAY_S
    found = read_spent(folder, since=since)
    if session:
        from pathlib import Path

        from hame.sessions.store import SessionStore

        found = read_spent(folder, session=SessionStore(Path(folder)).find(session))
    bills, total = add_up(found, Group(by), prices(launch.places))
    if as_json:
        plain = {"bills": bills, "total": total}
        sys.stdout.write(dump(msgspec.to_builtins(plain)) + "\n")
    elif not bills:
        where = f"session {session}" if session else f"the last {days} days"
        sys.stderr.write(f"hame: nothing was used in {clean(where)}\n")
    else:
        _show(bills, total)


def _show(bills: list[Bill], total: Bill) -> None:
    named = [(bill.name, bill) for bill in bills]
    for row in bill_rows([*named, ("together", total)] if len(bills) > 1 else named):
        sys.stdout.write(clean(row) + "\n")
