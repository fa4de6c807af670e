"""What may be said: words of the last result, of the kind asked for."""

import pytest

from hame.base.lines import each
from hame.local.answers import possible_answers
from hame.local.turn import Step, Turn
from local.conftest import TOOLS, MemoryIndex

INDEX = MemoryIndex({"app.ini": "", "lib/tree.py": "", "lib/leaf.py": ""}, "make test")
SETTINGS = "host = alpha\nport = 8080\nretries = 3"


def lines(words: str, *steps: Step) -> set[str]:
    return set(each(m.lines for m in possible_answers(Turn(words, steps), TOOLS, INDEX)))


def read(result: str) -> Step:
    return Step("read_file", {"path": "app.ini"}, result)


def test_nothing_is_said_before_there_is_a_result() -> None:
    assert lines("What is the port in app.ini?") == set()


def test_a_part_comes_from_the_lines_that_are_asked_about() -> None:
    said = lines("What is the host in app.ini?", read(SETTINGS))
    assert "say alpha" in said
    assert "say host = alpha" in said
    assert not any("8080" in line or "retries" in line for line in said)
    assert "show" not in said


def test_what_the_user_said_is_no_answer() -> None:
    assert "say port" not in lines("What is the port in app.ini?", read(SETTINGS))


def test_a_number_is_answered_by_a_number() -> None:
    assert lines("How many retries does app.ini set?", read(SETTINGS)) == {"say 3"}


def test_without_a_line_about_it_everything_is_open() -> None:
    said = lines("What is the colour in app.ini?", read(SETTINGS))
    assert {"show", "say alpha", "say 8080"} <= said


@pytest.mark.parametrize(("which", "line"), [("first", "host = alpha"), ("last", "retries = 3")])
def test_a_certain_line_is_that_line(which: str, line: str) -> None:
    assert lines(f"What is the {which} line of app.ini?", read(SETTINGS)) == {f"say {line}"}


def test_yes_or_no_is_left_to_the_reader_of_the_evidence() -> None:
    assert lines("Is the port in app.ini 8080?", read(SETTINGS)) == {"say port = 8080"}


def test_a_file_to_be_shown_is_shown_whole() -> None:
    assert lines("Show me app.ini.", read(SETTINGS)) == {"show"}


def test_which_file_is_answered_by_a_file_that_is_there() -> None:
    hits = Step("search_text", {"pattern": "Tree"}, "lib/tree.py:3: class Tree:\ngone.py:1: Tree")
    assert lines("Which file defines Tree?", hits) == {"show", "say lib/tree.py"}


def test_hits_that_were_asked_for_are_shown() -> None:
    hits = Step("search_text", {"pattern": "Tree"}, "lib/tree.py:3: class Tree:")
    assert lines("Search for Tree.", hits) == {"show"}


def test_a_listing_is_shown() -> None:
    listed = Step("list_dir", {"path": "lib"}, "leaf.py\ntree.py")
    assert lines("What is in lib?", listed) == {"show"}


@pytest.mark.parametrize(("failed", "verdict"), [(False, "say yes"), (True, "say no")])
def test_whether_tests_pass_is_told_by_how_they_ended(failed: bool, verdict: str) -> None:
    ran = Step("run_command", {"command": "make test"}, "2 tests", failed=failed, ran=True)
    assert lines("Do the tests pass?", ran) == {verdict}
    assert verdict not in lines("Do the tests fail?", ran)


def test_a_refused_command_gives_no_verdict() -> None:
    refused = Step("run_command", {}, "The user refused this call.", failed=True)
    assert lines("Do the tests pass?", refused) == {"show"}


def test_a_failed_call_is_shown_and_not_quoted() -> None:
    missing = Step("read_file", {"path": "app.ini"}, "permission denied: app.ini", failed=True)
    assert lines("What is denied in app.ini?", missing) == {"show"}


def test_no_answer_crosses_a_line() -> None:
    said = lines("Read app.ini and tell me what you see", read("alpha beta\ngamma delta"))
    assert "say alpha beta" in said
    assert "say beta gamma" not in said
