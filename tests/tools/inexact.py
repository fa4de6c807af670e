"""Edits as models really write them: nearly right. Made from a seed, with the right result beside."""

import argparse
import configparser
import csv
import html.parser
import inspect
import json
import random
import re
import shlex
import textwrap
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias


class Case(NamedTuple):
    """One edit of one file."""

    kind: str
    text: str
    """The file."""
    old: str
    new: str
    wanted: str | None
    """The file afterwards; None: the edit must be refused."""


class _Edit(NamedTuple):
    """A right edit of some lines of a file."""

    text: str
    start: int
    old: list[str]
    new: list[str]

    def case(self, kind: str, old: list[str], new: list[str], *, text: str | None = None) -> Case:
        text = self.text if text is None else text
        lines = text.split("\n")
        # What the file has in the lines that stay, it keeps.
        kept = dict(zip(self.old, lines[self.start : self.start + len(self.old)], strict=True))
        after = [kept.get(line, line) for line in self.new]
        wanted = [*lines[: self.start], *after, *lines[self.start + len(self.old) :]]
        return Case(kind, text, "\n".join(old), "\n".join(new), "\n".join(wanted))


_PROSE = """\
# Notes on the parser

The parser reads one line at a time and keeps "what it saw last" in a small table, so that an
error can say where the trouble began - not only where it was noticed.

A table that was never filled isn't an error. It's simply empty, and "empty" is a fine answer;
don't replace it with a default value, because nobody would notice that it was missing.

Values are kept as text until somebody asks for a number. That is slower for tables that are read
often, but it's the only way to give back exactly what was written - spaces, signs and all.

When two tables carry the same name, the later one wins... unless it was marked "keep".
"""

_SCRIPT = """\
import { readFile } from "node:fs/promises";

export class Registry {
\tprivate entries = new Map<string, Entry>();

\t// Adds an entry, or replaces the one of that name.
\tadd(name: string, entry: Entry): void {
\t\tif (!name.trim()) {
\t\t\tthrow new Error(`"${name}" is no name`);
\t\t}
\t\tthis.entries.set(name, entry);
\t\tthis.listeners.forEach((listener) => listener({ kind: 'added', name }));
\t}

\t// Takes an entry away; one that is not there is no error.
\tremove(name: string): boolean {
\t\tconst known = this.entries.delete(name);
\t\tif (known) {
\t\t\tthis.listeners.forEach((listener) => listener({ kind: 'removed', name }));
\t\t}
\t\treturn known;
\t}

\tasync load(path: string): Promise<number> {
\t\tconst text = await readFile(path, "utf-8");
\t\tconst rows = text.split("\\n").filter((row) => row.length > 0);
\t\tfor (const row of rows) {
\t\t\tconst [name, value] = row.split(",", 2);
\t\t\tthis.add(name, { value, path });
\t\t}
\t\treturn rows.length;
\t}
}
"""


def _sources() -> list[str]:
    modules = (argparse, configparser, csv, shlex, textwrap, json.decoder, html.parser, inspect)
    return [inspect.getsource(module).expandtabs(4) for module in modules]


def inexact_cases(seed: int, count: int) -> list[Case]:
    """So many edits, each kind in its turn."""
    source = random.Random(seed)
    texts = _sources()
    kinds = list(_KINDS)
    cases: list[Case] = []
    turn = 0
    while len(cases) < count:
        kind = kinds[turn % len(kinds)]
        turn += 1
        case = _KINDS[kind](source, texts)
        if case is not None and case.old not in case.text and case.wanted != case.text:
            cases.append(case._replace(kind=kind))
    return cases


_Maker: TypeAlias = Callable[[random.Random, list[str]], Case | None]
_Line: TypeAlias = Callable[[str], str]


# ---------------------------------------------------------------- right edits


