"""Files that a prompt names."""

from pathlib import Path

import pytest

from hame.base.message import Document, Image, Note, Text
from hame.prompts.attachments import MAX_CHARS, MAX_DOCUMENT_BYTES, Composed, compose
from hame.workspace.local import open_workspace

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text("print(1)\n")
    (root / "with space.txt").write_text("spaced")
    (root / "shot.png").write_bytes(PNG)
    (root / ".env").write_text("KEY=1")
    return root


async def attach(project: Path, text: str) -> Composed:
    workspace = open_workspace(str(project), home=str(project.parent))
    return await compose(text, workspace)


def note_text(composed: Composed) -> str:
    """The text of the one note attached."""
    (note,) = [block for block in composed.message.content if isinstance(block, Note)]
    return note.text


async def test_the_users_words_stay_as_they_are_and_the_file_follows(project: Path) -> None:
    composed = await attach(project, "explain @src/app.py, please")
    words, note = composed.message.content
    assert words == Text("explain @src/app.py, please")
    assert isinstance(note, Note)
    assert note.source == "src/app.py"
    assert "print(1)" in note.text
    assert composed.message.words == "explain @src/app.py, please"


async def test_a_path_with_spaces_is_quoted(project: Path) -> None:
    composed = await attach(project, 'read @"with space.txt"')
    assert "spaced" in note_text(composed)


async def test_an_at_sign_in_ordinary_words_attaches_nothing(project: Path) -> None:
    for text in ("mail me@example.com", "use @dataclass here", "@nobody knows", "@@src/app.py"):
        assert len((await attach(project, text)).message.content) == 1


async def test_the_path_of_a_picture_attaches_the_picture(project: Path) -> None:
    for text in ("what is in shot.png ?", "look: @shot.png", 'see "shot.png"'):
        composed = await attach(project, text)
        image = composed.message.content[1]
        assert isinstance(image, Image)
        assert (image.media_type, image.data) == ("image/png", PNG)
        assert len(composed.message.content) == 2


async def test_a_pdf_is_attached_as_it_is(project: Path) -> None:
    (project / "paper.pdf").write_bytes(b"%PDF-1.7 ...")
    composed = await attach(project, "sum up @paper.pdf")
    document = Document("application/pdf", b"%PDF-1.7 ...", "paper.pdf")
    assert composed.message.content[1:] == (document,)


async def test_a_pdf_that_no_provider_takes_is_not_attached_and_that_is_said(project: Path) -> None:
    with (project / "book.pdf").open("wb") as file:
        file.write(b"%PDF-1.7")
        file.truncate(MAX_DOCUMENT_BYTES + 1)
    composed = await attach(project, "sum up @book.pdf")
    assert len(composed.message.content) == 1
    assert "larger than 14 MB" in composed.notices[0]


async def test_a_name_that_looks_like_a_picture_but_is_none_attaches_nothing(project: Path) -> None:
    (project / "fake.png").write_text("no picture")
    assert len((await attach(project, "make fake.png and missing.png")).message.content) == 1


async def test_a_folder_attaches_its_listing(project: Path) -> None:
    composed = await attach(project, "what is in @src")
    assert composed.message.content[1] == Note("Folder src:\napp.py", "src")


async def test_secrets_are_not_attached_and_that_is_said(project: Path) -> None:
    composed = await attach(project, "check @.env")
    assert len(composed.message.content) == 1
    assert composed.notices == (".env was not attached: it holds secrets",)


async def test_a_long_file_is_cut_and_says_so(project: Path) -> None:
    (project / "long.txt").write_text("x" * (MAX_CHARS + 1))
    composed = await attach(project, "@long.txt")
    assert "[cut after 60,000 characters" in note_text(composed)


async def test_a_file_outside_the_project_may_be_attached_by_the_user(project: Path) -> None:
    (project.parent / "other.txt").write_text("outside")
    composed = await attach(project, "@../other.txt")
    assert "outside" in note_text(composed)


async def test_the_same_file_is_attached_once(project: Path) -> None:
    composed = await attach(project, "@src/app.py and again @src/app.py")
    assert len(composed.message.content) == 2


async def test_a_pipe_is_refused_and_not_waited_for(project: Path) -> None:
    import os

    os.mkfifo(project / "pipe")
    composed = await attach(project, "@pipe")
    assert len(composed.message.content) == 1
    assert composed.notices
