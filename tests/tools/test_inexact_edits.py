"""Inexact edits in the kinds that models make, and edits that are made to mislead.

`HAME_EDIT_SEED` chooses other ones. `python -m pytest -s` prints the figures by kind.
"""

import os
from collections import Counter

import pytest

from hame.base.outcome import Done
from tools.conftest import text_of
from tools.inexact import Case, adversarial_cases, inexact_cases

SEED = int(os.environ.get("HAME_EDIT_SEED", "5"))


async def outcome_of(desk, number: int, case: Case) -> str:
    """`right`, `refused` or `wrong`."""
    path = f"{number}.txt"
    desk.write(path, case.text)
    outcome = await desk.call("edit_file", path=path, old_string=case.old, new_string=case.new)
    now = desk.read(path).decode()
    if isinstance(outcome, Done):
        assert "did not match exactly" in text_of(outcome)
        return "right" if now == case.wanted else "wrong"
    assert now == case.text
    assert "Nothing was changed" in outcome.message
    return "refused"


async def results_of(desk, cases: list[Case]) -> tuple[Counter[str], list[Case]]:
    counts: Counter[str] = Counter()
    wrong: list[Case] = []
    by_kind: Counter[tuple[str, str]] = Counter()
    for number, case in enumerate(cases):
        result = await outcome_of(desk, number, case)
        counts[result] += 1
        by_kind[case.kind, result] += 1
        if result == "wrong":
            wrong.append(case)
    for (kind, result), count in sorted(by_kind.items()):
        print(f"{kind}: {count} {result}")
    print(dict(counts))
    return counts, wrong


@pytest.mark.timeout(120)
async def test_of_200_inexact_edits_170_are_applied_right_and_none_wrong(desk):
    counts, wrong = await results_of(desk, inexact_cases(SEED, 200))
    assert not wrong
    assert counts["right"] >= 170


async def test_of_60_misleading_edits_none_is_applied_in_a_wrong_place(desk):
    cases = adversarial_cases(SEED, 60)
    counts, wrong = await results_of(desk, cases)
    assert not wrong
    assert counts["right"] == sum(case.wanted is not None for case in cases)


def test_the_same_seed_gives_the_same_edits():
    assert inexact_cases(SEED, 30) == inexact_cases(SEED, 30)
    assert inexact_cases(SEED, 30) != inexact_cases(SEED + 1, 30)
