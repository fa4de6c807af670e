"""How often a day of ordinary commands asks, in each mode and at each level of confinement.

    .venv/bin/python bench/questions.py [FILE] [--which]

FILE holds one command a line, in the order of the day; the project need not exist. No rules count, and
a question that was answered for the session is not asked again.
"""

import argparse
from pathlib import Path

from hame.app.rules import Checker
from hame.base.settings import Mode
from hame.base.zone import ProjectPaths
from hame.permissions.commands.ground import Ground
from hame.permissions.decision import Decision

DAY = Path(__file__).resolve().parents[1] / ".." / "shared" / "reference" / "ordinary-commands.txt"
PATHS = ProjectPaths(root="/home/dev/proj", home="/home/dev", config="/home/dev/.config/hame")


def questions(day: list[str], mode: Mode, level: str) -> list[tuple[str, str]]:
    """The commands that ask, each once, and why."""
    checker = Checker(Ground(paths=PATHS, level=level))
    asked: dict[str, str] = {}
    for command in day:
        judgement = checker.check(command, mode).judgement
        if judgement.decision is Decision.ASK:
            asked.setdefault(command, judgement.reason)
    return list(asked.items())


def main() -> None:
    """Print the counts, and with --which the commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", nargs="?", default=str(DAY))
    parser.add_argument("--which", action="store_true")
    options = parser.parse_args()
    day = [line for line in Path(options.file).read_text("utf-8").splitlines() if line.strip()]
    for mode in (Mode.ASK, Mode.AUTO):
        for level in ("A", "none"):
            asked = questions(day, mode, level)
            print(
                f"mode {mode:<5} sandbox {level:<5} {len(asked):>3} questions in {len(day)} commands"
            )
            if options.which and mode is Mode.ASK and level == "A":
                for command, reason in asked:
                    print(f"    {command}   ({reason})")


if __name__ == "__main__":
    main()
