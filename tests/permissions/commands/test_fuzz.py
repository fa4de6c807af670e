"""Random lines: what hame reads for certain, real bash reads in the same way."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hame.permissions.commands.line import Line, UnreadableError
from hame.permissions.commands.reading import read_certainly
from permissions.commands import fuzz

COUNT = int(os.environ.get("HAME_FUZZ_COUNT", "4000"))
"""Lines; a nightly run takes 200,000."""
SEED = int(os.environ.get("HAME_FUZZ_SEED", random.SystemRandom().randrange(1 << 32)))
BATCH = 4000


def calls_of(line: Line) -> set[tuple[str, ...]]:
    return {
        fuzz.without_prefix([
            fuzz.HOME + word.text[1:] if word.tilde else word.text for word in words
        ])
        for words in line.commands
    }


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.timeout(3600)
def test_no_line_that_is_read_for_certain_runs_anything_else(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rng = random.Random(SEED)
    read: list[tuple[str, Line]] = []
    for _ in range(COUNT):
        text = fuzz.random_command(rng)
        try:
            read.append((text, read_certainly(text)))
        except UnreadableError:
            continue
    assert len(read) > COUNT / 20
    for start in range(0, len(read), BATCH):
        batch = read[start : start + BATCH]
        seen = fuzz.bash_readings([text for text, _ in batch], tmp_path)
        for (text, line), calls in zip(batch, seen, strict=True):
            assert calls <= calls_of(line), (SEED, text)
            # A program with a folder in its name is not found, nor is a file to read: no stub can
            # stand for it, and what should follow may not.
            whole = not line.redirects and not any(
                "/" in call[0] for call in calls_of(line) if call
            )
            assert calls_of(line) <= calls | {()} or not whole, (SEED, text)
    record_property(
        "summary", f"shell fuzz: seed {SEED}, {COUNT} lines, {len(read)} read for certain, 0 differ"
    )
