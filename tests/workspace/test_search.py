"""Searching on a real disk: two engines, one result; links; cancelling; broken tools."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.errors import ToolError
from hame.base.path import Match
from hame.base.ports import SearchQuery
from hame.base.zone import Operation
from hame.workspace import ownsearch
from hame.workspace.found import LINE_LIMIT, First
from hame.workspace.local import LocalWorkspace, bundled_ripgrep, open_workspace
from workspace.conftest import DiskProject, ProjectMaker


@pytest.fixture(params=["ripgrep", "own"])
def either(make_project: ProjectMaker, request: pytest.FixtureRequest) -> DiskProject:
    return make_project(None if request.param == "ripgrep" else "")


async def find(workspace: LocalWorkspace, pattern: str, below: str = ".") -> Sequence[str]:
    place = workspace.locate(below, Operation.LIST)
    try:
        return (await workspace.find_files(pattern, place, 1_000))[0]
    finally:
        place.close()


async def search(
    workspace: LocalWorkspace, query: SearchQuery, below: str = "."
) -> Sequence[Match]:
    place = workspace.locate(below, Operation.READ)
    try:
        return (await workspace.search_text(query, place, 1_000))[0]
    finally:
        place.close()


async def test_links_are_not_followed(either: DiskProject, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.txt").write_text("word\n")
    either.put("real/b.txt", b"word\n")
    (either.root / "out").symlink_to(tmp_path / "outside")
    (either.root / "round").symlink_to(".")
    (either.root / "file").symlink_to("real/b.txt")
    for pattern in ("**/*.txt", "out/*.txt", "out/**", "round/real/*.txt"):
        assert set(await find(either.workspace, pattern)) <= {"real/b.txt"}
    query = SearchQuery(pattern="word")
    assert [match.path for match in await search(either.workspace, query)] == ["real/b.txt"]
    assert await search(either.workspace, SearchQuery(pattern="word", glob="out/*")) == []


async def test_a_link_that_took_the_place_of_a_located_file_is_not_followed(
    either: DiskProject, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("word of the user\n")
    either.put("a.txt", b"word\n")
    place = either.workspace.locate("a.txt", Operation.READ)
    file = either.root / "a.txt"
    file.unlink()
    file.symlink_to(secret)
    found = await either.workspace.search_text(SearchQuery(pattern="word"), place, 1_000)
    place.close()
    assert found == ([], 0)


_EXCHANGE = """
import ctypes, sys
swap = ctypes.CDLL(None).renameat2
print(flush=True)
while True:
    for number in range(50):
        swap(-100, b"%d.txt" % number, -100, b"%d.link" % number, 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="two names are exchanged with renameat2(2)")
