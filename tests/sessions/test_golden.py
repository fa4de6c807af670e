"""Sessions of every released format load for ever. Golden files are added, never edited."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import get_args

import pytest

from hame.base.entry import Entry
from hame.base.json import dump
from hame.sessions.journal import FileJournal, load_history
from sessions.conftest import said

GOLDEN = Path(__file__).parent / "golden"
DIGESTS = {
    "v1-memory.jsonl": "17effbb589a67bf042a720ac33b5e85c38245feb960ecc7f1f302ae1a24ba5c8",
    "v1-rewound.jsonl": "afb939410a5b5779b4512b2122eed8feade0a01d84d1da0e7f0e869a15f4b3e4",
    "v1.jsonl": "f68830e7e2b048f698e0cef401b17994ee5b96e21adb39161085e2163a0fa0a6",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_a_golden_file_is_as_it_was_released(name: str) -> None:
    assert hashlib.sha256((GOLDEN / name).read_bytes()).hexdigest() == DIGESTS[name]


def test_every_golden_file_is_checked() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(DIGESTS)


@pytest.mark.parametrize("name", DIGESTS)
def test_every_line_is_read_and_nothing_in_it_is_lost(name: str) -> None:
    history = load_history(GOLDEN / name)
    lines = [json.loads(line) for line in (GOLDEN / name).read_bytes().splitlines()]
    assert history.notices == ()
    assert [json.loads(dump(entry)) for entry in history.entries] == [
        line["entry"] for line in lines
    ]


@pytest.mark.parametrize("name", DIGESTS)
async def test_it_can_be_gone_on_with(name: str, tmp_path: Path) -> None:
    path = Path(shutil.copy(GOLDEN / name, tmp_path / name))
    with FileJournal.reopen(path) as journal:
        assert journal.notices == ()
        count = len(journal.entries)
        await journal.append(said("go on"))
    assert len(load_history(path).entries) == count + 1


def test_there_is_a_golden_line_for_every_kind_of_entry() -> None:
    """A new kind of entry needs a new golden file."""
    seen = {type(entry) for name in DIGESTS for entry in load_history(GOLDEN / name).entries}
    assert seen == set(get_args(Entry))
