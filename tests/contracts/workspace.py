"""What every Workspace does, the one on disk and the one in memory.

Links are not part of it: only a disk has them.
"""

from collections.abc import Sequence
from typing import Protocol

import pytest

from hame.base.edit import TextEdit
from hame.base.errors import PathError, ToolError
from hame.base.path import FileKind, FileText, Match
from hame.base.ports import FileChange, Located, SearchQuery, Workspace
from hame.base.zone import Operation, Zone


class Project(Protocol):
    """A workspace, and the disk below it for setting a scene and looking at what became of it."""

    @property
    def workspace(self) -> Workspace: ...

    def put(self, path: str, data: bytes) -> None:
        """A file with its folders, behind the workspace's back; the path is below the root."""
        ...

    def get(self, path: str) -> bytes | None:
        """A file's bytes; None when it is not there."""
        ...


BINARY = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


class WorkspaceContract:
    """Subclasses give a fixture `project`: an empty project."""

    # ------------------------------------------------------------ places

    @pytest.mark.parametrize(
        ("path", "shown"),
        [
            ("src/app.py", "src/app.py"),
            ("./src/../src/app.py", "src/app.py"),
            ("src//./app.py", "src/app.py"),
            ("src", "src"),
            ("src/", "src"),
            (".", "."),
            ("src/..", "."),
            ("nothing/here.py", "nothing/here.py"),
        ],
    )
    def test_a_path_in_the_project_is_shown_from_its_root(
        self, project: Project, path: str, shown: str
    ) -> None:
        project.put("src/app.py", b"x = 1\n")
        found = resolve(project, path, Operation.READ)
        assert found.shown == shown
        assert found.zone is Zone.PROJECT
        assert found.asked == path
        below = "" if shown == "." else f"/{shown}"
        assert found.real == f"{project.workspace.paths.root}{below}"

    def test_an_absolute_path_leads_to_the_same_place(self, project: Project) -> None:
        project.put("a.txt", b"a")
        absolute = f"{project.workspace.paths.root}/a.txt"
        assert resolve(project, absolute, Operation.READ).shown == "a.txt"

    def test_a_place_says_what_is_there(self, project: Project) -> None:
        project.put("src/app.py", b"x = 1\n")
        file = resolve(project, "src/app.py", Operation.READ)
        folder = resolve(project, "src", Operation.LIST)
        nothing = resolve(project, "src/gone.py", Operation.READ)
        assert (file.kind, file.size) == (FileKind.FILE, 6)
        assert folder.kind is FileKind.DIRECTORY
        assert (nothing.kind, nothing.identity) == (FileKind.MISSING, None)
        assert file.identity is not None
        assert file.identity != folder.identity

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "a\0b",
            "https://example.org/x",
            "file:///etc/passwd",
            "~nobody/x",
            "x" * 300,
            "a.txt/below",
            "a.txt/",
            "a.txt/.",
            "a.txt/../a.txt",
            "missing/../a.txt",
            "\udc80",
        ],
    )
    def test_what_is_no_path_is_refused_with_words(self, project: Project, path: str) -> None:
        project.put("a.txt", b"a")
        with pytest.raises(PathError, match=r"\w+ \w+"):
            project.workspace.locate(path, Operation.READ)

    @pytest.mark.parametrize(
        ("path", "operation", "zone"),
        [
            ("../elsewhere/x", Operation.READ, Zone.OUTSIDE),
            ("~/notes.txt", Operation.READ, Zone.OUTSIDE),
            ("/etc/hosts", Operation.WRITE, Zone.PROTECTED),
            (".env", Operation.READ, Zone.SECRET),
            (".env.example", Operation.READ, Zone.PROJECT),
            ("keys/server.pem", Operation.READ, Zone.SECRET),
            ("~/.ssh/id_rsa", Operation.READ, Zone.SECRET),
            (".git/hooks/pre-commit", Operation.WRITE, Zone.PROTECTED),
            (".git/config", Operation.WRITE, Zone.PROTECTED),
            (".git", Operation.DELETE, Zone.PROTECTED),
            (".hame/config.toml", Operation.WRITE, Zone.PROTECTED),
            (".gitignore", Operation.WRITE, Zone.PROJECT),
        ],
    )
    def test_a_place_has_a_zone(
        self, project: Project, path: str, operation: Operation, zone: Zone
    ) -> None:
        assert resolve(project, path, operation).zone is zone

    def test_a_place_may_be_closed_twice(self, project: Project) -> None:
        place = project.workspace.locate(".", Operation.LIST)
        place.close()
        place.close()

    # ------------------------------------------------------------ reading

    async def test_text_is_read_with_its_line_endings(self, project: Project) -> None:
        project.put("a.txt", "ä\r\nb\rc\n".encode())
        file = await read(project, "a.txt")
        assert (file.text, file.bom) == ("ä\r\nb\rc\n", False)

    async def test_an_empty_file_is_text(self, project: Project) -> None:
        project.put("a.txt", b"")
        assert (await read(project, "a.txt")).text == ""

    async def test_a_letter_across_any_sample_border_is_text(self, project: Project) -> None:
        for size in (999, 4095, 8191):
            project.put("a.txt", b"a" * size + "ç".encode())
            assert (await read(project, "a.txt")).text == "a" * size + "ç"

    @pytest.mark.parametrize("operation", ["read_text", "read_bytes"])
    async def test_what_is_not_there_or_a_folder_cannot_be_read(
        self, project: Project, operation: str
    ) -> None:
        project.put("src/app.py", b"")
        for path in ("gone.txt", "gone/deeper.txt", "src"):
            place = project.workspace.locate(path, Operation.READ)
            with pytest.raises(PathError, match=path):
                await getattr(project.workspace, operation)(place)

    async def test_a_binary_file_is_no_text_but_has_bytes(self, project: Project) -> None:
        project.put("a.png", BINARY)
        place = project.workspace.locate("a.png", Operation.READ)
        with pytest.raises(PathError, match="binary"):
            await project.workspace.read_text(place)
        assert await project.workspace.read_bytes(place) == BINARY
        assert await project.workspace.read_bytes(place, 4) == BINARY[:4]

    async def test_what_was_read_is_remembered_unless_told_not_to(self, project: Project) -> None:
        project.put("a.txt", b"a")
        workspace = project.workspace
        place = workspace.locate("a.txt", Operation.READ)
        assert workspace.was_read(place) is None
        await workspace.read_text(place, remember=False)
        assert workspace.was_read(place) is None
        file = await workspace.read_text(place)
        assert workspace.was_read(workspace.locate("./a.txt", Operation.WRITE)) == file.digest

    async def test_the_digest_tells_the_bytes(self, project: Project) -> None:
        project.put("a.txt", b"same")
        project.put("b.txt", b"same")
        project.put("c.txt", b"other")
        a, b, c = [(await read(project, name)).digest for name in ("a.txt", "b.txt", "c.txt")]
        assert a == b != c

    # ------------------------------------------------------------ writing

    async def test_a_new_file_is_written_with_its_folders(self, project: Project) -> None:
        await write(project, "new/deep/a.txt", "hällo\r\n")
        assert project.get("new/deep/a.txt") == "hällo\r\n".encode()

    async def test_the_model_has_seen_what_it_wrote(self, project: Project) -> None:
        await write(project, "a.txt", "a")
        digest = (await read(project, "a.txt", remember=False)).digest
        place = project.workspace.locate("a.txt", Operation.READ)
        assert project.workspace.was_read(place) == digest

    async def test_an_existing_file_is_replaced_only_when_asked(self, project: Project) -> None:
        project.put("a.txt", b"old")
        with pytest.raises(PathError, match="exists"):
            await write(project, "a.txt", "new")
        assert project.get("a.txt") == b"old"
        await write(project, "a.txt", "new", replace=True)
        assert project.get("a.txt") == b"new"

    async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(
        self, project: Project
    ) -> None:
        project.put("a.txt", b"old")
        like = await read(project, "a.txt")
        project.put("a.txt", b"of the user")
        with pytest.raises(PathError, match="changed"):
            await write(project, "a.txt", "new", like)
        assert project.get("a.txt") == b"of the user"

    async def test_the_same_bytes_written_again_are_no_change(self, project: Project) -> None:
        project.put("a.txt", b"old")
        like = await read(project, "a.txt")
        project.put("a.txt", b"old")
        await write(project, "a.txt", "new", like)
        assert project.get("a.txt") == b"new"

    @pytest.mark.parametrize(
        "data",
        [
            b"\xef\xbb\xbfhello\n\xe4\xb8\xad\xe6\x96\x87\n",
            b"line\n\x99 trademark\n",
            b"\xe9t\xe9 \x81\x8d\n",
            "\ufeffwide ä\r\n".encode("utf-16-le"),
            "\ufeffwide ä\n".encode("utf-16-be"),
            b"plain\nno end",
        ],
    )
    async def test_encoding_and_byte_order_mark_survive_a_change(
        self, project: Project, data: bytes
    ) -> None:
        project.put("a.txt", data)
        like = await read(project, "a.txt")
        assert not like.text.startswith("\ufeff")
        await write(project, "a.txt", like.text + "x", like)
        now = project.get("a.txt")
        assert now is not None
        assert now.startswith(data)
        again = await read(project, "a.txt")
        assert (again.text, again.encoding, again.bom) == (like.text + "x", like.encoding, like.bom)

    async def test_a_letter_the_encoding_lacks_is_refused_and_nothing_changes(
        self, project: Project
    ) -> None:
        project.put("a.txt", b"caf\xe9\n")
        like = await read(project, "a.txt")
        with pytest.raises(PathError, match=r"U\+2192"):
            await write(project, "a.txt", like.text + "\u2192", like)
        assert project.get("a.txt") == b"caf\xe9\n"

    async def test_a_folder_is_not_written_over(self, project: Project) -> None:
        project.put("src/app.py", b"")
        for replace in (False, True):
            with pytest.raises(PathError):
                await write(project, "src", "text", replace=replace)
        assert project.get("src/app.py") == b""

    # ------------------------------------------------------------ folders, moving, deleting

    async def test_a_folder_is_made_with_its_parents_and_may_be_there(
        self, project: Project
    ) -> None:
        for _ in range(2):
            await project.workspace.make_directory(
                project.workspace.locate("a/b/c", Operation.CREATE)
            )
        assert resolve(project, "a/b/c", Operation.LIST).kind is FileKind.DIRECTORY

    async def test_a_folder_is_not_made_where_a_file_is(self, project: Project) -> None:
        project.put("a", b"file")
        with pytest.raises(PathError):
            await project.workspace.make_directory(project.workspace.locate("a", Operation.CREATE))
        assert project.get("a") == b"file"

    async def test_a_file_moves_with_what_is_known_of_it(self, project: Project) -> None:
        project.put("a.txt", b"a")
        digest = (await read(project, "a.txt")).digest
        await move(project, "a.txt", "new/b.txt")
        assert (project.get("a.txt"), project.get("new/b.txt")) == (None, b"a")
        place = project.workspace.locate("new/b.txt", Operation.READ)
        assert project.workspace.was_read(place) == digest

    async def test_a_folder_moves_with_all_in_it(self, project: Project) -> None:
        project.put("src/deep/a.txt", b"a")
        await move(project, "src", "lib")
        assert (project.get("src/deep/a.txt"), project.get("lib/deep/a.txt")) == (None, b"a")

    async def test_nothing_is_moved_onto_something(self, project: Project) -> None:
        project.put("a.txt", b"a")
        project.put("b.txt", b"b")
        project.put("src/c.txt", b"c")
        for source, target in (("a.txt", "b.txt"), ("a.txt", "src"), ("src", "a.txt")):
            with pytest.raises(PathError, match="exists"):
                await move(project, source, target)
        assert (project.get("a.txt"), project.get("b.txt")) == (b"a", b"b")
        assert project.get("src/c.txt") == b"c"

    async def test_what_is_not_there_cannot_be_moved_or_deleted(self, project: Project) -> None:
        for path in ("gone.txt", "gone/deeper.txt"):
            with pytest.raises(PathError, match="no such"):
                await move(project, path, "b.txt")
            with pytest.raises(PathError, match="no such"):
                await delete(project, path)

    async def test_a_folder_is_not_moved_into_itself(self, project: Project) -> None:
        project.put("src/a.txt", b"a")
        with pytest.raises(PathError):
            await move(project, "src", "src/below")
        assert project.get("src/a.txt") == b"a"

    async def test_a_file_or_a_folder_with_all_in_it_is_deleted(self, project: Project) -> None:
        project.put("a.txt", b"a")
        project.put("src/deep/b.txt", b"b")
        await delete(project, "a.txt")
        await delete(project, "src")
        assert (project.get("a.txt"), project.get("src/deep/b.txt")) == (None, None)
        assert resolve(project, "src", Operation.LIST).kind is FileKind.MISSING

    async def test_what_was_deleted_and_made_again_was_not_seen(self, project: Project) -> None:
        project.put("a.txt", b"a")
        await read(project, "a.txt")
        await delete(project, "a.txt")
        project.put("a.txt", b"a")
        place = project.workspace.locate("a.txt", Operation.READ)
        assert project.workspace.was_read(place) is None

    async def test_the_project_itself_is_neither_moved_nor_deleted(self, project: Project) -> None:
        project.put("a.txt", b"a")
        for path in (".", ".."):
            with pytest.raises(PathError):
                await delete(project, path)
            with pytest.raises(PathError):
                await move(project, path, "inside")
        assert project.get("a.txt") == b"a"

    async def test_a_listing_has_folders_first_and_is_sorted(self, project: Project) -> None:
        for path in ("b.txt", "a.txt", ".hidden", "z/1", "c/2"):
            project.put(path, b"123")
        place = project.workspace.locate(".", Operation.LIST)
        entries = await project.workspace.list_directory(place)
        assert [entry.name for entry in entries] == ["c", "z", ".hidden", "a.txt", "b.txt"]
        assert [entry.kind for entry in entries[:3]] == [
            FileKind.DIRECTORY,
            FileKind.DIRECTORY,
            FileKind.FILE,
        ]
        assert entries[-1].size == 3

    async def test_only_a_folder_can_be_listed(self, project: Project) -> None:
        project.put("a.txt", b"")
        for path in ("a.txt", "gone"):
            place = project.workspace.locate(path, Operation.LIST)
            with pytest.raises(PathError, match=path):
                await project.workspace.list_directory(place)

    # ------------------------------------------------------------ finding files

    @pytest.mark.parametrize(
        ("pattern", "paths"),
        [
            ("**/*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
            ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
            ("./*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
            ("src/*.py", ["src/b.py"]),
            ("src/**", ["src/b.py", "src/deep/c.py", "src/notes.md"]),
            ("src/", ["src/b.py", "src/deep/c.py", "src/notes.md"]),
            ("**/b.py", ["src/b.py"]),
            ("**/a.py", ["a.py"]),
            ("src/**/c.py", ["src/deep/c.py"]),
            ("src/{b.py,*.md}", ["src/b.py", "src/notes.md"]),
            ("src/[a-b].p?", ["src/b.py"]),
            ("SRC/*.py", []),
            ("src/*.rs", []),
            ("nothing/**", []),
        ],
    )
    async def test_a_glob_finds_files(
        self, project: Project, pattern: str, paths: list[str]
    ) -> None:
        for path in ("a.py", "src/b.py", "src/deep/c.py", "src/notes.md"):
            project.put(path, b"")
        assert await find(project, pattern) == (paths, len(paths))

    async def test_files_are_found_below_a_folder_and_named_from_the_root(
        self, project: Project
    ) -> None:
        for path in ("a.py", "src/b.py", "src/deep/c.py"):
            project.put(path, b"")
        assert await find(project, "*.py", below="src") == (["src/b.py", "src/deep/c.py"], 2)
        assert await find(project, "deep/*.py", below="src") == (["src/deep/c.py"], 1)

    async def test_hidden_files_are_found_when_the_pattern_names_them(
        self, project: Project
    ) -> None:
        for path in (".github/workflows/ci.yml", ".gitignore", "a.yml", ".git/config"):
            project.put(path, b"")
        assert await find(project, "**/*.yml") == (["a.yml"], 1)
        assert await find(project, ".github/workflows/*.yml") == ([".github/workflows/ci.yml"], 1)
        assert await find(project, ".gitignore") == ([".gitignore"], 1)
        assert await find(project, "**/.*") == ([".gitignore"], 1)
        assert await find(project, "*", below=".github") == ([".github/workflows/ci.yml"], 1)

    async def test_ignored_files_are_left_out(self, project: Project) -> None:
        project.put(".gitignore", b"*.log\nbuild/\n!keep.log\n")
        project.put("src/.gitignore", b"secret.txt\n")
        for path in ("a.log", "keep.log", "build/x.py", "src/secret.txt", "secret.txt", "b.py"):
            project.put(path, b"word")
        found = (["b.py", "keep.log", "secret.txt"], 3)
        assert await find(project, "**/*") == found
        lines, _ = await search(project, SearchQuery(pattern="word"))
        assert [line.path for line in lines] == found[0]

    async def test_a_limit_cuts_the_list_and_the_number_stays(self, project: Project) -> None:
        for number in range(30):
            project.put(f"f{number:02}.txt", b"word\nword\n")
        assert await find(project, "*.txt", limit=3) == (["f00.txt", "f01.txt", "f02.txt"], 30)
        lines, total = await search(project, SearchQuery(pattern="word"), limit=3)
        assert ([(line.path, line.line) for line in lines], total) == (
            [("f00.txt", 1), ("f00.txt", 2), ("f01.txt", 1)],
            60,
        )

    async def test_files_are_found_in_a_folder_only(self, project: Project) -> None:
        project.put("a.txt", b"")
        for path in ("a.txt", "gone"):
            with pytest.raises(PathError):
                await find(project, "*", below=path)
        with pytest.raises(ToolError):
            await find(project, " ")

    # ------------------------------------------------------------ searching text

    @pytest.mark.parametrize(
        ("query", "lines"),
        [
            (SearchQuery(pattern="alpha"), [("a.txt", 1), ("src/b.py", 2)]),
            (
                SearchQuery(pattern="alpha", case_sensitive=False),
                [("a.txt", 1), ("a.txt", 2), ("src/b.py", 2)],
            ),
            (SearchQuery(pattern="al.ha"), []),
            (SearchQuery(pattern="al.ha", regex=True), [("a.txt", 1), ("src/b.py", 2)]),
            (SearchQuery(pattern="^alpha$", regex=True), [("a.txt", 1)]),
            (SearchQuery(pattern=r"\bbeta\b", regex=True), [("src/b.py", 2)]),
            (SearchQuery(pattern="(alpha|one) beta", regex=True), [("src/b.py", 2)]),
            (SearchQuery(pattern="alpha", glob="*.py"), [("src/b.py", 2)]),
            (SearchQuery(pattern="alpha", glob="src/**"), [("src/b.py", 2)]),
            (SearchQuery(pattern="alpha", glob="*.{txt,md}"), [("a.txt", 1)]),
            (SearchQuery(pattern="f(x)[0]"), [("src/b.py", 1)]),
            (SearchQuery(pattern="-v"), [("src/b.py", 3)]),
            (SearchQuery(pattern="größe"), [("src/b.py", 4)]),
            (
                SearchQuery(pattern="GRÖSSE|GRÖßE", regex=True, case_sensitive=False),
                [("src/b.py", 4)],
            ),
            (SearchQuery(pattern="nowhere"), []),
        ],
    )
    async def test_lines_that_match_are_found(
        self, project: Project, query: SearchQuery, lines: list[tuple[str, int]]
    ) -> None:
        project.put("a.txt", b"alpha\nALPHA\n")
        project.put("src/b.py", "f(x)[0]\none alpha beta\nrun -v\nGröße = größe\n".encode())
        found, total = await search(project, query)
        assert [(match.path, match.line) for match in found] == lines
        assert total == len(lines)

    async def test_a_line_comes_without_its_ending(self, project: Project) -> None:
        project.put("a.txt", b"  one word \r\nlast word")
        found, _ = await search(project, SearchQuery(pattern="word"))
        assert [match.text for match in found] == ["  one word ", "last word"]
        ends, _ = await search(project, SearchQuery(pattern="word $", regex=True))
        assert [match.line for match in ends] == [1]

    async def test_binary_files_are_passed_over(self, project: Project) -> None:
        project.put("a.bin", b"word\n\0word\n")
        project.put("late.bin", b"word\n" * 50_000 + b"\0")
        project.put("a.txt", b"word\n")
        found, total = await search(project, SearchQuery(pattern="word"))
        assert (found, total) == ([Match(path="a.txt", line=1, text="word", column=1)], 1)

    async def test_text_that_is_not_utf_8_is_searched(self, project: Project) -> None:
        project.put("a.txt", b"caf\xe9 word\n")
        project.put("b.txt", "\ufeffwide word\n".encode("utf-16-le"))
        project.put("c.txt", b"\xef\xbb\xbfword\n")
        found, _ = await search(project, SearchQuery(pattern="word"))
        assert [match.text for match in found] == ["caf\ufffd word", "wide word", "word"]
        starts, _ = await search(project, SearchQuery(pattern="^word", regex=True))
        assert [match.path for match in starts] == ["c.txt"]

    async def test_one_file_or_one_folder_can_be_searched(self, project: Project) -> None:
        for path in ("a.txt", "src/b.txt", "src/deep/c.txt", ".hidden/d.txt"):
            project.put(path, b"word\n")
        query = SearchQuery(pattern="word")
        for below, paths in (
            ("a.txt", ["a.txt"]),
            ("src", ["src/b.txt", "src/deep/c.txt"]),
            ("src/deep/c.txt", ["src/deep/c.txt"]),
            (".hidden", [".hidden/d.txt"]),
            (".hidden/d.txt", [".hidden/d.txt"]),
            (".", ["a.txt", "src/b.txt", "src/deep/c.txt"]),
        ):
            found, total = await search(project, query, below=below)
            assert ([match.path for match in found], total) == (paths, len(paths))

    async def test_lines_of_secret_files_are_not_shown(self, project: Project) -> None:
        project.put(".env", b"KEY=word\n")
        project.put("certificate.pem", b"word\n")
        project.put("a.txt", b"word\n")
        found, total = await search(project, SearchQuery(pattern="word"))
        assert ([match.path for match in found], total) == (["a.txt"], 1)
        hidden, total = await search(project, SearchQuery(pattern="word", glob="**/.env*"))
        assert (hidden, total) == ([], 0)

    @pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "*a"])
    async def test_an_invalid_regular_expression_is_said_to_be_one(
        self, project: Project, pattern: str
    ) -> None:
        project.put("a.txt", b"(")
        with pytest.raises(ToolError, match="regular expression"):
            await search(project, SearchQuery(pattern=pattern, regex=True))
        await search(project, SearchQuery(pattern=pattern))

    @pytest.mark.parametrize("pattern", ["", "two\nlines", "nul\0"])
    async def test_what_cannot_be_searched_for_is_refused(
        self, project: Project, pattern: str
    ) -> None:
        project.put("a.txt", b"two\nlines\n")
        with pytest.raises(ToolError):
            await search(project, SearchQuery(pattern=pattern))

    async def test_nothing_can_be_searched_where_nothing_is(self, project: Project) -> None:
        with pytest.raises(PathError):
            await search(project, SearchQuery(pattern="word"), below="gone")

    # ------------------------------------------------------------ windows and changes together

    async def test_a_window_gives_lines_without_their_endings_and_says_if_more_follow(
        self, project: Project
    ) -> None:
        project.put("a.txt", b"one\ntwo\r\nthree\n")
        place = project.workspace.locate("a.txt", Operation.READ)
        middle = await project.workspace.read_window(place, 2, 1, 1000)
        assert (middle.first, middle.lines, middle.more) == (2, ("two",), True)
        rest = await project.workspace.read_window(place, 2, 10, 1000)
        assert (rest.lines, rest.more) == (("two", "three"), False)
        assert (await project.workspace.read_window(place, 9, 10, 1000)).lines == ()
        place.close()

    async def test_a_window_of_a_binary_file_is_refused(self, project: Project) -> None:
        project.put("a.bin", BINARY)
        place = project.workspace.locate("a.bin", Operation.READ)
        with pytest.raises(PathError):
            await project.workspace.read_window(place, 1, 10, 1000)
        place.close()

    async def test_changes_to_several_files_are_made_together(self, project: Project) -> None:
        project.put("a.txt", b"one two\n")
        project.put("old.txt", b"gone\n")
        workspace = project.workspace
        a = workspace.locate("a.txt", Operation.WRITE)
        old = workspace.locate("old.txt", Operation.DELETE)
        new = workspace.locate("new/b.txt", Operation.CREATE)
        edits = (TextEdit(4, 7, "2"), TextEdit(0, 3, "1"))
        changed = await workspace.apply([
            FileChange(place=a, before=await workspace.read_text(a), edits=edits),
            FileChange(place=old, before=await workspace.read_text(old), delete=True),
            FileChange(place=new, before=None, edits=(TextEdit(0, 0, "new\n"),)),
        ])
        assert list(changed) == ["a.txt", "old.txt", "new/b.txt"]
        assert project.get("a.txt") == b"1 2\n"
        assert project.get("old.txt") is None
        assert project.get("new/b.txt") == b"new\n"
        for place in (a, old, new):
            place.close()

    async def test_when_one_change_cannot_be_made_none_is(self, project: Project) -> None:
        project.put("a.txt", b"one\n")
        project.put("b.txt", b"two\n")
        workspace = project.workspace
        a = workspace.locate("a.txt", Operation.WRITE)
        b = workspace.locate("b.txt", Operation.WRITE)
        first = FileChange(
            place=a, before=await workspace.read_text(a), edits=(TextEdit(0, 3, "1"),)
        )
        stale = FileChange(
            place=b, before=await workspace.read_text(b), edits=(TextEdit(0, 3, "2"),)
        )
        project.put("b.txt", b"changed by hand\n")
        with pytest.raises(PathError):
            await workspace.apply([first, stale])
        assert project.get("a.txt") == b"one\n"
        assert project.get("b.txt") == b"changed by hand\n"
        a.close()
        b.close()


