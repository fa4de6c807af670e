"""Dialects without marks of their own: fenced and bare JSON, Python calls, `Action:` lines, a tool's tags.

Prose can look like them, so they count only at the very end of an answer, only for tools that are on
offer, as Python only with arguments that fit, and not where the words before call it an example. A call
that fits and has words behind it is no answer either: it is handed back.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from hame.base.errors import ArgumentError
from hame.base.json import as_object
from hame.base.schema import check_arguments
from hame.llm.textcalls.example import is_example, is_explained
from hame.llm.textcalls.marks import CLOSER, OPEN
from hame.llm.textcalls.pythonic import read_python
from hame.llm.textcalls.shapes import Spoken, calls_in, plain_name, typed
from hame.llm.textcalls.tagged import Tools, read_section
from hame.llm.textcalls.values import read_object, read_value

FENCES = frozenset({
    "", "json", "json5", "jsonc", "tool_call", "tool_calls", "tool_code", "python", "py", "tool", "xml",
    "function_call", "action",
})  # fmt: skip
"""What a fence around a call may say it holds, in lower case."""
FENCE = re.compile(
    r"^[ \t]*(?P<fence>```|~~~)(?P<kind>[\w-]*)[ \t]*\n(?P<body>.*?)(?:^[ \t]*(?P=fence)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_SHORT_FENCE = re.compile(
    r"^[ \t]*```(?P<kind>[\w-]*)[ \t]+(?P<body>[\[{][^\n]*[\]}])[ \t]*```[ \t]*$", re.MULTILINE
)
_BARE = re.compile(
    r"(?:^|:|\b(?:call|calling|invoke|invoking|use|using))[ \t]*(?P<value>[\[{])", re.MULTILINE
)
_MOST_SPENT = 1_000_000
"""Letters that are read in vain before an answer is taken for words."""
_BETWEEN = re.compile(r"[\s;,]*")
_BEGUN = re.compile(
    r"\{\s*[\"'](?:name|tool|tool_name|function|action)[\"']\s*:\s*[\"']([\w.:-]+)[\"']"
)
_ACTION = re.compile(r"^Action:[ \t]*([\w.-]+)[ \t]*\n+Action Input:[ \t]*", re.MULTILINE)
_RECIPIENT = re.compile(r"^>>>[ \t]*([\w.-]+)[ \t]*\n", re.MULTILINE)
_OBSERVATION = re.compile(r"\n\s*Observation:")
_PYTHON = re.compile(
    r"^[ \t]*(?:\[|print\()?(?:default_api\.|functions\.|tools\.)?([A-Za-z_]\w*)\(", re.MULTILINE
)
_CUT = re.compile(r"\s*\w+\s*=\s*(?:\"[^\"\n]*|'[^'\n]*|\w*)\s*")
"""The rest of a Python call that ends within its first argument."""
_TAG = re.compile(r"^[ \t]*<([A-Za-z_]\w*)>", re.MULTILINE)
_CHILD = re.compile(r"\s*<([A-Za-z_]\w*)>(.*?)</\1>", re.DOTALL)


class Tail(msgspec.Struct, frozen=True):
    """The end of an answer that is a call, or began to be one."""

    start: int
    calls: tuple[Spoken, ...] = ()
    """Empty: it was cut, or cannot be read."""


def read_tail(text: str, tools: Tools) -> Tail | None:
    """The calls that an answer ends with; None when it ends in words."""
    text = _without_code(text)
    whole = re.sub(rf"(?:{CLOSER.pattern})+\s*\Z", "", text)
    for read in (_fenced, _action, _recipient, _tool_tags, _bare, _python):
        tail = read(whole, tools)
        if tail is not None and not is_example(text[: tail.start]):
            return tail
    return _amid(text, tools)


def _amid(text: str, tools: Tools) -> Tail | None:
    """A call that fits, with words behind it which do not explain it: whether it is meant is unsure."""
    for block in (*FENCE.finditer(text), *_SHORT_FENCE.finditer(text)):
        calls = _calls_of(block["body"].strip(), tools) if _may_hold(block) else None
        if _may_be_meant(calls, text[: block.start()], text[block.end() :], tools):
            return Tail(block.start())
    for at, read in _sequences(text, tools):
        if read is not None and _may_be_meant(read[0], text[:at], text[read[1] :], tools):
            return Tail(at)
    return None


def _may_be_meant(calls: tuple[Spoken, ...] | None, before: str, after: str, tools: Tools) -> bool:
    if not calls or not all(_fits(call, tools) for call in calls):
        return False
    return not is_example(before) and not is_explained(after)


def _without_code(text: str) -> str:
    """The text with all blocks made illegible that are of some other language."""
    return FENCE.sub(lambda block: block[0] if _may_hold(block) else "." * len(block[0]), text)


def _may_hold(block: re.Match[str]) -> bool:
    return block["kind"].lower() in FENCES


def _fenced(text: str, tools: Tools) -> Tail | None:
    blocks = sorted((*FENCE.finditer(text), *_SHORT_FENCE.finditer(text)), key=lambda m: m.end())
    if not blocks or text[blocks[-1].end() :].strip() or not _may_hold(blocks[-1]):
        return None
    last, body = blocks[-1], blocks[-1]["body"].strip()
    calls = _tagged(body, tools) or _calls_of(body, tools) or _python_calls(body, tools)
    if calls is not None:
        return Tail(last.start(), calls)
    return Tail(last.start()) if _was_begun(body, tools) else None


def _tagged(text: str, tools: Tools) -> tuple[Spoken, ...] | None:
    """A call in tags that fills the fence."""
    mark = OPEN.match(text)
    section = read_section(text, mark, tools) if mark is not None else None
    if section is None or section.broken or text[section.end :].strip():
        return None
    return _offered(section.calls, tools)


def _bare(text: str, tools: Tools) -> Tail | None:
    for at, read in _sequences(text, tools):
        rest = text[read[1] if read is not None else at :]
        if read is not None and not rest.strip("` \t\r\n"):
            return Tail(at, read[0])
        if _was_begun(rest, tools):
            return Tail(at)  # Where one of several was cut, none is surely all that was meant.
    return None


def _sequences(
    text: str, tools: Tools
) -> Iterator[tuple[int, tuple[tuple[Spoken, ...], int] | None]]:
    """Where calls as JSON may begin, and what is there; not within one that was read."""
    at = spent = 0
    while spent < _MOST_SPENT and (begun := _BARE.search(text, at)):
        start = begun.start("value")
        read = _sequence(text, start, tools)
        yield start, read
        at = read[1] if read is not None else start + 1
        if read is None:
            value = read_value(text, start)
            spent += (value[1] if value is not None else len(text)) - start


def _sequence(text: str, at: int, tools: Tools) -> tuple[tuple[Spoken, ...], int] | None:
    """Calls as JSON, one after the other, and where they end; None where none begins there."""
    calls: list[Spoken] = []
    end = at
    while found := read_value(text, at):
        offered = _offered(calls_in(found[0], tools), tools)
        if offered is None:
            break
        calls += offered
        end = found[1]
        between = _BETWEEN.match(text, end)
        at = between.end() if between else end
    return (tuple(calls), end) if calls else None


def _calls_of(text: str, tools: Tools) -> tuple[Spoken, ...] | None:
    """The calls that fill a text."""
    read = _sequence(text, 0, tools)
    return read[0] if read is not None and not text[read[1] :].strip() else None


def _offered(calls: Iterable[Spoken] | None, tools: Tools) -> tuple[Spoken, ...] | None:
    """The calls, if all are of tools on offer; what does not fit them is for the model to hear."""
    found = tuple(calls or ())
    return found if found and all(call.name in tools for call in found) else None


def _fits(call: Spoken, tools: Tools) -> bool:
    spec = tools.get(call.name)
    if spec is None or call.arguments is None:
        return False
    try:
        check_arguments(call.arguments, spec.schema())
    except ArgumentError:
        return False
    return True


def _was_begun(text: str, tools: Tools) -> bool:
    """Whether a text begins like a call of a tool on offer, and does not come to its end."""
    if read_value(text, 0) is not None:
        return False
    begun = _BEGUN.match(text.lstrip("[;, \n\t"))
    return begun is not None and plain_name(begun[1]) in tools


def _action(text: str, tools: Tools) -> Tail | None:
    """`Action:` and `Action Input:`; an observation that the model made up itself is cut off."""
    begun = next(reversed(list(_ACTION.finditer(text))), None)
    if begun is None or begun[1] not in tools:
        return None
    made_up = _OBSERVATION.search(text, begun.end())
    given = text[begun.end() : made_up.start() if made_up else len(text)].strip().strip("`").strip()
    arguments = read_object(given)
    if not given and _fits(Spoken(begun[1], {}), tools):
        arguments = {}
    call = Spoken(begun[1], arguments, "" if arguments is not None else given)
    return Tail(begun.start(), (call,))


def _python(text: str, tools: Tools) -> Tail | None:
    for line in _PYTHON.finditer(text):
        if line[1] in tools or line[0].strip().startswith(("[", "print(")):
            calls = _python_calls(text[line.start() :].strip(), tools)
            if calls is not None:
                return Tail(line.start(), calls)
        if line[1] in tools and _CUT.fullmatch(text, line.end()):
            return Tail(line.start())
    return None


def _python_calls(text: str, tools: Tools) -> tuple[Spoken, ...] | None:
    calls = read_python(text)
    return calls if calls and all(_fits(call, tools) for call in calls) else None


def _recipient(text: str, tools: Tools) -> Tail | None:
    """`>>>read_file` and its arguments on the next line."""
    begun = list(_RECIPIENT.finditer(text))
    called = [mark for mark in begun if mark[1] in tools]
    if not called:
        return None
    ends = [mark.start() for mark in begun if mark.start() > called[0].start()]
    calls: list[Spoken] = []
    for mark, end in zip(called, [*ends, len(text)], strict=False):
        given = text[mark.end() : end].strip()
        arguments = read_object(given)
        calls.append(Spoken(mark[1], arguments, "" if arguments is not None else given))
    return Tail(called[0].start(), tuple(calls))


def _tool_tags(text: str, tools: Tools) -> Tail | None:
    """`<read_file><path>a.txt</path></read_file>`: a tool and its arguments as tags."""
    calls: list[Spoken] = []
    start = at = -1
    for mark in _TAG.finditer(text):
        if mark[1] not in tools or (start >= 0 and text[at : mark.start()].strip()):
            continue
        start = mark.start() if start < 0 else start
        texts, at = _children(text, mark.end())
        end = re.compile(rf"\s*</{mark[1]}>").match(text, at)
        properties = as_object(tools[mark[1]].schema().get("properties")) or {}
        if end is None or not set(texts) <= set(properties):
            return Tail(start) if end is None else None
        calls.append(Spoken(mark[1], typed(texts, tools[mark[1]])))
        at = end.end()
    return Tail(start, tuple(calls)) if calls and not text[at:].strip() else None


def _children(text: str, at: int) -> tuple[dict[str, str], int]:
    texts: dict[str, str] = {}
    while child := _CHILD.match(text, at):
        texts[child[1]] = child[2].removeprefix("\n").removesuffix("\n")
        at = child.end()
    return texts, at
