"""Searching in files."""


async def test_matches_come_as_path_line_text(desk):
    desk.write("src/a.py", "import os\n    print(os)\n")
    desk.write("b.txt", "nothing\n")
    text = await desk.done("search_text", pattern="print(")
    assert text == "src/a.py:2: print(os)"


async def test_a_regular_expression_must_be_asked_for(desk):
    desk.write("a.txt", "foo\nbar\n")
    assert (
        await desk.done("search_text", pattern="foo|bar", regex=True)
        == "a.txt:1: foo\na.txt:2: bar"
    )
    hint = await desk.done("search_text", pattern="foo|bar")
    assert hint.startswith('no match for "foo|bar" in .')
    assert "set regex" in hint


async def test_an_invalid_regular_expression_is_a_clear_error(desk):
    desk.write("a.txt", "x\n")
    assert "regular expression" in await desk.failed("search_text", pattern="(", regex=True)


async def test_case_counts_unless_told_not_to_and_a_miss_says_so(desk):
    desk.write("a.txt", "Hello\n")
    assert await desk.done("search_text", pattern="hello", case_sensitive=False) == "a.txt:1: Hello"
    assert "1 line with case_sensitive false" in await desk.done("search_text", pattern="hello")


async def test_a_glob_and_a_path_narrow_it(desk):
    desk.write("src/a.py", "word\n")
    desk.write("src/a.md", "word\n")
    desk.write("b.py", "word\n")
    assert (
        await desk.done("search_text", pattern="word", glob="*.py", path="src")
        == "src/a.py:1: word"
    )
    assert await desk.done("search_text", pattern="word", path="b.py") == "b.py:1: word"


async def test_b020_an_explicit_hidden_directory_is_searched(desk):
    """B020."""
    desk.write(".tool/hooks/pre.sh", "word\n")
    assert (
        await desk.done("search_text", pattern="word", path=".tool/hooks")
        == ".tool/hooks/pre.sh:1: word"
    )
    missed = await desk.done("search_text", pattern="word")
    assert "hidden" in missed


async def test_many_matches_are_cut_with_the_total(desk):
    desk.write("a.txt", "hit\n" * 250)
    text = await desk.done("search_text", pattern="hit")
    assert text.count("\n") == 100
    assert text.endswith("[100 of 250 lines; narrow it with path or glob]")


async def test_a_long_line_is_shown_around_the_match(desk):
    desk.write("a.min.js", "x" * 1_500 + "needle" + "y" * 1_500 + "\n")
    text = await desk.done("search_text", pattern="needle")
    assert "needle" in text
    assert len(text) < 400
    assert "[2,706 more characters]" in text
    assert "needle" in await desk.done("search_text", pattern="NEEDLE", case_sensitive=False)
    assert len(await desk.done("search_text", pattern="x.*y", regex=True)) < 400


async def test_bad_questions_are_refused(desk):
    assert "pattern is empty" in await desk.failed("search_text", pattern="")
    assert "one line" in await desk.failed("search_text", pattern="a\nb")
    assert "no such file or directory" in await desk.failed("search_text", pattern="a", path="nope")


def test_its_summary_names_pattern_and_place(desk):
    tool = desk.tools["search_text"]
    assert tool.summarize({"pattern": "todo", "path": "src"}) == '"todo" in src'
    assert tool.summarize({"pattern": "a\nb", "glob": "*.py"}) == '"a b" in . (*.py)'