def resolve(project: Project, path: str, operation: Operation):
    """Where a path leads; the place is closed again."""
    place = project.workspace.locate(path, operation)
    place.close()
    return place.resolution


async def read(project: Project, path: str, *, remember: bool = True) -> FileText:
    with _Open(project, path, Operation.READ) as place:
        return await project.workspace.read_text(place, remember=remember)


async def write(
    project: Project, path: str, text: str, like: FileText | None = None, *, replace: bool = False
) -> None:
    with _Open(project, path, Operation.WRITE) as place:
        await project.workspace.write_text(place, text, like, replace=replace or like is not None)


async def move(project: Project, source: str, target: str) -> None:
    with (
        _Open(project, source, Operation.DELETE) as here,
        _Open(project, target, Operation.CREATE) as there,
    ):
        await project.workspace.move(here, there)


async def delete(project: Project, path: str) -> None:
    with _Open(project, path, Operation.DELETE) as place:
        await project.workspace.delete(place)


async def find(
    project: Project, pattern: str, *, below: str = ".", limit: int = 100
) -> tuple[list[str], int]:
    with _Open(project, below, Operation.LIST) as place:
        paths, total = await project.workspace.find_files(pattern, place, limit)
        return list(paths), total


async def search(
    project: Project, query: SearchQuery, *, below: str = ".", limit: int = 100
) -> tuple[Sequence[Match], int]:
    with _Open(project, below, Operation.READ) as place:
        found, total = await project.workspace.search_text(query, place, limit)
        return list(found), total


class _Open:
    """A place for the length of a block."""

    def __init__(self, project: Project, path: str, operation: Operation) -> None:
        self._place: Located = project.workspace.locate(path, operation)

    def __enter__(self) -> Located:
        return self._place

    def __exit__(self, *_: object) -> None:
        self._place.close()
