"""Several files together, on disk and in an editor: all of them or none."""

import errno
import os
import stat
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.edit import TextEdit
from hame.base.errors import PathError
from hame.base.path import FileText
from hame.base.ports import FileChange, Located
from hame.base.zone import Operation
from workspace.conftest import DiskProject, names_in


class Editor:
    """Open buffers, as an editor keeps them."""

    def __init__(self) -> None:
        self.open: dict[str, str] = {}
        self.refuses: set[str] = set()
        self.alters = False

    async def read(self, path: str) -> str | None:
        return self.open.get(path)

    async def write(self, path: str, text: str) -> None:
        if path in self.refuses:
            raise PathError(f"the editor refuses {path}")
        self.open[path] = f"{text}!" if self.alters else text


@pytest.fixture
def editor() -> Editor:
    return Editor()


@pytest.fixture
def edited(project: DiskProject, editor: Editor) -> DiskProject:
    """A project some of whose files are open in an editor."""
    project.workspace.attach(editor)
    return project


async def look(project: DiskProject, path: str) -> tuple[Located, FileText]:
    place = project.workspace.locate(path, Operation.WRITE)
    return place, await project.workspace.read_text(place)


async def rewrite(project: DiskProject, path: str, *edits: tuple[int, int, str]) -> FileChange:
    place, before = await look(project, path)
    changes = tuple(TextEdit(*edit) for edit in edits)
    return FileChange(place=place, before=before, edits=changes)


def create(project: DiskProject, path: str, text: str) -> FileChange:
    place = project.workspace.locate(path, Operation.CREATE)
    return FileChange(place=place, before=None, edits=(TextEdit(0, 0, text),))


async def delete(project: DiskProject, path: str) -> FileChange:
    place, before = await look(project, path)
    return FileChange(place=place, before=before, delete=True)


async def move(
    project: DiskProject, path: str, target: str, *edits: tuple[int, int, str]
) -> FileChange:
    place, before = await look(project, path)
    goal = project.workspace.locate(target, Operation.CREATE)
    changes = tuple(TextEdit(*edit) for edit in edits)
    return FileChange(place=place, before=before, edits=changes, target=goal)


async def all_kinds(project: DiskProject) -> list[FileChange]:
    """One change of each kind, on the files that `scene` put there."""
    return [
        await rewrite(project, "a.txt", (0, 3, "ONE"), (8, 13, "THREE")),
        create(project, "new/deep/b.txt", "new\n"),
        await delete(project, "c.txt"),
        await move(project, "d.txt", "moved/d.txt"),
        await move(project, "e.sh", "moved/e.sh", (0, 4, "more")),
    ]


@pytest.fixture
def _scene(project: DiskProject) -> None:
    project.put("a.txt", b"one\ntwo\nthree\n")
    project.put("c.txt", b"gone\n")
    project.put("d.txt", b"moves\n")
    project.put("e.sh", b"\xef\xbb\xbfthis\r\nthat\r\n")
    (project.root / "e.sh").chmod(0o755)


def snapshot(project: DiskProject) -> dict[str, bytes | None]:
    return {name: project.get(name) for name in names_in(project.root)}


@pytest.mark.usefixtures("_scene")
async def test_all_kinds_of_changes_are_made_together(project: DiskProject) -> None:
    changed = await project.workspace.apply(await all_kinds(project))
    assert list(changed) == [
        "a.txt", "new/deep/b.txt", "c.txt", "d.txt", "moved/d.txt", "e.sh", "moved/e.sh",
    ]  # fmt: skip
    assert {name: data for name, data in snapshot(project).items() if data is not None} == {
        "a.txt": b"ONE\ntwo\nTHREE\n",
        "new/deep/b.txt": b"new\n",
        "moved/d.txt": b"moves\n",
        "moved/e.sh": b"\xef\xbb\xbfmore\r\nthat\r\n",
    }
    assert stat.S_IMODE((project.root / "moved/e.sh").stat().st_mode) == 0o755


@pytest.mark.usefixtures("_scene")
async def test_the_model_has_seen_what_was_written(project: DiskProject) -> None:
    workspace = project.workspace
    await workspace.apply(await all_kinds(project))
    for path in ("a.txt", "new/deep/b.txt", "moved/d.txt", "moved/e.sh"):
        place = workspace.locate(path, Operation.READ)
        seen = workspace.was_read(place)
        assert seen == (await workspace.read_text(place, remember=False)).digest
    assert workspace.was_read(workspace.locate("c.txt", Operation.READ)) is None


@pytest.mark.usefixtures("_scene")
@pytest.mark.parametrize("disturbance", ["changed", "deleted", "target taken", "new file is there"])
async def test_one_file_that_is_not_as_it_was_and_none_changes(
    project: DiskProject, disturbance: str
) -> None:
    changes = await all_kinds(project)
    match disturbance:
        case "changed":
            project.put("c.txt", b"of the user\n")
        case "deleted":
            (project.root / "e.sh").unlink()
        case "target taken":
            project.put("moved/d.txt", b"of the user\n")
        case _:
            project.put("new/deep/b.txt", b"of the user\n")
    before = snapshot(project)
    with pytest.raises(PathError):
        await project.workspace.apply(changes)
    assert snapshot(project) == before