async def test_nothing_behind_links_is_shown_that_a_running_job_exchanges_with_files(
    either: DiskProject, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("word of the user\n")
    for number in range(50):
        either.put(f"{number}.txt", b"word\n")
        (either.root / f"{number}.link").symlink_to(secret)
    run = [sys.executable, "-c", _EXCHANGE]
    async with await anyio.open_process(run, cwd=either.root) as job:
        assert job.stdout is not None
        await job.stdout.receive()
        try:
            found = [
                match
                for _ in range(5)
                for match in await search(either.workspace, SearchQuery(pattern="word"))
            ]
        finally:
            job.kill()
    assert {match.text for match in found} <= {"word"}


async def test_a_folder_outside_that_was_asked_for_is_searched(
    either: DiskProject, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    (outside / "sub/a.txt").write_text("word\n")
    found = await find(either.workspace, "*.txt", below=str(outside))
    assert found == [f"{outside}/sub/a.txt"]
    lines = await search(either.workspace, SearchQuery(pattern="word"), below=str(outside))
    assert [match.path for match in lines] == [f"{outside}/sub/a.txt"]
    assert await find(either.workspace, f"{either.root}/*.txt") == []
    either.put("b.txt", b"")
    assert await find(either.workspace, f"{either.root}/*.txt") == ["b.txt"]


async def test_a_swapped_folder_is_not_searched(either: DiskProject, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.txt").write_text("word\n")
    either.put("dir/b.txt", b"word\n")
    place = either.workspace.locate("dir", Operation.READ)
    (either.root / "dir").rename(either.root / "moved")
    (either.root / "dir").symlink_to(tmp_path / "outside")
    try:
        found, _ = await either.workspace.search_text(SearchQuery(pattern="word"), place, 10)
    except ToolError:
        found = []
    assert {match.path for match in found} <= {"dir/b.txt"}
    place.close()


@pytest.mark.parametrize(
    "name", ["new\nline.txt", " leading.txt", "普通.txt", "-rf.txt", "a b.txt"]
)
async def test_names_are_exact(either: DiskProject, name: str) -> None:
    either.put(name, b"word\n")
    assert await find(either.workspace, "*.txt") == [name]
    found = await search(either.workspace, SearchQuery(pattern="word"))
    assert [match.path for match in found] == [name]
    assert [
        match.path
        for match in await search(either.workspace, SearchQuery(pattern="word"), f"./{name}")
    ] == [name]


async def test_a_name_that_is_no_utf_8_is_found_escaped(either: DiskProject) -> None:
    either.put(os.fsdecode(b"caf\xe9.txt"), b"word\n")
    assert await find(either.workspace, "*.txt") == ["caf\\xe9.txt"]
    found = await search(either.workspace, SearchQuery(pattern="word"))
    assert [match.path for match in found] == ["caf\\xe9.txt"]


async def test_an_endless_line_is_cut_with_a_count(either: DiskProject) -> None:
    either.put("min.js", b"word" + b"x" * 100_000)
    (found,) = await search(either.workspace, SearchQuery(pattern="word"))
    assert found.text == "word" + "x" * (LINE_LIMIT - 4) + " [96,004 more characters]"
    assert found.column == 1


async def test_a_long_line_is_cut_around_its_match(either: DiskProject) -> None:
    either.put("min.js", "\u00e4".encode() * 50_000 + b"word" + b"x" * 50_000)
    (found,) = await search(either.workspace, SearchQuery(pattern="w.rd", regex=True))
    assert found.text[found.column - 1 :].startswith("wordxxx")
    assert found.text.startswith("\u2026\u00e4")
    assert found.text.endswith(" [96,004 more characters]")
    either.put("min.js", b"x" * 50_000 + b"\xff" * 7 + b"word")
    (last,) = await search(either.workspace, SearchQuery(pattern="word"))
    assert last.text[last.column - 1 :].startswith("word")


async def test_the_column_counts_characters(either: DiskProject) -> None:
    either.put("a.txt", "\u00e4\u4e2d word word\r\n".encode())
    (found,) = await search(either.workspace, SearchQuery(pattern="word"))
    assert found.column == 4


async def test_special_files_do_not_hold_a_search_up(either: DiskProject) -> None:
    os.mkfifo(either.root / "fifo")
    either.put("a.txt", b"word\n")
    with anyio.fail_after(10):
        found = await search(either.workspace, SearchQuery(pattern="word"))
        assert [match.path for match in found] == ["a.txt"]
        assert await find(either.workspace, "**/*") == ["a.txt"]


async def test_a_file_that_cannot_be_read_is_passed_over(plain_project: DiskProject) -> None:
    plain_project.put("closed.txt", b"word\n")
    plain_project.put("open.txt", b"word\n")
    (plain_project.root / "closed.txt").chmod(0)
    for workspace in (
        plain_project.workspace,
        open_workspace(str(plain_project.root), home="", rg=None),
    ):
        found = await search(workspace, SearchQuery(pattern="word"))
        assert [match.path for match in found] == ["open.txt"]


async def test_a_search_can_be_cancelled(either: DiskProject) -> None:
    for number in range(300):
        either.put(f"f{number}.txt", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n" * 2_000)
    with anyio.move_on_after(0.02) as scope:
        await search(either.workspace, SearchQuery(pattern="a.*a.*b", regex=True))
    assert scope.cancelled_caught


async def test_lookarounds_are_understood(either: DiskProject) -> None:
    either.put("a.txt", b"foobar\nfoobaz\n")
    found = await search(either.workspace, SearchQuery(pattern="foo(?=baz)", regex=True))
    assert [match.text for match in found] == ["foobaz"]


async def test_a_broken_ripgrep_is_an_error(project: DiskProject, tmp_path: Path) -> None:
    project.put("a.txt", b"word\n")
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\nkill -9 $$\n")
    dying.chmod(0o755)
    for program, words in (("/nowhere/rg", "no such program"), (str(dying), "signal 9")):
        workspace = open_workspace(str(project.root), home="", rg=program)
        with pytest.raises(ToolError, match=words):
            await search(workspace, SearchQuery(pattern="word"))
        with pytest.raises(ToolError, match=words):
            await find(workspace, "*")


async def test_messages_of_ripgrep_do_not_hold_it_up(project: DiskProject, tmp_path: Path) -> None:
    noisy = tmp_path / "noisy"
    noisy.write_text(
        "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' e >&2\nprintf './a.txt\\0'\nexit 2\n"
    )
    noisy.chmod(0o755)
    workspace = open_workspace(str(project.root), home="", rg=str(noisy))
    assert await find(workspace, "*.txt") == ["a.txt"]


async def test_files_too_large_for_the_own_search_are_passed_over(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownsearch, "FILE_LIMIT", 10)
    project.put("a.txt", b"word\n")
    project.put("b.txt", b"word word word\n")
    found = await search(project.workspace, SearchQuery(pattern="word"))
    assert [match.path for match in found] == ["a.txt"]


PATTERNS = [
    "foo", "^foo", "foo$", r"\bfoo\b", r"\d+", r"\w+\u00e9", "[^a]b", "(?i)FOO", "caf\u00e9", r"\s+$",
    r"^\s*$", "^$", r"\$x", "a|b", "[[:alpha:]]+", "[[:^digit:]b]", "[[:space:][:digit:]]", r"\p{L}+",
    r"\x41", r"\u00e9", r"\Afoo", r"(?P<n>o)\1", r"(o)\1", "(?=f)foo", "(?<=f)oo", "fo{2}",
    "[\u00e9]", "(?m)^foo", "(?x) f o o ", r"\h", "a++", "(?>fo)o", r"\Qa.b(\E", "\u00c9", "\u017f", "\u212a",
    "\u00df", r"\t", r"[\t]x", "x*", r"\[b\]", "(c)", r"\-", r"\/", r"\<foo\>", r"\_", r"[\w-]+", "[]]",
    r"\b", "foo(?!bar)", "[", "(", "a{2,1}", r"\p{Nonsense}", "[[:nonsense:]]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_both_engines_read_a_pattern_alike(project: DiskProject, pattern: str) -> None:
    project.put(
        "a.txt",
        "foo bar\nFOO\n\tx = 12;\nna\u00efve caf\u00e9\nend\\here $x ^y a.b(\nStra\u00dfe STRASSE K \u212a s\n"
        "-- {a} [b] (c) a-b /_\n\n   \nlast foobar".encode(),
    )
    project.put("b.txt", "\ufeffwide foo\r\n\u00e9 bar\r\n".encode("utf-16-le"))
    project.put("d.txt", b"foo\r\nbar\r\n\r\n")
    both = [open_workspace(str(project.root), home="", rg=rg) for rg in (bundled_ripgrep(), "")]
    for case_sensitive in (True, False):
        query = SearchQuery(pattern=pattern, regex=True, case_sensitive=case_sensitive)
        found: list[Sequence[Match] | str] = []
        for workspace in both:
            try:
                found.append(await search(workspace, query))
            except ToolError as error:
                found.append(error.message.partition(":")[0])
        assert found[0] == found[1]


_PATHS = st.lists(
    st.sampled_from(["a", "b.py", ".h", "c.txt", "build", "x.log", "node"]), min_size=1, max_size=3
).map("/".join)
# A carriage return that ends no line is where the engines' notions of an end differ.
_BODIES = (st.binary(max_size=40) | st.text("ab \r\né", max_size=40).map(str.encode)).map(
    lambda body: re.sub(rb"\r(?!\n)|\r(?=\r)", b"", body)
)
_IGNORES = st.lists(
    st.sampled_from(["*.log", "build/", "/a", "!x.log", "**/b.py", "a/*", "# no", ".h"]), max_size=3
)
_QUERIES = st.builds(
    SearchQuery,
    pattern=st.sampled_from(["a", "b ", "é", "^a", "a$", "[ab]+", r"\w", "A", "a|é", r"\s$"]),
    regex=st.booleans(),
    case_sensitive=st.booleans(),
    glob=st.sampled_from([None, "*.py", "**/a", "a/**", ".h/**", "*.{py,txt}"]),
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    files=st.dictionaries(_PATHS, _BODIES, max_size=6),
    ignores=_IGNORES,
    query=_QUERIES,
    pattern=st.sampled_from(["**/*", "*.py", "a/**", ".h", "**/.h/*", "b*", "build/*", "*/b.py"]),
)
def test_both_engines_find_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    files: dict[str, bytes],
    ignores: list[str],
    query: SearchQuery,
    pattern: str,
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for path, body in files.items():
        _try_to_put(root / path, body)
    if ignores:
        (root / ".gitignore").write_text("\n".join(ignores), "utf-8")
    both = [open_workspace(str(root), home="", rg=rg) for rg in (bundled_ripgrep(), "")]

    async def compare() -> None:
        by_ripgrep, by_itself = [await find(each, pattern) for each in both]
        assert by_ripgrep == by_itself
        lines, own_lines = [await search(each, query) for each in both]
        assert lines == own_lines

    anyio.run(compare)


def _try_to_put(file: Path, body: bytes) -> None:
    """Write a file unless one of its folders is a file already."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
    except OSError:
        return


@given(
    keys=st.lists(st.tuples(st.text("ab", max_size=3), st.integers(0, 9)), max_size=200),
    limit=st.integers(0, 20),
)
def test_the_first_of_many_are_kept_in_order(keys: list[tuple[str, int]], limit: int) -> None:
    first: First[tuple[str, int]] = First(limit)
    for _ in range(12):
        for key in keys:
            first.add(key, key)
    assert first.items() == sorted(keys * 12)[:limit]
    assert first.total == len(keys) * 12
