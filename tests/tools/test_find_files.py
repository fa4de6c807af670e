"""Finding files by glob."""


async def test_a_pattern_without_a_slash_matches_at_any_depth(desk):
    desk.write("a.py", "")
    desk.write("src/deep/b.py", "")
    desk.write("src/c.txt", "")
    assert await desk.done("find_files", pattern="*.py") == "a.py\nsrc/deep/b.py"


async def test_double_stars_match_the_top_level_too(desk):
    desk.write("x.md", "")
    desk.write("docs/x.md", "")
    assert await desk.done("find_files", pattern="**/x.md") == "docs/x.md\nx.md"


async def test_it_looks_below_a_directory_only(desk):
    desk.write("src/a.py", "")
    desk.write("tests/b.py", "")
    assert await desk.done("find_files", pattern="*.py", path="tests") == "tests/b.py"
    assert await desk.done("find_files", pattern="./tests/*.py") == "tests/b.py"
    assert await desk.done("find_files", pattern=f"{desk.root}/tests/*.py") == "tests/b.py"
    assert await desk.done("find_files", pattern="src/") == "src/a.py"


async def test_b019_hidden_files_are_found_when_named(desk):
    """B019."""
    desk.write(".github/workflows/ci.yml", "")
    text = await desk.done("find_files", pattern=".github/workflows/*.yml")
    assert text == ".github/workflows/ci.yml"


async def test_b022_names_beyond_ascii_are_exact(desk):
    """B022."""
    desk.write("doc/fänny/README.md", "")
    desk.write("doc/普通.md", "")
    desk.write("doc/two\nlines.md", "")
    text = await desk.done("find_files", pattern="doc/**/*.md")
    assert set(text.split("\n")) == {"doc/fänny/README.md", "doc/普通.md", "'doc/two\\nlines.md'"}


async def test_nothing_found_says_what_was_left_out(desk):
    desk.write("a.py", "")
    text = await desk.done("find_files", pattern="*.rs")
    assert text.startswith("no file matches *.rs in .")
    assert "ignored" in text


async def test_many_files_are_cut_with_the_total(desk):
    for number in range(230):
        desk.write(f"d/{number:03}.txt", "")
    outcome = await desk.call("find_files", pattern="*.txt")
    text = outcome.content[0].text
    assert text.count("\n") == 200
    assert text.endswith("[200 of 230 files; narrow the pattern or the path]")
    assert outcome.view.total == 230


async def test_b021_a_loop_of_links_ends(desk):
    """B021."""
    desk.write("a/x.py", "")
    (desk.root / "a/again").symlink_to("..")
    assert await desk.done("find_files", pattern="x.py") == "a/x.py"
    assert "linked folders are not entered" in await desk.done("find_files", pattern="y.py")


async def test_bad_places_and_patterns_are_refused(desk):
    desk.write("a.py", "")
    assert "pattern is empty" in await desk.failed("find_files", pattern=" ")
    assert "path must be a directory" in await desk.failed("find_files", pattern="*", path="a.py")
    assert "no such directory" in await desk.failed("find_files", pattern="*", path="nope")


def test_its_summary_names_pattern_and_place(desk):
    assert desk.tools["find_files"].summarize({"pattern": "*.py", "path": "src"}) == "*.py in src"