def failing_at(call: Callable[..., Any], turn: int) -> Callable[..., Any]:
    """A system call that fails once, at that turn."""
    turns = iter(range(10_000))

    def fail(*args: Any, **rest: Any) -> Any:
        if next(turns) == turn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return call(*args, **rest)

    return fail


@pytest.mark.usefixtures("_scene")
@pytest.mark.parametrize("call", ["rename", "link", "write", "fsync", "mkdir"])
async def test_a_disk_that_fails_at_any_step_leaves_everything_as_it_was(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    before = snapshot(project)
    failures = 0
    for turn in range(12):
        changes = await all_kinds(project)
        with monkeypatch.context() as broken:
            broken.setattr(os, call, failing_at(getattr(os, call), turn))
            try:
                await project.workspace.apply(changes)
            except PathError:
                failures += 1
                assert snapshot(project) == before
                continue
        break
    assert failures or call == "link"
    assert project.get("a.txt") == b"ONE\ntwo\nTHREE\n"


@pytest.mark.usefixtures("_scene")
async def test_without_hard_links_it_works_too(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    changes = await all_kinds(project)
    await project.workspace.apply(changes)
    assert project.get("a.txt") == b"ONE\ntwo\nTHREE\n"
    assert not [name for name in names_in(project.root) if ".hame" in name]


async def test_edits_that_overlap_or_lie_outside_are_refused(project: DiskProject) -> None:
    project.put("a.txt", b"one\n")
    for edits in ([(0, 2, "x"), (1, 3, "y")], [(0, 9, "x")], [(3, 2, "x")], [(-1, 2, "x")]):
        with pytest.raises(PathError, match=r"a\.txt"):
            await project.workspace.apply([await rewrite(project, "a.txt", *edits)])
    assert project.get("a.txt") == b"one\n"


async def test_a_letter_the_encoding_lacks_stops_all_of_it(project: DiskProject) -> None:
    project.put("a.txt", b"one\n")
    project.put("b.txt", b"caf\xe9\n")
    changes = [
        await rewrite(project, "a.txt", (0, 1, "x")),
        await rewrite(project, "b.txt", (0, 1, "\u2192")),
    ]
    with pytest.raises(PathError, match=r"U\+2192"):
        await project.workspace.apply(changes)
    assert project.get("a.txt") == b"one\n"


# ---------------------------------------------------------------- an editor


def real(project: DiskProject, path: str) -> str:
    return str(project.root / path)


async def test_unsaved_text_is_what_is_read(edited: DiskProject, editor: Editor) -> None:
    edited.put("a.txt", b"saved\r\n")
    editor.open[real(edited, "a.txt")] = "typed\r\n"
    _, file = await look(edited, "a.txt")
    assert (file.text, file.on_disk is None) == ("typed\r\n", False)


async def test_the_editors_line_endings_are_not_taken_for_a_change(
    edited: DiskProject, editor: Editor
) -> None:
    edited.put("a.txt", b"one\r\ntwo\r\n")
    editor.open[real(edited, "a.txt")] = "one\ntwo\n"
    _, file = await look(edited, "a.txt")
    assert (file.text, file.on_disk) == ("one\r\ntwo\r\n", None)


async def test_disk_and_editor_change_together(edited: DiskProject, editor: Editor) -> None:
    edited.put("a.txt", b"saved\n")
    edited.put("b.txt", b"other\n")
    editor.open[real(edited, "a.txt")] = "typed\n"
    changes = [
        await rewrite(edited, "a.txt", (0, 5, "TYPED")),
        await rewrite(edited, "b.txt", (0, 5, "OTHER")),
    ]
    await edited.workspace.apply(changes)
    assert (edited.get("a.txt"), edited.get("b.txt")) == (b"TYPED\n", b"OTHER\n")
    assert editor.open == {real(edited, "a.txt"): "TYPED\n"}


async def test_a_single_file_is_written_to_the_editor_too(
    edited: DiskProject, editor: Editor
) -> None:
    edited.put("a.txt", b"saved\n")
    editor.open[real(edited, "a.txt")] = "typed\n"
    place, before = await look(edited, "a.txt")
    await edited.workspace.write_text(place, "new\n", before, replace=True)
    assert (edited.get("a.txt"), editor.open[real(edited, "a.txt")]) == (b"new\n", "new\n")


@pytest.mark.parametrize("how", ["refuses", "alters"])
async def test_an_editor_that_does_not_take_it_leaves_both_as_they_were(
    edited: DiskProject, editor: Editor, how: str
) -> None:
    for name in ("a.txt", "b.txt"):
        edited.put(name, b"saved\n")
        editor.open[real(edited, name)] = "saved\n"
    changes = [
        await rewrite(edited, "a.txt", (0, 1, "S")),
        await rewrite(edited, "b.txt", (0, 1, "S")),
        create(edited, "new/c.txt", "c"),
    ]
    if how == "refuses":
        editor.refuses.add(real(edited, "b.txt"))
    else:
        editor.alters = True
    with pytest.raises(PathError):
        await edited.workspace.apply(changes)
    assert (edited.get("a.txt"), edited.get("b.txt")) == (b"saved\n", b"saved\n")
    assert names_in(edited.root) == ["a.txt", "b.txt"]


async def test_what_was_typed_after_it_was_read_is_not_overwritten(
    edited: DiskProject, editor: Editor
) -> None:
    edited.put("a.txt", b"saved\n")
    change = await rewrite(edited, "a.txt", (0, 1, "S"))
    editor.open[real(edited, "a.txt")] = "typed meanwhile\n"
    with pytest.raises(PathError, match="changed in the editor"):
        await edited.workspace.apply([change])
    place, before = change.place, change.before
    with pytest.raises(PathError, match="changed in the editor"):
        await edited.workspace.write_text(place, "new", before, replace=True)
    assert edited.get("a.txt") == b"saved\n"


async def test_a_file_closed_without_saving_is_not_as_it_was_read(
    edited: DiskProject, editor: Editor
) -> None:
    edited.put("a.txt", b"saved\n")
    editor.open[real(edited, "a.txt")] = "typed\n"
    change = await rewrite(edited, "a.txt", (0, 1, "T"))
    del editor.open[real(edited, "a.txt")]
    with pytest.raises(PathError, match="closed"):
        await edited.workspace.apply([change])


async def test_b080_a_file_changed_on_disk_under_an_untouched_buffer_is_read_from_disk(
    edited: DiskProject, editor: Editor
) -> None:
    """B080."""
    edited.put("a.txt", b"one\n")
    editor.open[real(edited, "a.txt")] = "one\n"
    stale = await rewrite(edited, "a.txt", (0, 3, "mine"))
    edited.put("a.txt", b"by sed\n")
    with pytest.raises(PathError, match="changed"):
        await edited.workspace.apply([stale])
    _, file = await look(edited, "a.txt")
    assert file.text == "by sed\n"
    await edited.workspace.apply([await rewrite(edited, "a.txt", (0, 2, "BY"))])
    assert edited.get("a.txt") == b"BY sed\n"
    assert editor.open[real(edited, "a.txt")] == "BY sed\n"


async def test_b080_a_file_changed_in_both_places_is_said_to_be(
    edited: DiskProject, editor: Editor
) -> None:
    """B080."""
    edited.put("a.txt", b"one\n")
    editor.open[real(edited, "a.txt")] = "typed\n"
    await look(edited, "a.txt")
    edited.put("a.txt", b"by sed\n")
    with pytest.raises(PathError, match="unsaved changes in the editor"):
        await look(edited, "a.txt")


# ---------------------------------------------------------------- any texts, any edits

ENCODINGS: Sequence[tuple[str, bytes]] = (
    ("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"),
    ("utf-16-be", b"\xfe\xff"), ("cp1252", b""),
)  # fmt: skip
PIECES = st.sampled_from([
    "a", "word", "\n", "\r\n", "\r", "\t", " ", "\u00e9", "\u201c", "\u201d", "\u2019", "\u2013",
])  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=30).map("".join)


@st.composite
def edited_texts(draw: st.DrawFn) -> tuple[str, list[TextEdit], list[TextEdit]]:
    """A text, edits in its order, and the same in any order."""
    text = draw(TEXTS)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    news = [draw(st.sampled_from(["", "x", "neu\n", "\u00e4\r\n"])) for _ in spans]
    edits = [TextEdit(a, b, new) for (a, b), new in zip(spans, news, strict=True)]
    return text, edits, draw(st.permutations(edits))


@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(edited=edited_texts(), encoding=st.sampled_from(ENCODINGS))
def test_bytes_outside_the_edits_are_identical(
    project: DiskProject,
    edited: tuple[str, list[TextEdit], list[TextEdit]],
    encoding: tuple[str, bytes],
) -> None:
    (text, edits, shuffled), (name, mark) = edited, encoding
    if name == "cp1252":
        text += "\u00e9\u201d"
    project.put("a.txt", mark + text.encode(name))

    async def change() -> None:
        place, before = await look(project, "a.txt")
        assert before.text == text
        await project.workspace.apply([
            FileChange(place=place, before=before, edits=tuple(shuffled))
        ])
        place.close()

    anyio.run(change)
    pieces = [mark]
    done = 0
    for edit in edits:
        pieces += [text[done : edit.start].encode(name), edit.new.encode(name)]
        done = edit.end
    assert project.get("a.txt") == b"".join([*pieces, text[done:].encode(name)])
