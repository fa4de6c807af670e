"""What code defines, in each language; where it cannot be parsed; without the library."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.workspace import syntax
from hame.workspace.definitions import KINDS, language_of
from hame.workspace.syntax import Syntax

pytest.importorskip("ast_grep_py", reason="the extra `code` is not installed")


@pytest.mark.parametrize(
    ("path", "text", "symbols"),
    [
        (
            "a.py",
            "class A:\n    def f(self):\n        pass\n\n\nasync def g(): pass\n",
            ["class A", "method A.f", "function g"],
        ),
        (
            "a.js",
            "class A { m() {} }\nfunction f() {}\nconst g = () => 1, n = 1;\nexport function h() {}\n",
            ["class A", "method A.m", "function f", "function g", "function h"],
        ),
        (
            "a.ts",
            "interface I { a: string }\ntype T = string;\nabstract class B { m() {} }\nenum E { A }\n",
            ["interface I", "type T", "class B", "method B.m", "enum E"],
        ),
        ("a.tsx", "const A = () => <p/>;\nfunction B() {}\n", ["function A", "function B"]),
        (
            "a.rs",
            "struct S;\ntrait T { fn a(); }\nimpl T for S { fn b() {} }\nmod m { pub fn g() {} }\n",
            [
                "struct S",
                "trait T",
                "method T.a",
                "impl S",
                "method S.b",
                "module m",
                "function m.g",
            ],
        ),
        (
            "a.go",
            "package a\ntype S struct{}\nfunc (s *S) M() {}\nfunc F() {}\n",
            ["type S", "method M", "function F"],
        ),
        (
            "A.java",
            "class A { void m() {} A() {} }\ninterface I {}\nrecord R(int a) {}\n",
            ["class A", "method A.m", "constructor A.A", "interface I", "record R"],
        ),
        (
            "a.c",
            "struct s { int a; };\nstruct s v;\nstatic char *g(void) { return 0; }\n#define M(x) x\n",
            ["struct s", "function g", "macro M"],
        ),
        (
            "a.hpp",
            "namespace n { class A { void m() {} }; }\nvoid n::A::q() {}\n",
            ["namespace n", "class n.A", "method n.A.m", "function n::A::q"],
        ),
        (
            "a.cs",
            "namespace N { class A { void M() {} } enum E {A} }\n",
            ["namespace N", "class N.A", "method N.A.M", "enum N.E"],
        ),
        (
            "a.rb",
            "module M\n class A\n  def f; end\n  def self.g; end\n end\nend\n",
            ["module M", "class M.A", "method M.A.f", "method M.A.g"],
        ),
        ("a.php", "<?php class A { function m() {} }\n", ["class A", "method A.m"]),
        (
            "a.kt",
            "class A {\n    fun m() {}\n}\n\nfun f() {}\n",
            ["class A", "method A.m", "function f"],
        ),
        (
            "a.swift",
            "struct S { func m() {} }\nprotocol P {}\n",
            ["class S", "method S.m", "protocol P"],
        ),
        ("a.scala", "object O { def f = 1 }\ntrait T\n", ["object O", "method O.f", "trait T"]),
        ("a.lua", "function f() end\nlocal function g() end\n", ["function f", "function g"]),
        ("a.sh", "f() { echo; }\n", ["function f"]),
        ("a.sql", "create table t (a int);\n", []),
        ("a.json", '{"a": 1}\n', []),
        ("Makefile", "all:\n", []),
    ],
)
async def test_definitions_are_known_in_each_language(path, text, symbols) -> None:
    found = await Syntax().outline(path, text)
    named = [f"{s.kind} {f'{s.inside}.' if s.inside else ''}{s.name}" for s in found]
    assert named == symbols
    assert [s.depth for s in found] == [s.inside.count(".") + 1 if s.inside else 0 for s in found]
    assert await Syntax().check(path, text) == () or not await Syntax().check(path, text)


async def test_lines_and_signatures_are_those_of_the_file() -> None:
    text = "# \u00e4\n\nclass A(B):\n    x = '\u4e2d'\n\n    def f(self, a):\n        return a\n"
    cls, method = await Syntax().outline("a.py", text)
    assert (cls.line, cls.end_line, cls.signature) == (3, 7, "class A(B):")
    assert (method.line, method.end_line, method.signature) == (6, 7, "def f(self, a):")


@pytest.mark.parametrize(
    ("path", "text", "problems"),
    [
        ("a.py", "x = (1,\n", ["1:1 cannot be parsed at `x = (1,`"]),
        ("a.js", "function f() { return 1;\n", ["1:25 `}` is missing"]),
        ("a.json", '{"a": 1,, "b": 2}', ["1:8 cannot be parsed at `,`"]),
        ("b.json", '{"a": }', ["1:6 a number is missing"]),
        ("a.ts", "const x: = 3;\n", ["1:8 cannot be parsed at `:`"]),
        ("a.py", "def f():\n    return 1\n", []),
        ("a.txt", "((((", []),
    ],
)
async def test_what_cannot_be_parsed_is_told_with_its_place(path, text, problems) -> None:
    found = await Syntax().check(path, text)
    assert [f"{each.line}:{each.column} {each.message}" for each in found] == problems


async def test_a_file_of_nothing_but_mistakes_is_told_in_part() -> None:
    assert 0 < len(await Syntax().check("a.js", "function {\n" * 500)) <= 50


async def test_huge_files_are_not_parsed() -> None:
    text = "def f(): pass\n" * 100_000
    assert await Syntax().outline("a.py", text) == ()
    assert await Syntax().check("a.py", text) == ()


async def test_without_the_library_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "_installed", lambda: False)
    assert "hame[code]" in Syntax().missing
    assert not Syntax().understands("a.py")
    assert await Syntax().outline("a.py", "def f(): pass\n") == ()
    assert await Syntax().check("a.py", "def (") == ()


def test_every_kind_is_one_that_its_grammar_knows() -> None:
    from ast_grep_py import SgRoot

    for language, kinds in KINDS.items():
        root = SgRoot("", language).root()
        for kind in kinds:
            root.find_all(kind=kind)


@settings(deadline=None)
@given(
    st.sampled_from(["a.py", "a.rs", "a.go", "a.cpp", "a.rb", "a.json", "a.css"]),
    st.text(max_size=80),
)
async def test_no_text_makes_it_fail(path: str, text: str) -> None:
    assert language_of(path)
    await Syntax().outline(path, text)
    await Syntax().check(path, text)
