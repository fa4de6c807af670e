"""Mounts go from the root downwards, and only those are made that change something."""

from hame.sandbox.layout import Kind, Layout, Mount


def layout(**places: list[str]) -> list[Mount]:
    made = Layout()
    for kind, paths in places.items():
        made.put(Kind[kind.upper()], paths)
    return made.mounts()


def test_a_folder_comes_before_what_lies_in_it():
    found = layout(hide=["/home/a/proj/.env"], guard=["/home/a/proj/x/y/z"], write=["/home/a/proj"])
    assert found == [
        Mount("/home/a/proj", Kind.WRITE),
        Mount("/home/a/proj/.env", Kind.HIDE),
        Mount("/home/a/proj/x/y/z", Kind.GUARD),
    ]


def test_at_one_place_the_stricter_holds_in_either_order():
    for first, second in (("WRITE", "HIDE"), ("HIDE", "WRITE"), ("SHOW", "HIDE")):
        made = Layout()
        made.put(Kind[first], ["/a/b"])
        made.put(Kind[second], ["/a/b/"])
        assert made.mounts() == [Mount("/a/b", Kind.HIDE)]


def test_all_folders_between_a_root_and_what_is_protected_are_pinned():
    made = Layout()
    made.put(Kind.WRITE, ["/p"])
    made.guard("/p", Kind.GUARD, ["/p/a/b/.git/hooks"])
    made.guard("/p", Kind.MASK, ["/p/.vscode"])
    assert made.mounts() == [
        Mount("/p", Kind.WRITE),
        Mount("/p/.vscode", Kind.MASK),
        Mount("/p/a", Kind.PIN),
        Mount("/p/a/b", Kind.PIN),
        Mount("/p/a/b/.git", Kind.PIN),
        Mount("/p/a/b/.git/hooks", Kind.GUARD),
    ]


def test_where_nothing_is_written_nothing_is_guarded():
    made = Layout()
    made.guard("/p", Kind.GUARD, ["/p/.git/hooks"])
    made.guard("/p", Kind.MASK, ["/p/.vscode"])
    assert made.mounts() == []


def test_of_what_is_hidden_only_what_is_shown_is_there():
    found = layout(
        hide=["/h/data", "/h/data/sessions", "/h/.ssh"],
        show=["/h/data/results", "/h", "/h/proj"],
        write=["/h/data/caches"],
        guard=["/h/data/caches/x", "/h/.ssh/config"],
    )
    assert found == [
        Mount("/h/.ssh", Kind.HIDE),
        Mount("/h/data", Kind.HIDE),
        Mount("/h/data/caches", Kind.WRITE),
        Mount("/h/data/results", Kind.SHOW),
        Mount("/h/data/caches/x", Kind.GUARD),
    ]


def test_what_lies_below_a_replaced_folder_has_to_be_shown():
    assert layout(
        show=["/tmp/proj", "/run/current-system"], hide=["/tmp/x/.ssh", "/run/secrets"]
    ) == [
        Mount("/run/current-system", Kind.SHOW),
        Mount("/tmp/proj", Kind.SHOW),
    ]
    assert layout(show=["/tmp/home"], hide=["/tmp/home/.ssh"], write=["/tmp/home/proj"]) == [
        Mount("/tmp/home", Kind.SHOW),
        Mount("/tmp/home/.ssh", Kind.HIDE),
        Mount("/tmp/home/proj", Kind.WRITE),
    ]


def test_it_is_told_in_which_folders_may_be_written():
    made = Layout()
    made.put(Kind.WRITE, ["/p"])
    made.guard("/p", Kind.GUARD, ["/p/.git/hooks"])
    asked = ["/p/.vscode", "/p/.git/modules", "/p/.git/hooks/x", "/q/.vscode"]
    assert made.writable(asked) == ["/p/.vscode", "/p/.git/modules"]
