"""Random files, random edits: bytes outside the change are identical, or nothing was changed."""

from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.outcome import DiffView, Done
from hame.tools.difference import split_lines
from hame.tools.placement import Replacement, place_all

ENCODINGS = [
    ("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"),
    ("utf-16-be", b"\xfe\xff"), ("cp1252", b""),
]  # fmt: skip
PIECES = st.sampled_from([
    "a", "word", "x = 1", "(b)", "\t", "    ", " ", "\u00e9", "\u201c", "\u201d", "\u2019",
    "\u00a0", "\u2013", '"', "'", "-", "\r",
])  # fmt: skip
LINES = st.lists(PIECES, max_size=5).map("".join)
ENDS = st.sampled_from(["\n", "\r\n", "\n", " \n", "\t\r\n"])
PLAIN = str.maketrans({
    "\u201c": '"', "\u201d": '"', "\u2019": "'", "\u00a0": " ", "\u2013": "-", "\t": "    ",
})  # fmt: skip


class Scene(NamedTuple):
    """A file, and one or two edits of its lines as a model might write them."""

    text: str
    encoding: tuple[str, bytes]
    edits: list[dict[str, str]]


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    lines = [draw(LINES) + draw(ENDS) for _ in range(draw(st.integers(1, 12)))]
    if draw(st.booleans()):
        lines[-1] = lines[-1].rstrip("\r\n")
    cuts = sorted(draw(st.sets(st.integers(0, len(lines)), min_size=2, max_size=4)))
    places = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False) if a < b]
    edits: list[dict[str, str]] = []
    for first, end in places:
        old = "".join(lines[first:end]).replace("\r\n", "\n")
        if draw(st.booleans()):
            old = old.translate(PLAIN)
        if draw(st.booleans()):
            old = "\n".join(line.rstrip() for line in old.split("\n"))
        new = draw(st.sampled_from([old + "new\n", f"new {old}", "new\nlines\n", "", old.upper()]))
        edits.append({"old_string": old, "new_string": new})
    return Scene("".join(lines), draw(st.sampled_from(ENCODINGS)), edits)


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(scene=scenes())
async def test_bytes_outside_the_change_are_identical(desk, scene: Scene) -> None:
    name, mark = scene.encoding
    text = scene.text
    if name == "cp1252":
        text += "\u00e9\u201d\n"
    data = mark + text.encode(name)
    desk.write("p.txt", data)
    desk.workspace._seen.clear()
    arguments = scene.edits[0] if len(scene.edits) == 1 else {"edits": scene.edits}
    outcome = await desk.call("edit_file", path="p.txt", **arguments)
    after = desk.read("p.txt")
    if not isinstance(outcome, Done):
        assert after == data
        return
    wanted = [Replacement(edit["old_string"], edit["new_string"]) for edit in scene.edits]
    placed = place_all(text, wanted, "p.txt")
    pieces, done = [mark], 0
    for edit in placed.edits:
        pieces += [text[done : edit.start].encode(name), edit.new.encode(name)]
        done = edit.end
    assert after == b"".join([*pieces, text[done:].encode(name)])
    # What was replaced is what was asked for, but for spaces and look-alikes.
    found = sorted(squeezed(text[edit.start : edit.end]) for edit in placed.edits)
    assert found == sorted(squeezed(each.old) for each in wanted)


def squeezed(text: str) -> str:
    return "".join(text.translate(PLAIN).split())


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(scene=scenes())
async def test_what_the_difference_says_is_what_was_written(desk, scene: Scene) -> None:
    """Lines that the shown difference does not name are where they were, byte for byte."""
    desk.write("p.txt", scene.text)
    desk.workspace._seen.clear()
    arguments = scene.edits[0] if len(scene.edits) == 1 else {"edits": scene.edits}
    outcome = await desk.call("edit_file", path="p.txt", **arguments)
    if not isinstance(outcome, Done):
        return
    assert isinstance(outcome.view, DiffView)
    rows = outcome.view.diff.split("\n")
    gone = sum(row.startswith("-") for row in rows) - 1
    come = sum(row.startswith("+") for row in rows) - 1
    before, after = split_lines(scene.text), split_lines(desk.read("p.txt").decode())
    assert len(after) - len(before) == come - gone
    assert (gone, come) == (outcome.view.removed, outcome.view.added)
