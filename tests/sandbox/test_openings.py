"""Everything is allowed but what is hidden, by adding only; what comes beside it must be asked for again."""

from pathlib import Path

from hame.sandbox.openings import open_all_but


def furnished(base: Path) -> Path:
    for name in ("home/.ssh/id", "home/.config/gh/hosts", "home/.config/a/b", "home/note", "etc/c"):
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    (base / "link").symlink_to("home/.ssh")
    return base


def opened(base: Path, *hidden: str) -> set[str]:
    found = open_all_but({str(base / name) for name in hidden}, str(base))
    return {path.removeprefix(f"{base}/") if path != str(base) else "." for path, _ in found}


def test_with_nothing_hidden_the_whole_is_allowed(tmp_path):
    base = furnished(tmp_path)
    assert opened(base) == {"."}
    assert [path for path, _ in open_all_but({"/elsewhere"}, str(base))] == [str(base)]


def test_what_lies_beside_something_hidden_is_allowed_entry_by_entry(tmp_path):
    base = furnished(tmp_path)
    assert opened(base, "home/.ssh") == {"etc", "home/.config", "home/note"}
    assert opened(base, "home/.ssh", "home/.config/gh") == {"etc", "home/.config/a", "home/note"}
    assert opened(base, "home/.ssh", "home/.ssh/id", "home") == {"etc"}


def test_a_hidden_place_that_is_not_there_keeps_its_folder_apart(tmp_path):
    """Seen failing with places that are missing left out: what comes there later is allowed."""
    base = furnished(tmp_path)
    assert opened(base, "home/.netrc") == {"etc", "home/.ssh", "home/.config", "home/note"}


def test_links_are_no_places(tmp_path):
    assert "link" not in opened(furnished(tmp_path), "home/.ssh")


def test_nothing_of_a_hidden_place_is_allowed(tmp_path):
    base = furnished(tmp_path)
    assert open_all_but({str(base)}, str(base / "home")) == []
    assert open_all_but({"/"}, str(base)) == []


def test_what_was_made_anew_is_another_place(tmp_path):
    base = furnished(tmp_path)
    before = open_all_but({str(base / "home/.ssh")}, str(base))
    note = base / "home/note"
    note.rename(base / "old")
    note.write_text("new", encoding="utf-8")
    assert open_all_but({str(base / "home/.ssh")}, str(base)) != before
