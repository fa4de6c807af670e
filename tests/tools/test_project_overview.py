"""What the project is, in one call."""

import pytest

from hame.tools.language import language_of
from hame.tools.manifest import declared_entry_points, is_entry_point, is_manifest


class Known:
    """An index that knows the test command."""

    def files(self):
        return ()

    def directories(self):
        return ()

    def text(self, path: str):
        return None

    def test_command(self):
        return "pytest -q"


async def test_it_says_what_there_is(desk):
    desk.write("pyproject.toml", '[project]\nname = "x"\n[project.scripts]\nx = "x.main:run"\n')
    desk.write("src/x/__main__.py", "")
    desk.write("src/x/core.py", "")
    desk.write("web/app.ts", "")
    desk.write("README.md", "")
    desk.write(".git/HEAD", "ref: refs/heads/feature/one\n")
    desk.change(index=Known())
    assert (await desk.done("project_overview")).split("\n") == [
        f"root: {desk.root}",
        "git branch: feature/one",
        "size: 5 files in 2 folders",
        "languages: Python (2), Markdown (1), TOML (1), TypeScript (1)",
        "manifests: pyproject.toml",
        "entry points: x (x.main:run), src/x/__main__.py",
        "test command: pytest -q",
        "top level (files below):",
        "src/ (2)",
        "  src/x/ (2)",
        "web/ (1)",
        "README.md, pyproject.toml",
    ]


async def test_an_empty_folder_is_described_too(desk):
    assert await desk.done("project_overview") == f"root: {desk.root}\nsize: 0 files in 0 folders"


async def test_a_detached_head_is_said(desk):
    desk.write(".git/HEAD", "0123456789abcdef0123456789abcdef01234567\n")
    assert "git branch: none (detached at 0123456789ab)" in await desk.done("project_overview")


async def test_a_large_project_stays_short(desk):
    for folder in range(60):
        desk.write(f"pkg{folder:02}/main.go", "")
        desk.write(f"pkg{folder:02}/go.mod", "")
    text = await desk.done("project_overview")
    assert len(text) < 2_000
    assert "and 48 more" in text
    assert "[20 more folders; use list_dir]" in text


async def test_ignored_files_do_not_count(desk):
    desk.write(".gitignore", "build/\n")
    desk.write("build/x.js", "")
    desk.write("a.py", "")
    assert "size: 1 file " in await desk.done("project_overview")


async def test_it_touches_only_what_the_gate_may_judge(desk):
    desk.write("package.json", "{}")
    action = await desk.prepare("project_overview")
    shown = {target.resolution.shown for target in action.targets}
    assert shown == {".", ".git/HEAD", "pyproject.toml", "package.json", "Cargo.toml"}
    action.close()


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("package.json", '{"main": "a.js", "bin": {"x": "b.js"}, "scripts": {"dev": "v", "test": "t"}}',
         ["main a.js", "x (b.js)", "npm scripts: dev, test"]),
        ("package.json", '{"bin": "b.js", "scripts": []}', ["bin b.js"]),
        ("package.json", "not json", []),
        ("pyproject.toml", '[tool.poetry.scripts]\nx = "m:f"\n', ["x (m:f)"]),
        ("pyproject.toml", "= broken", []),
        ("Cargo.toml", '[[bin]]\nname = "x"\npath = "src/x.rs"\n', ["x (src/x.rs)"]),
        ("other", "", []),
    ],
)  # fmt: skip
def test_manifests_say_where_a_program_starts(name: str, text: str, found: list[str]):
    assert declared_entry_points(name, text) == found


def test_names_tell_manifests_entry_points_and_languages():
    assert is_manifest("web/package.json")
    assert is_manifest("App.csproj")
    assert not is_manifest("a.py")
    assert is_entry_point("cmd/x/main.go")
    assert not is_entry_point("a/b/c/d/main.go")
    assert language_of("a/b.RS") == "Rust"
    assert language_of("LICENSE") is None


def test_its_summary_is_short(desk):
    assert desk.tools["project_overview"].summarize({}) == "the project"


async def test_a_worktree_whose_git_directory_is_elsewhere_is_described_too(desk):
    desk.write(".git", "gitdir: /elsewhere/.git/worktrees/x\n")
    desk.write("a.py", "")
    assert "languages: Python (1)" in await desk.done("project_overview")
