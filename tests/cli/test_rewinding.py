"""What is said before and after something is taken back."""

import pytest

from hame.app.undo import History, Rewind, Turn
from hame.base.errors import ConfigError
from hame.base.snapshot import (
    REGULAR,
    Conflict,
    FileState,
    Move,
    PathChange,
    Planned,
    Step,
    UndoPlan,
)
from hame.cli.rewinding import (
    Wish,
    changes_anything,
    done_lines,
    history_lines,
    plan_lines,
    read_wish,
)

STATE = FileState(mode=REGULAR, blob="a")


def step(number: int, *paths: str, undone: bool = False) -> Step:
    changes = tuple(PathChange(path, STATE, FileState()) for path in paths)
    return Step(number=number, tool="t", title=f"Do {number}", record="r", began=0.0, ended=0.0,
                changes=changes, undone=undone)  # fmt: skip


def moves(*paths: str, over: bool = False) -> UndoPlan:
    return UndoPlan(
        steps=(1,),
        moves=tuple(
            Planned(path=path, move=Move.MERGE, now=STATE, then=STATE, over=over) for path in paths
        ),
    )


@pytest.mark.parametrize(
    ("name", "argument", "wish"),
    [
        ("undo", "", Wish()),
        ("undo", "3", Wish(step=3)),
        ("rewind", "3 conversation", Wish(turn=3, files=False)),
        ("undo", "files over", Wish(conversation=False, over=True)),
        ("undo", "conversation files", Wish()),
        ("rewind", "my place files", Wish(label="my place", conversation=False)),
        ("rewind", "place 2", Wish(label="place 2")),
    ],
)
def test_what_is_typed_is_understood(name: str, argument: str, wish: Wish) -> None:
    assert read_wish(name, argument) == wish


@pytest.mark.parametrize("argument", ["all", "1 2", "-1"])
def test_anything_else_is_refused_with_the_form(argument: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_wish("undo", argument)
    assert error.value.hint == "/undo [STEP] [files|conversation] [over]"


def test_a_list_names_prompts_steps_and_files() -> None:
    history = History(
        turns=(
            Turn(number=1, words="first\nthing", before="1", steps=(step(1, "/p/a", "/x/b"),)),
            Turn(number=2, words="second", before="5"),
        ),
        apart=(step(2, "/p/c", "/p/d", "/p/e", "/p/f", undone=True),),
    )
    lines = history_lines(history, "/p")
    assert lines[0] == "prompt 1  first thing"
    assert lines[1].endswith("Do 1  2 files: a, /x/b")
    assert lines[2] == "prompt 2  second"
    assert "taken back" in lines[3]
    assert lines[4].endswith("4 files: c, d, e, ...  (undone)")
    assert history_lines(History(turns=()), "/p") == ["nothing was said in this session yet"]
    last = history_lines(history, "/p", most=1)
    assert last[:2] == ["1 earlier prompt; hame undo --list has them all", "prompt 2  second"]


def test_a_list_shows_the_names_of_places() -> None:
    turns = (Turn(number=1, words="first", before="1"), Turn(number=2, words="second", before="5"))
    history = History(turns=turns, labels={2: ["good", "better"]}, elsewhere=["old\x1b[2J"])
    lines = history_lines(history, "/p")
    assert lines[:2] == ["prompt 1  first", "prompt 2  second  [good]  [better]"]
    assert lines[2].startswith("labels in parts that were left: old")
    assert "\x1b" not in lines[2]
    going = Rewind(title="undo to good", back_to="3", label="good")
    assert plan_lines(going, "/p") == ["the conversation goes to good"]


def test_a_plan_says_everything_that_will_and_will_not_happen() -> None:
    plan = Rewind(
        title="undo",
        files=UndoPlan(
            steps=(1,),
            moves=moves("/p/a", over=True).moves,
            conflicts=(Conflict("/p/b", "it was changed since"),),
        ),
        back_to="3",
        turns=(
            Turn(number=2, words="do it", before="3"),
            Turn(number=3, words="and that", before="9"),
        ),
    )
    assert plan_lines(plan, "/p") == [
        "the conversation goes back to before “do it”, 2 prompts are taken back",
        "  merge  a  (what was changed since is given up)",
        "  leave alone  b: it was changed since",
        "  (over takes those back too, and gives up what was changed since)",
    ]
    assert changes_anything(plan)


def test_a_plan_that_does_nothing_says_so() -> None:
    plan = Rewind(title="undo", files=UndoPlan(steps=(1,)))
    assert plan_lines(plan, "/p") == ["nothing would change"]
    assert not changes_anything(plan)
    assert done_lines(None, plan) == ["nothing was changed"]


def test_many_files_are_counted() -> None:
    plan = Rewind(title="undo", files=moves(*(f"/p/{number}" for number in range(40))))
    lines = plan_lines(plan, "/p")
    assert len(lines) == 31
    assert lines[-1] == "  ... and 10 files more"


def test_names_cannot_play_tricks_on_the_terminal() -> None:
    plan = Rewind(title="undo", files=moves("/p/\x1b[2Ja\udce9\nb"))
    (line,) = plan_lines(plan, "/p")
    assert "\n" not in line
    line.encode()


def test_what_was_done_names_its_own_undo_and_what_failed() -> None:
    made = Step(number=7, tool="undo", title="", record="r", began=0.0, ended=0.0,
                changes=(PathChange("/p/a", STATE, STATE),), failed=("no room",))  # fmt: skip
    plan = Rewind(title="undo", files=moves("/p/a"), back_to="3")
    assert done_lines(made, plan) == [
        "could not: no room",
        "1 file changed; undo 7 takes it back",
        "the conversation was moved",
    ]
