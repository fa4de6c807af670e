"""The mask: what makes sense, and that nothing in it can fail."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.json import JsonObject
from hame.base.lines import each
from hame.base.schema import check_arguments
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.local.candidates import MOST_CHOICES
from hame.local.english import changes_nothing
from hame.local.mask import MOST_CALLS, arguments_of, possible_moves
from hame.local.move import SAY, SHOW, read_line
from hame.local.turn import Step, Turn
from local.conftest import TOOLS, MemoryIndex

FILES = {
    "README.md": "# Zephyr\nAuthor: Ada\n",
    "config.txt": "retries=1\nport=8080\n",
    "src/app.py": "import util\n",
    "src/util.py": "def foo(x):\n    return x\n",
}
INDEX = MemoryIndex(FILES, "make test")
SPECS = {spec.name: spec for spec in TOOLS}


def lines(words: str, *steps: Step, index: MemoryIndex = INDEX) -> set[str]:
    return set(each(m.lines for m in possible_moves(Turn(words, steps), TOOLS, index)))


def verbs(words: str, *steps: Step, index: MemoryIndex = INDEX) -> set[str]:
    return {line.partition(" ")[0] for line in lines(words, *steps, index=index)}


def test_only_what_is_named_is_read() -> None:
    assert lines("Show me config.txt.") == {"read config.txt"}
    assert "read src/util.py" in lines("Show me util.py.")


def test_a_folder_is_listed_and_the_root_where_nothing_is_named() -> None:
    assert lines("List the files in src.") == {"list src"}
    assert lines("List all files.") == {"list ."}


def test_words_that_have_nothing_to_do_with_the_project_allow_nothing() -> None:
    assert lines("Write me a poem about spring.") == set()
    assert lines("Hello!") == set()


def test_only_words_with_a_hit_are_searched_for() -> None:
    said = lines("Where is foo defined, and where is quux?")
    assert "find foo" in said
    assert not any("quux" in line for line in said)


def test_a_file_that_a_result_named_may_be_read_next() -> None:
    found = Step("search_text", {"pattern": "foo"}, "src/util.py:1: def foo(x):")
    assert "read src/util.py" in lines("Find foo.", found)


@pytest.mark.parametrize(
    "words", ["What should I write to new.txt?", "Show how to replace 8080 with 9090 in config.txt"]
)
def test_a_question_changes_nothing(words: str) -> None:
    assert verbs(words).isdisjoint({"write", "edit"})


def test_a_change_that_can_be_made_is_not_answered_by_looking() -> None:
    assert lines("Replace 8080 with 9090 in config.txt.") == {"edit config.txt: 8080 -> 9090"}
    assert lines("Create notes.txt with the text hi.") == {"write notes.txt: hi"}


def test_an_existing_file_is_not_created_and_a_missing_text_not_replaced() -> None:
    assert "write" not in verbs("Create config.txt with the text hi.")
    assert "edit" not in verbs("Replace 7777 with 9090 in config.txt.")


def test_a_file_is_not_created_below_a_file() -> None:
    assert "write" not in verbs("Create config.txt/new.txt with the text hi.")


def test_a_text_is_never_replaced_by_itself() -> None:
    assert "edit" not in verbs("Replace 8080 with 8080 in config.txt.")


def test_one_change_ends_the_turn() -> None:
    changed = Step("edit_file", {"path": "config.txt"}, "edited")
    assert lines("Replace 8080 with 9090 in config.txt.", changed) == set()
    refused = Step("edit_file", {"path": "config.txt"}, "The user refused", failed=True)
    assert lines("Replace 8080 with 9090 in config.txt.", refused) == set()


def test_tests_run_only_where_the_user_speaks_of_them_and_there_are_any() -> None:
    assert "test" in verbs("Run the tests.")
    assert "test" not in verbs("What is the port in config.txt?")
    assert "test" not in verbs("Run the tests.", index=MemoryIndex(FILES))


def test_no_call_is_made_twice() -> None:
    read = Step("read_file", {"path": "config.txt"}, "retries=1\nport=8080")
    assert "read config.txt" not in lines("Show me config.txt.", read)
    ran = Step("run_command", {"command": "make test"}, "ok", ran=True)
    assert "test" not in verbs("Run the tests.", ran)


def test_after_enough_calls_only_an_answer_is_left() -> None:
    steps = [
        Step("search_text", {"pattern": str(n)}, "src/util.py:1: x") for n in range(MOST_CALLS)
    ]
    assert verbs("Find foo in README.md", *steps) <= {SHOW, SAY}


def test_every_occurrence_is_replaced_where_there_are_several() -> None:
    index = MemoryIndex({"a.txt": "x y x", "b.txt": "x y"})
    spec = SPECS["edit_file"]
    assert arguments_of(spec, ("a.txt", "x", "z"), index)["replace_all"] is True
    assert "replace_all" not in arguments_of(spec, ("b.txt", "x", "z"), index)


def test_a_contributed_tool_is_masked_by_its_kinds_alone() -> None:
    level = Argument(name="level", kind=ArgumentKind.CHOICE, choices=("low", "high"))
    times = Argument(name="times", kind=ArgumentKind.NUMBER, type="integer")
    form = MaskForm(
        verb="beep", arguments=("level", "times"), separators=(" x ",), fixed={"on": True}
    )
    spec = ToolSpec(
        name="beeper", description="", effect=Effect.READ, arguments=(level, times), mask=form
    )
    moves = possible_moves(Turn("beep low 3 times"), [spec], INDEX)
    assert list(each(move.lines for move in moves)) == ["beep low x 3"]
    read = read_line("beep low x 3", moves)
    assert read is not None
    assert arguments_of(spec, read.spoken, INDEX) == {"level": "low", "times": 3, "on": True}


def test_a_long_request_stays_within_the_limits() -> None:
    words = " ".join(f"foo{n}" for n in range(300))
    index = MemoryIndex({"a.txt": words})
    for move in possible_moves(Turn(f"find {words}"), TOOLS, index):
        assert len(move.choices) <= MOST_CHOICES


# ---------------------------------------------------------------- no candidate can fail

NAMES = st.sampled_from([
    "a.txt",
    "b.py",
    "src",
    "src/b.py",
    "src/deep/c.md",
    "docs",
    "README.md",
    "my file.txt",
    "Makefile",
])
WORDS = st.sampled_from(
    ["foo", "bar", "8080", "x", "->", "to", "with", "from", "in", "the", "text", '"old one"', "'new'",
     "replace", "create", "show", "find", "what", "tests", "n.txt", "src/n.txt", "a: b", "?", "word"]
)  # fmt: skip
PROJECTS = st.dictionaries(NAMES, st.lists(WORDS, max_size=6).map(" ".join), max_size=6).map(
    lambda files: {k: v for k, v in files.items() if not any(f"{k}/" in other for other in files)}
)
REQUESTS = st.lists(st.one_of(NAMES, WORDS), max_size=14).map(" ".join)
STEPS = st.lists(
    st.one_of(
        st.builds(
            lambda path, text: Step("read_file", {"path": path}, text),
            NAMES,
            st.lists(st.one_of(NAMES, WORDS), max_size=8).map("\n".join),
        ),
        st.builds(
            lambda text: Step("search_text", {"pattern": text}, f"src/b.py:1: {text}"), WORDS
        ),
    ),
    max_size=2,
).map(tuple)


@given(PROJECTS, REQUESTS, STEPS)
def test_every_line_is_one_call_that_can_succeed(
    files: dict[str, str], words: str, steps: tuple[Step, ...]
) -> None:
    index = MemoryIndex(files, "make test")
    turn = Turn(words, steps)
    moves = possible_moves(turn, TOOLS, index)
    for move in moves:
        for line in each((move.lines,)):
            read = read_line(line, moves)
            assert read is not None
            if read.move.tool:
                spec = SPECS[read.move.tool]
                arguments = arguments_of(spec, read.spoken, index)
                assert check_arguments(arguments, spec.schema()) == arguments
                assert not turn.did(spec.name, arguments)
                assert can_succeed(spec.name, arguments, files, index)
                assert spec.effect is not Effect.WRITE or not changes_nothing(words)
            else:
                assert steps


def can_succeed(
    tool: str, arguments: JsonObject, files: Mapping[str, str], index: MemoryIndex
) -> bool:
    path, text = str(arguments.get("path")), str(arguments.get("old_string"))
    match tool:
        case "read_file":
            return path in files
        case "list_dir":
            return path in index.directories()
        case "search_text":
            return any(str(arguments["pattern"]) in body for body in files.values())
        case "create_file":
            above = {path[:place] for place, letter in enumerate(path) if letter == "/"}
            return path not in {*files, *index.directories()} and above.isdisjoint(files)
        case "edit_file":
            once = files[path].count(text) == 1 or arguments.get("replace_all") is True
            return text in files[path] and once and arguments["new_string"] != text
        case "run_command":
            return arguments == {"command": "make test"}
        case _:
            return False
