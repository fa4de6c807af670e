"""Tasks of our own for the built-in model: other projects and other words than in the shared set.

`OWN` was written before the rules of `hame.local.english` and looked at while they were made. `LATE`
was written after them, and its first run is the honest figure.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Task:
    """A prompt and what must hold afterwards."""

    name: str
    prompt: str
    says: tuple[str, ...] = ()
    """Words the answer must hold, in any case."""
    never: tuple[str, ...] = ()
    """Words it must not hold."""
    leaves: dict[str, str] = field(default_factory=dict)
    """Files that must be there with this text (outer space aside); all others must be as before."""

    def succeeded(self, answer: str, before: dict[str, str], after: dict[str, str]) -> bool:
        """Whether the answer and the project are as wanted."""
        low = answer.lower()
        said = all(word.lower() in low for word in self.says)
        silent = not any(word.lower() in low for word in self.never)
        wanted = before | self.leaves
        same = {path: text.strip() for path, text in after.items()}
        return said and silent and same == {path: text.strip() for path, text in wanted.items()}


def _edit(files: dict[str, str], path: str, old: str, new: str) -> dict[str, str]:
    return {path: files[path].replace(old, new)}


HARBOUR = {
    "NOTES.md": "# Harbour log\n\nKeeper: Ines Vale\nOpened: 1987\n\nSee data/boats.csv for the fleet.\n",
    "settings.toml": '[server]\naddress = "0.0.0.0"\nworkers = 6\ntimeout = 45\n',
    "data/boats.csv": "name,length\nMarlin,12\nGannet,9\n",
    "data/crew.txt": "Jonas\nPetra\nLeif\n",
    "harbour/__init__.py": "",
    "harbour/tides.py": "import math\n\n\ndef next_tide(hour):\n    return (hour + 6) % 24\n",
    "harbour/berth.py": "LIMIT = 40\n\n\nclass Berth:\n    def __init__(self, name):\n        self.name = name\n",
    "tests/test_tides.py": (
        "import sys\nimport unittest\n\nsys.path.insert(0, '.')\n"
        "from harbour.tides import next_tide\n\n\nclass TideTest(unittest.TestCase):\n"
        "    def test_it_wraps_at_midnight(self):\n        self.assertEqual(next_tide(20), 2)\n"
    ),
}

OWN = (
    Task("keeper", "Who is the keeper in NOTES.md?", ("ines",)),
    Task("opened", "In which year was it opened? Look in NOTES.md.", ("1987",), ("ines",)),
    Task("workers", "How many workers are set in settings.toml?", ("6",), ("45",)),
    Task("timeout", "What timeout does settings.toml have?", ("45",), ("workers",)),
    Task("address", "Read settings.toml and give me the address.", ("0.0.0.0",)),
    Task("limit", "What is LIMIT in harbour/berth.py?", ("40",)),
    Task("class", "What class is in harbour/berth.py?", ("berth",)),
    Task("imports", "Which module does harbour/tides.py import?", ("math",)),
    Task("crew", "Show data/crew.txt.", ("jonas", "petra", "leif")),
    Task("boats", "Display the contents of boats.csv.", ("marlin", "gannet")),
    Task("ls-data", "List the data folder.", ("boats.csv", "crew.txt")),
    Task("ls-harbour", "Which files are there in harbour?", ("tides.py", "berth.py")),
    Task("where-class", "Where is the class Berth?", ("harbour/berth.py",)),
    Task("where-fn", "Which file has the function next_tide?", ("harbour/tides.py",)),
    Task("find-petra", "Find Petra.", ("crew.txt",)),
    Task("find-marlin", "Look up Marlin in the project.", ("boats.csv",)),
    Task("mk-log", "Create log.txt containing fair wind.", leaves={"log.txt": "fair wind"}),
    Task(
        "mk-memo",
        "Write the text back by noon to data/memo.txt.",
        leaves={"data/memo.txt": "back by noon"},
    ),
    Task(
        "mk-flag",
        "Make a new file ready.flag with the word yes in it.",
        leaves={"ready.flag": "yes"},
    ),
    Task(
        "mk-quoted", 'Put "Hello, sea!" into greeting.txt.', leaves={"greeting.txt": "Hello, sea!"}
    ),
    Task(
        "ed-timeout",
        "Change the timeout in settings.toml from 45 to 90.",
        leaves=_edit(HARBOUR, "settings.toml", "45", "90"),
    ),
    Task(
        "ed-leif",
        "Replace Leif with Astrid in data/crew.txt.",
        leaves=_edit(HARBOUR, "data/crew.txt", "Leif", "Astrid"),
    ),
    Task(
        "ed-limit",
        "In harbour/berth.py, change LIMIT to MAXIMUM.",
        leaves=_edit(HARBOUR, "harbour/berth.py", "LIMIT", "MAXIMUM"),
    ),
    Task(
        "ed-fn",
        "Rename next_tide to following_tide in harbour/tides.py.",
        leaves=_edit(HARBOUR, "harbour/tides.py", "next_tide", "following_tide"),
    ),
    Task(
        "ed-please",
        "Could you replace Gannet with Petrel in data/boats.csv?",
        leaves=_edit(HARBOUR, "data/boats.csv", "Gannet", "Petrel"),
    ),
    Task("test", "Please run the tests.", ("ok",), ("failed",)),
    Task("test-ok", "Do all tests pass?", ("yes",)),
    Task("test-check", "Check that the test suite passes.", ("ok",), ("failed",)),
)

MILL = {
    "readme.txt": "The Old Mill\nMaintainer: Tomas Brandt\nPhone: 555-0142\n",
    "Makefile": "build:\n\tgrind wheat\n",
    "conf/mill.json": '{\n  "speed": 120,\n  "grain": "barley",\n  "night_shift": false\n}\n',
    "src/wheel.js": "const SPOKES = 8;\n\nfunction turnWheel(speed) {\n  return speed * SPOKES;\n}\n",
    "src/sack.js": "class Sack {\n  fill(grain) {\n    return grain;\n  }\n}\n",
    "recipes/rye-bread.md": "# Rye bread\n\n- 500 g rye flour\n- 10 g salt\n\nBake for 55 minutes.\n",
    "recipes/scones.md": "# Scones\n\n- 250 g flour\n- 3 eggs\n",
}

LATE = (
    Task("phone", "What phone number is in readme.txt?", ("555-0142",)),
    Task("maintainer", "Tell me who the maintainer is; it says so in readme.txt.", ("brandt",)),
    Task("grain", "Which grain does conf/mill.json name?", ("barley",), ("120",)),
    Task("speed", "What's the speed in conf/mill.json?", ("120",), ("barley",)),
    Task("night", "Is night_shift on in conf/mill.json?", ("no",)),
    Task("bake", "For how long is rye-bread.md to be baked?", ("55",)),
    Task("eggs", "How many eggs are in recipes/scones.md?", ("3",), ("250",)),
    Task("spokes", "Look into src/wheel.js and tell me the value of SPOKES.", ("8",)),
    Task("fn", "What is the function in src/wheel.js called?", ("turnwheel",)),
    Task("cat", "cat recipes/scones.md", ("250 g flour", "3 eggs")),
    Task("open", "Open the Makefile.", ("grind wheat",)),
    Task("see", "I want to see src/sack.js", ("class sack", "return grain")),
    Task("ls", "ls recipes", ("rye-bread.md", "scones.md")),
    Task("ls-src", "What do we have in src?", ("wheel.js", "sack.js")),
    Task("ls-root", "List all files here.", ("readme.txt", "makefile")),
    Task("where", "Where is turnWheel?", ("src/wheel.js",)),
    Task("which", "Which file talks about barley?", ("conf/mill.json",)),
    Task("grep", "grep for Sack", ("src/sack.js",)),
    Task("search", "Search the repository for rye flour.", ("rye-bread.md",)),
    Task("mk", "Write hello miller to greeting.txt", leaves={"greeting.txt": "hello miller"}),
    Task(
        "mk-in",
        "Please create the file notes/plan.md with the content repair the roof.",
        leaves={"notes/plan.md": "repair the roof"},
    ),
    Task("mk-called", "Make a file called owner.txt saying Tomas.", leaves={"owner.txt": "Tomas"}),
    Task(
        "ed-grain",
        "Change barley to oats in conf/mill.json.",
        leaves=_edit(MILL, "conf/mill.json", "barley", "oats"),
    ),
    Task(
        "ed-speed",
        "Update conf/mill.json: replace 120 by 150.",
        leaves=_edit(MILL, "conf/mill.json", "120", "150"),
    ),
    Task(
        "ed-name",
        "Rename the class Sack to Bag in src/sack.js.",
        leaves=_edit(MILL, "src/sack.js", "Sack", "Bag"),
    ),
    Task(
        "ed-quoted",
        "In recipes/scones.md replace '3 eggs' with '4 eggs'.",
        leaves=_edit(MILL, "recipes/scones.md", "3 eggs", "4 eggs"),
    ),
    Task(
        "ed-set",
        "Set SPOKES to 12 instead of 8 in src/wheel.js.",
        leaves=_edit(MILL, "src/wheel.js", "= 8", "= 12"),
    ),
    Task(
        "ed-person",
        "Tomas Brandt left, write Lena Voss instead of Tomas Brandt in readme.txt.",
        leaves=_edit(MILL, "readme.txt", "Tomas Brandt", "Lena Voss"),
    ),
    Task("no-op", "What a lovely day!"),
    Task("question", "Should I replace barley with oats in conf/mill.json?"),
)

SETS = {"own": (HARBOUR, OWN), "late": (MILL, LATE)}