def _right_edit(
    source: random.Random, text: str, low: int = 2, high: int = 9, need: str = ""
) -> _Edit | None:
    """A change of one line, or one line more or fewer, in a block that the file has once."""
    lines = text.split("\n")
    for _ in range(200):
        size = source.randint(low, high)
        start = source.randrange(max(len(lines) - size, 1))
        old = lines[start : start + size]
        if len(old) < low or not old[0].strip() or not old[-1].strip() or len(set(old)) < len(old):
            continue
        if text.count("\n".join(old)) != 1 or (need and not re.search(need, "\n".join(old))):
            continue
        new = _changed(source, old)
        if new is not None:
            return _Edit(text, start, old, new)
    return None


def _changed(source: random.Random, old: list[str]) -> list[str] | None:
    at = source.randrange(len(old))
    line = old[at]
    match source.choice(["word", "word", "insert", "delete"]):
        case "insert" if line.strip():
            indent = line[: len(line) - len(line.lstrip())]
            return [*old[: at + 1], f"{indent}added_{source.randrange(1000)}()", *old[at + 1 :]]
        case "delete" if line.strip() and len(old) > 2:
            return [*old[:at], *old[at + 1 :]]
        case _:
            words = list(re.finditer(r"[A-Za-z]{4,}", line))
            if not words:
                return None
            word = source.choice(words)
            changed = f"{line[: word.start()]}changed_{word[0]}{line[word.end() :]}"
            return [*old[:at], changed, *old[at + 1 :]]


def _by_line(change: _Line, *, low: int = 2, need: str = "") -> _Maker:
    """A kind that writes every line in another way."""

    def make(source: random.Random, texts: list[str]) -> Case | None:
        edit = _right_edit(source, source.choice(texts), low, need=need)
        if edit is None:
            return None
        return edit.case("", [*map(change, edit.old)], [*map(change, edit.new)])

    return make


def _in_some_line(change: Callable[[random.Random, str], str | None], *, low: int = 5) -> _Maker:
    """A kind that gets one line, between the first and the last, wrong; the change is elsewhere."""

    def make(source: random.Random, texts: list[str]) -> Case | None:
        for _ in range(60):
            edit = _right_edit(source, source.choice(texts), low, 12)
            if edit is None:
                return None
            inner = [line for line in edit.old[1:-1] if line in edit.new]
            source.shuffle(inner)
            for line in inner:
                wrong = change(source, line)
                if wrong is not None and wrong != line:
                    swap = {line: wrong}
                    old = [swap.get(each, each) for each in edit.old]
                    return edit.case("", old, [swap.get(each, each) for each in edit.new])
        return None

    return make


# ---------------------------------------------------------------- kinds


def _trailing_lost(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, source.choice(texts), 3)
    if edit is None:
        return None
    lines = edit.text.split("\n")
    for at, line in enumerate(edit.old):
        if line in edit.new and (at == 1 or source.random() < 0.4):
            lines[edit.start + at] += source.choice([" ", "   ", "\t"])
    return edit.case("", edit.old, edit.new, text="\n".join(lines))


def _trailing_added(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, source.choice(texts), 2)
    if edit is None:
        return None
    wrong = {line: f"{line}  " for line in edit.old if line in edit.new and line.strip()}
    parts = [[wrong.get(line, line) for line in part] for part in (edit.old, edit.new)]
    return edit.case("", *parts)


def _common_indent(lines: list[str]) -> int:
    return min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)


def _shallower(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, source.choice(texts), 2, need=r"\A {4}")
    if edit is None:
        return None
    depth = _common_indent([*edit.old, *edit.new])
    return edit.case("", *[[line[depth:] for line in part] for part in (edit.old, edit.new)])


def _deeper(line: str) -> str:
    return f"    {line}" if line.strip() else line


def _leading(line: str, change: _Line) -> str:
    body = line.lstrip(" \t")
    return change(line[: len(line) - len(body)]) + body


