"""A small sample project, and tasks in it that the built-in model can do; each is checked.

The demo goes the way of every prompt: the same loop, tools, gate and journal. What a task claims is
not believed: its effect is looked for in the files and in the calls that were made.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from hame.base.event import CallSettled, RunEvent, TextDelta
from hame.base.message import Text
from hame.base.outcome import Done, result_content

SAMPLE = {
    "README.md": "# Teapot\n\nTeapot keeps a tea list.\n\nAuthor: Mina Okafor\n",
    "settings.ini": "host = localhost\nport = 8080\nverbose = no\n",
    "src/teas.py": (
        '"""Teas and how long they steep."""\n\n'
        "STEEP_MINUTES = {'sencha': 2, 'assam': 4, 'rooibos': 6}\n\n\n"
        "def steep_minutes(tea):\n"
        "    return STEEP_MINUTES[tea.lower()]\n"
    ),
    "src/labels.py": (
        "def make_label(tea, minutes):\n    return f'{tea.title()}: {minutes} min'\n"
    ),
    "tests/test_teas.py": (
        "import sys\nimport unittest\n\nsys.path.insert(0, 'src')\n"
        "from labels import make_label\nfrom teas import steep_minutes\n\n\n"
        "class TeaTest(unittest.TestCase):\n"
        "    def test_assam_takes_four_minutes(self):\n"
        "        self.assertEqual(steep_minutes('Assam'), 4)\n\n"
        "    def test_a_label_names_tea_and_time(self):\n"
        "        self.assertEqual(make_label('assam', 4), 'Assam: 4 min')\n"
    ),
}


class Observation(msgspec.Struct, frozen=True):
    """What a run did, as its events tell."""

    root: Path
    answer: str
    calls: tuple[CallSettled, ...]

    def result_of(self, tool: str) -> str | None:
        """The text of the last call of a tool that did what was asked."""
        for call in reversed(self.calls):
            if call.tool == tool and isinstance(call.outcome, Done):
                content, _ = result_content(call.outcome)
                return "".join(block.text for block in content if isinstance(block, Text))
        return None


class Task(msgspec.Struct, frozen=True):
    """Something to ask for, and how to tell that it was done."""

    prompt: str
    check: Callable[[Observation], str | None]
    """None when it was done, else what is wrong."""


def make_sample(root: Path) -> None:
    """Write the sample project into a folder; whatever else is in it goes."""
    for entry in root.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    for name, text in SAMPLE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def observe(root: Path, events: Sequence[RunEvent]) -> Observation:
    """Put together what a task's run did."""
    return Observation(
        root=root,
        answer="".join(event.text for event in events if isinstance(event, TextDelta)),
        calls=tuple(event for event in events if isinstance(event, CallSettled)),
    )


def _answers(*words: str) -> Callable[[Observation], str | None]:
    """The answer says these words, and a call that did what was asked stands behind it."""

    def check(seen: Observation) -> str | None:
        if not any(isinstance(call.outcome, Done) for call in seen.calls):
            return "it answered without looking"
        missing = [word for word in words if word.lower() not in seen.answer.lower()]
        return f"the answer does not say {', '.join(missing)}" if missing else None

    return check


def _file_holds(path: str, text: str) -> Callable[[Observation], str | None]:
    """The file has exactly this text, but for a final newline, and no other file changed."""

    def check(seen: Observation) -> str | None:
        file = seen.root / path
        if not file.is_file():
            return f"{path} was not written"
        if file.read_text(encoding="utf-8").rstrip("\n") != text.rstrip("\n"):
            return f"{path} holds something else"
        changed = sorted(_changed(seen.root) - {path})
        return f"{', '.join(changed)} changed too" if changed else None

    return check


def _tests_ran(seen: Observation) -> str | None:
    result = seen.result_of("run_command")
    if result is None:
        return "no command ran and succeeded"
    return None if "Ran 2 tests" in result else "the two tests did not run"


def _changed(root: Path) -> set[str]:
    """Files that are not as the sample was made; tasks before this one may have changed some."""
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    new = found - SAMPLE.keys()
    other = {
        name
        for name, text in SAMPLE.items()
        if name not in found or (root / name).read_text(encoding="utf-8") != text
    }
    return new | other


TASKS = (
    Task("List the files in src.", _answers("teas.py", "labels.py")),
    Task("Which file defines the function make_label?", _answers("labels.py")),
    Task(
        "Replace 8080 with 9090 in settings.ini.",
        _file_holds("settings.ini", SAMPLE["settings.ini"].replace("8080", "9090")),
    ),
    Task(
        "Create notes.txt with the text buy more sencha.",
        _file_holds("notes.txt", "buy more sencha"),
    ),
    Task("Run the tests.", _tests_ran),
)
"""Each starts from the sample project as it was made, in a session of its own."""
