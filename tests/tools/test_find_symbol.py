"""Definitions by name."""

import pytest

from hame.base.errors import ArgumentError, ToolError
from hame.base.tool import Effect
from hame.workspace.syntax import Syntax

pytest.importorskip("ast_grep_py", reason="the extra `code` is not installed")


@pytest.fixture(autouse=True)
def _project(desk):
    desk.write(
        "src/store.py",
        "class Store:\n    def load(self, path):\n        pass\n\n\ndef load(path):\n    pass\n",
    )
    desk.write(
        "src/app.ts", "export class Loader {\n  load(path: string) {}\n}\nfunction preload() {}\n"
    )
    desk.write("notes.md", "load is a word here\n")
    desk.write("ignored/x.py", "def load(): pass\n")
    desk.write(".gitignore", "ignored/\n")


async def test_definitions_come_with_their_place_the_best_first(desk):
    assert await desk.done("find_symbol", query="load") == (
        "src/app.ts:2: method load(path: string) {} (in Loader)\n"
        "src/store.py:2: method def load(self, path): (in Store)\n"
        "src/store.py:6: function def load(path):\n"
        "src/app.ts:1: class export class Loader {\n"
        "src/app.ts:4: function function preload() {}"
    )


@pytest.mark.parametrize("name", ["Store.load", "Store::load", "Store.load()"])
async def test_a_name_may_say_what_it_lies_in(desk, name):
    assert await desk.done("find_symbol", query=name) == (
        "src/store.py:2: method def load(self, path): (in Store)"
    )


async def test_case_does_not_matter_when_nothing_else_fits(desk):
    assert "class Store" in await desk.done("find_symbol", query="store")


async def test_a_folder_narrows_it(desk):
    desk.write("other/y.py", "def load(): pass\n")
    assert await desk.done("find_symbol", query="load", path="other") == (
        "other/y.py:1: function def load(): pass"
    )


async def test_nothing_found_and_no_such_folder_are_said(desk):
    assert "nothing called zebra is defined in ." in await desk.done("find_symbol", query="zebra")
    assert "no such" in await desk.failed("find_symbol", query="load", path="nowhere")


async def test_without_the_library_it_says_what_is_missing(desk, monkeypatch):
    monkeypatch.setattr(Syntax, "missing", "the extra `code` (pip install 'hame[code]')")
    with pytest.raises(ToolError, match=r"needs the extra `code` \(pip install"):
        await desk.prepare("find_symbol", query="load")
    desk.change(structure=None)
    with pytest.raises(ToolError, match="search_text finds"):
        await desk.prepare("find_symbol", query="load")


async def test_an_empty_name_is_refused(desk):
    with pytest.raises(ArgumentError):
        await desk.prepare("find_symbol", query=" . ")


async def test_an_edit_that_breaks_the_syntax_is_told_so(desk):
    text = await desk.done(
        "edit_file", path="src/store.py", old_string="def load(path):", new_string="def load(path:"
    )
    assert "New problems in src/store.py:" in text
    assert "line 6" in text
    again = await desk.done(
        "edit_file", path="src/store.py", old_string="class Store:", new_string="class Shop:"
    )
    assert "New problems" not in again
    written = await desk.done("create_file", path="new.json", content='{"a": }\n')
    assert "New problems in new.json:\nline 1:" in written
    await desk.done("read_file", path="new.json")
    rewritten = await desk.done("write_file", path="new.json", content='{"a": 1}\n')
    assert "problems" not in rewritten
    patch = '*** Begin Patch\n*** Update File: new.json\n-{"a": 1}\n+{"a": \n*** End Patch'
    assert "New problems in new.json:" in await desk.done("apply_patch", input=patch)


async def test_a_long_file_is_read_with_an_outline_of_all_of_it(desk):
    body = "".join(f"def f{n}(a):\n    return a\n\n\n" for n in range(80)) + "x = 1\n" * 2_000
    desk.write("long.py", f"class First:\n    def inner(self): pass\n\n\n{body}")
    text = await desk.done("read_file", path="long.py")
    assert "read on with start_line=2001" in text
    assert (
        "[outline of the whole file]\n1\tclass First:\n2\t  def inner(self): pass\n5\tdef f0(a):"
        in text
    )
    part = await desk.done("read_file", path="long.py", start_line=1, end_line=10)
    assert "outline" not in part


async def test_an_outline_that_is_too_long_leaves_the_depths_out(desk):
    body = "".join(
        f"class C{n}:\n" + "".join(f"    def m{k}(self): pass\n" for k in range(10))
        for n in range(100)
    )
    desk.write("deep.py", body + "x = 1\n" * 2_000)
    text = await desk.done("read_file", path="deep.py")
    assert "class C99:" in text
    outline = text.partition("[outline")[2]
    assert "def m0" not in outline
    assert "[1000 more]" in outline


def test_what_it_declares(desk):
    tool = desk.tools["find_symbol"]
    assert tool.spec.effect is Effect.READ
    assert not tool.spec.advertised
    assert tool.summarize({"query": "A"}) == "A in ."