def _with_tabs(line: str) -> str:
    return _leading(line, lambda indent: "\t" * (len(indent) // 4) + " " * (len(indent) % 4))


def _two_wide(line: str) -> str:
    return _leading(line, lambda indent: indent.replace("    ", "  "))


def _tabs_as_spaces(width: int) -> _Maker:
    def make(source: random.Random, texts: list[str]) -> Case | None:
        edit = _right_edit(source, _SCRIPT, 2, 6, need=r"\t")
        if edit is None:
            return None
        parts = [[line.expandtabs(width) for line in part] for part in (edit.old, edit.new)]
        return edit.case("", *parts)

    return make


_CURLY = re.compile(r'"([^"\n]*)"')


def _typographic(text: str) -> str:
    text = _CURLY.sub("\u201c\\1\u201d", text).replace(" - ", " \u2014 ").replace("'", "\u2019")
    return text.replace("...", "\u2026")


def _plain_quotes(source: random.Random, texts: list[str]) -> Case | None:
    return _looking_alike(source, _typographic)


def _plain_spaces(source: random.Random, texts: list[str]) -> Case | None:
    def change(line: str) -> str:
        return re.sub(r"\b(a|the|an|it) ", "\\1\u00a0", line)

    return _looking_alike(source, change)


def _looking_alike(source: random.Random, change: _Line) -> Case | None:
    edit = _right_edit(source, _PROSE, 1, 3)
    if edit is None:
        return None
    text = "\n".join(change(line) for line in edit.text.split("\n"))
    changed = [(a, b) for a, b in zip(edit.old, edit.new, strict=False) if a != b]
    case = edit.case("", edit.old, edit.new, text=text)
    if len(edit.old) != len(edit.new) or len(changed) != 1:
        return case
    # The line that changes keeps the file's own characters around the change.
    after = changed[0][1]
    return case._replace(wanted=(case.wanted or "").replace(after, change(after), 1))


def _escaped(change: Callable[[str], str], need: str) -> _Maker:
    def make(source: random.Random, texts: list[str]) -> Case | None:
        edit = _right_edit(source, source.choice(texts), 2, 5, need=need)
        if edit is None or "\\" in "".join([*edit.old, *edit.new]):
            return None
        return edit.case("", *[[change("\n".join(part))] for part in (edit.old, edit.new)])

    return make


def _numbered(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, source.choice(texts))
    if edit is None:
        return None
    old = [f"{edit.start + at + 1}\t{line}" for at, line in enumerate(edit.old)]
    new = edit.new
    if source.random() < 0.5:
        new = [f"{edit.start + at + 1}\t{line}" for at, line in enumerate(edit.new)]
    return edit.case("", old, new)


def _blank_around(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, source.choice(texts))
    if edit is None:
        return None
    lead, tail = source.choice([([""], []), (["", ""], ["", ""]), ([""], ["", "", ""])])
    return edit.case("", *[[*lead, *part, *tail] for part in (edit.old, edit.new)])


def _blank_inside(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, source.choice(texts), 5, 12)
    if edit is None:
        return None
    blank = [at for at, line in enumerate(edit.old) if not line.strip() and at]
    if blank and edit.new.count("") == edit.old.count("") == 1:
        return edit.case("", [x for x in edit.old if x], [x for x in edit.new if x])
    stays = [line for line in edit.old[1:-1] if line.strip() and line in edit.new]
    if not stays:
        return None
    above = source.choice(stays)
    if above == edit.new[-1]:
        return None

    def padded(part: list[str]) -> list[str]:
        return [each for line in part for each in ((line, "") if line == above else (line,))]

    return edit.case("", padded(edit.old), padded(edit.new))


def _comment_reworded(source: random.Random, line: str) -> str | None:
    code, mark, comment = line.partition("# ")
    words = comment.split()
    if not mark or len(words) < 4 or '"' in code or "'" in code:
        return None
    at = source.randrange(len(words))
    words[at] = source.choice(["really", "just", words[at].title()])
    return f"{code}# {' '.join(words)}"


def _comment_lost(source: random.Random, texts: list[str]) -> Case | None:
    for _ in range(60):
        edit = _right_edit(source, source.choice(texts), 5, 12, need=r"(?m)^\s*# ")
        if edit is None:
            return None
        comments = [x for x in edit.old[1:-1] if x.strip().startswith("# ") and x in edit.new]
        if comments:
            gone = source.choice(comments)
            parts = [[x for x in part if x != gone] for part in (edit.old, edit.new)]
            return edit.case("", *parts)
    return None


def _respaced(source: random.Random, line: str) -> str | None:
    if "#" in line or "'" in line or '"' in line:
        return None
    body = line.lstrip()
    tight = re.sub(r" ?(==|=|\+|,) ", r"\1", body)
    return line[: len(line) - len(body)] + tight


def _requoted(source: random.Random, line: str) -> str | None:
    if '"' in line or "\\" in line or line.count("'") != 2:
        return None
    return line.replace("'", '"')


def _comma_moved(source: random.Random, line: str) -> str | None:
    if re.search(r"\w\)$", line) and "#" not in line and "()" not in line:
        return f"{line[:-1]},)"
    return line[:-1] if line.endswith(",") else None


def _slipped(source: random.Random, line: str) -> str | None:
    words = [word for word in re.finditer(r"[a-z]{7,}", line) if word[0][2] != word[0][3]]
    if not words or "#" in line:
        return None
    word = source.choice(words)
    at = word.start() + 2
    return line[:at] + line[at + 1] + line[at] + line[at + 2 :]


def _prose_slip(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, _PROSE, 3, 5)
    if edit is None:
        return None
    inner = [line for line in edit.old[1:-1] if line in edit.new and len(line.split()) > 7]
    if not inner:
        return None
    line = source.choice(inner)
    wrong = re.sub(r"\b(the|a) ", "", line, count=1)
    parts = [[wrong if x == line else x for x in part] for part in (edit.old, edit.new)]
    return edit.case("", *parts)


def _line_forgotten(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, source.choice(texts), 6, 12)
    if edit is None:
        return None
    inner = [line for line in edit.old[1:-1] if line.strip() and line in edit.new]
    if not inner:
        return None
    gone = source.choice(inner)
    return edit.case("", *[[x for x in part if x != gone] for part in (edit.old, edit.new)])


def _outdated(source: random.Random, line: str) -> str | None:
    number = re.search(r"\b\d+\b", line)
    return line.replace(number[0], str(int(number[0]) + 7), 1) if number else None


def _crlf(source: random.Random, texts: list[str]) -> Case | None:
    edit = _right_edit(source, source.choice(texts), 2)
    if edit is None:
        return None
    case = edit.case("", [f"{line} " for line in edit.old], edit.new)
    wanted = (case.wanted or "").replace("\n", "\r\n")
    return case._replace(text=case.text.replace("\n", "\r\n"), wanted=wanted)


def _quoted(text: str) -> str:
    return text.replace('"', '\\"').replace("'", "\\'")


_KINDS: dict[str, _Maker] = {
    "spaces at ends lost": _trailing_lost,
    "spaces at ends added": _trailing_added,
    "too shallow": _shallower,
    "too deep": _by_line(_deeper),
    "tabs for spaces": _by_line(_with_tabs, need=r"\A {4}"),
    "spaces for tabs": _tabs_as_spaces(4),
    "two spaces for a tab": _tabs_as_spaces(2),
    "two spaces for four": _by_line(_two_wide, need=r"\A {4}"),
    "straight quotes": _plain_quotes,
    "plain spaces": _plain_spaces,
    "escaped quotes": _escaped(_quoted, r"[\"']"),
    "escaped line ends": _escaped(lambda text: json.dumps(text)[1:-1], r"[\"\n]"),
    "entities": _escaped(html.escape, r"[<>&\"']"),
    "line numbers": _numbered,
    "blank lines around": _blank_around,
    "blank line inside": _blank_inside,
    "comment reworded": _in_some_line(_comment_reworded),
    "comment lost": _comment_lost,
    "spacing inside": _in_some_line(_respaced),
    "other quotes": _in_some_line(_requoted),
    "comma moved": _in_some_line(_comma_moved),
    "letters swapped": _in_some_line(_slipped, low=6),
    "prose misremembered": _prose_slip,
    "line endings": _crlf,
    "line forgotten": _line_forgotten,
    "number outdated": _in_some_line(_outdated),
}


# ---------------------------------------------------------------- made to mislead


def adversarial_cases(seed: int, count: int) -> list[Case]:
    """Edits that look as if they fitted somewhere and do not, or fit in one of two like places."""
    source = random.Random(seed)
    makers = list(_traps(source))
    return [makers[turn % len(makers)]() for turn in range(count)]


def _function(name: str, *, noun: str = "item", step: int = 1, note: str = "") -> list[str]:
    return [
        f"def {name}({noun}, limit):",
        f"    # {note or 'Goes on until nothing is left.'}",
        f"    total = count({noun})",
        "    while total < limit:",
        f"        total += {step}",
        f"        store({noun}, '{name}', total)",
        f"    return finish({noun}, total)",
    ]


def _with_change(lines: list[str], at: int) -> list[str]:
    return [*lines[:at], lines[at].replace("total", "changed_total"), *lines[at + 1 :]]


def _traps(source: random.Random) -> Iterator[Callable[[], Case]]:
    def names() -> tuple[str, str, str]:
        return tuple(source.sample(["get", "set", "put", "add", "pop", "run", "end"], 3))  # type: ignore[return-value]

    def file_of(*blocks: list[str]) -> str:
        filler = [[f"VALUE_{source.randrange(999)} = {source.randrange(999)}"] for _ in range(3)]
        every = [*filler, *blocks, *filler]
        return "\n\n\n".join("\n".join(block) for block in every) + "\n"

    def refused(kind: str, text: str, old: list[str]) -> Case:
        new = [*old[:-1], "    note_it()", old[-1]]
        return Case(kind, text, "\n".join(old), "\n".join(new), None)

    def third_of_two() -> Case:
        one, two, three = names()
        text = file_of(_function(f"{one}_all"), _function(f"{two}_all"))
        return refused("a third like two others", text, _function(f"{three}_all"))

    def other_name() -> Case:
        one, two, _ = names()
        return refused("another name", file_of(_function(one)), _function(two))

    def other_number() -> Case:
        text = file_of(_function("go", step=1))
        return refused("another number", text, _function("go", step=source.choice([2, 11, 10])))

    def other_noun() -> Case:
        text = file_of(_function("go", noun="items"))
        return refused("one or many", text, _function("go", noun="item"))

    def other_operator() -> Case:
        old = _function("go")
        old[3] = old[3].replace("<", source.choice([">", "<=", "!="]))
        return refused("another operator", file_of(_function("go")), old)

    def moved_lines() -> Case:
        old = _function("go")
        old[2:6] = source.sample(old[2:6], 4)
        if old == _function("go"):
            old[2], old[3] = old[3], old[2]
        return refused("lines in another order", file_of(_function("go")), old)

    def half_matching() -> Case:
        lines = _function("go")
        old = [
            *lines[:2],
            "    log(item)",
            "    for each in item:",
            "        send(each)",
            *lines[-1:],
        ]
        return refused("only the ends match", file_of(lines), old)

    def twice_elsewhere_indented() -> Case:
        block = _function("go")[2:6]
        deep = [f"    {line}" for line in block]
        text = file_of(["def one():", *block], ["class Two:", "    def two():", *deep])
        return refused("twice, at two depths", text, [f"  {line}" for line in deep])

    def commented_out() -> Case:
        text = file_of([f"# {line}" for line in _function("go")])
        return refused("commented out", text, _function("go"))

    def gone() -> Case:
        old = _function("go_away", noun="thing")
        text = file_of(_function("stay", noun="thing", step=3))
        return refused("deleted, a sibling is left", text, old)

    def other_note() -> Case:
        one = _function("go", note="For the first of them, as long as it lasts.")
        two = _function("go", note="For the second of them, as long as it lasts.")
        old = _function("go", note="For the third of them, as long as it lasts.")
        return refused("same code twice, other notes", file_of(one, two), old)

    def sibling_beside() -> Case:
        one, two, _ = names()
        text = file_of(_function(one), _function(two))
        right = _function(two)
        new = _with_change(right, 2)
        wanted = text.replace("\n".join(right), "\n".join(new))
        old = [f"{line}  " for line in right]
        return Case("inexact beside a sibling", text, "\n".join(old), "\n".join(new), wanted)

    yield from (
        third_of_two, other_name, other_number, other_noun, other_operator, moved_lines,
        half_matching, twice_elsewhere_indented, commented_out, gone, other_note, sibling_beside,
    )  # fmt: skip
