"""docs/errors.md says what the code does."""

import re
from pathlib import Path

import pytest

from hame.base.errors import ErrorKind
from hame.llm.advice import explain
from hame.llm.classify import _RETRYABLE
from hame.llm.retry import RetryPolicy

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "errors.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## `(\w+)`\n\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def flat(text: str) -> str:
    return " ".join(text.split())


def test_every_kind_has_its_section_in_the_order_of_the_code():
    assert list(SECTIONS) == [str(kind) for kind in ErrorKind]


@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if kind is not ErrorKind.UNKNOWN])
def test_a_section_gives_the_advice_that_hame_gives(kind):
    _, hint = explain(kind, "", None, None)
    assert flat(hint) in flat(SECTIONS[kind])
    assert "**Cause.**" in SECTIONS[kind]


def test_the_table_says_which_kinds_are_asked_again():
    rows = re.findall(r"^\| (`.*`) \| (\w+)", PAGE, re.MULTILINE)
    asked = {answer: set(re.findall(r"`(\w+)`", kinds)) for kinds, answer in rows}
    assert asked["yes"] == {str(kind) for kind in _RETRYABLE}
    assert asked["no"] | asked["yes"] | asked["only"] == {str(kind) for kind in ErrorKind}


def test_the_figures_are_those_of_the_policy():
    assert RetryPolicy() == RetryPolicy(
        attempts=6, silent_attempts=3, first_s=0.5, longest_s=8.0, max_server_wait_s=60.0
    )
