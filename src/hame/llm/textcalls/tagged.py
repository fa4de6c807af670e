"""Dialects with marks of their own, which no prose has by accident.

Hermes and Qwen `<tool_call>`, Qwen coder and Llama `<function=...>`, GLM `<arg_key>`, `<invoke>`,
Mistral `[TOOL_CALLS]`, LM Studio `[TOOL_REQUEST]`, Llama `<|python_tag|>`, LFM and Olmo with Python
inside, DeepSeek and Kimi sections, Phi, Nemotron, InternLM and Cohere lists, FunctionGemma, and the
channels of Harmony (https://cookbook.openai.com/articles/openai-harmony). A mark that is opened and
leads nowhere is a broken call, never an answer.
"""

import re
from collections.abc import Callable, Mapping

import msgspec

from hame.base.json import as_object
from hame.base.tool import ToolSpec
from hame.llm.textcalls.marks import CLOSER, OPEN, SPACE, TOKEN
from hame.llm.textcalls.pythonic import read_python
from hame.llm.textcalls.shapes import Spoken, calls_in, plain_name, typed
from hame.llm.textcalls.values import read_object, read_value

Tools = Mapping[str, ToolSpec]

_OPENERS = re.compile(rf"\s*(?:{OPEN.pattern})")
_CLOSERS = re.compile(rf"\s*[\]}}]{{0,3}}{CLOSER.pattern}")
_PYTHON = re.compile(r"\s*\[?\s*(?:print\s*\(\s*)?[A-Za-z_][\w.]*\s*\(")
_MOST_ENDS = 20
"""Marks within a call of Python that are tried as its end."""


_FUNCTION = re.compile(r"\s*<function(?:=|\s+name=)[\"']?([^>\"'\s]+)[\"']?\s*>")
_FUNCTION_END = re.compile(r"\s*</function>")
_INVOKE = re.compile(rf"\s*<{SPACE}invoke\s+name=[\"']([^\"'>]+)[\"']\s*>")
_INVOKE_END = re.compile(rf"\s*</{SPACE}invoke>")
_PARAMETER = re.compile(
    rf"\s*<{SPACE}parameter(?:=|\s+name=)[\"']?([^>\"']+)[\"']?[^>]*>(.*?)</{SPACE}parameter>",
    re.DOTALL,
)
_GLM_NAME = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*(?=<arg_key>|</tool_call>)")
_GLM_PAIR = re.compile(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_MISTRAL = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*(?:\[CALL_ID\]\w+)?\[ARGS\]")
_DEEPSEEK_SEP = r"(?:<[|\uff5c]tool[_ \u2581]sep[|\uff5c]>)"
_DEEPSEEK = re.compile(
    rf"\s*(?:function\s*)?{_DEEPSEEK_SEP}?([A-Za-z_][\w.-]*)\s*{_DEEPSEEK_SEP}?\s*(?:```(?:json)?)?(?=\s*\{{)"
)
_GEMMA = re.compile(r"\s*call:([\w.-]+)\s*\{")
_GEMMA_PAIR = re.compile(
    r"\s*([\w-]+)\s*:\s*(?:<escape>(?P<text>.*?)<escape>|(?P<bare>[^,{}<]+))\s*(?:,|(?=\}))",
    re.DOTALL,
)
_TO = re.compile(r"(?P<name>[\w.-]+)[^{<]{0,60}(?=\{)")
_KIMI = re.compile(r"\s*(?:<\|tool_call_begin\|>)?\s*([\w.:-]+)\s*<\|tool_call_argument_begin\|>")
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*[\w.]*\s*)?(?:to=(?P<before>[\w.-]+)\s*)?<\|channel\|>\s*(?P<channel>\w+)"
    r"(?:\s+to=(?P<to>[\w.-]+))?[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
)
_CHANNEL_END = re.compile(r"<\|(?:end|call|return)\|>|(?=<\|start\|>)|(?=<\|channel\|>)")


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """What one mark led to."""

    end: int
    """Where it ends in the text."""
    calls: tuple[Spoken, ...] = ()
    words: str = ""
    """Words for the user, out of a channel for them."""
    broken: bool = False
    """It began like a call and is none."""
    token: bool = False
    """It was a special token and nothing else."""


def read_section(text: str, mark: re.Match[str], tools: Tools) -> Section:
    """What begins at a mark."""
    if mark["channel"]:
        return _channel(text, mark.start())
    if mark["to"]:
        return _recipient(text, mark)
    at = mark.start() if _is_part(mark[0]) else _skip_openers(text, mark.end())
    calls: list[Spoken] = []
    while read := _one(text, at, tools):
        found, at = read
        calls += found
        at = _skip_closers(text, at)
    if not calls and mark["weak"]:
        # It may be anything: the end of an answer, as of a template.
        words = "" if TOKEN.fullmatch(mark[0]) else mark[0]
        return Section(end=mark.end(), words=words, token=not words)
    if not calls:
        return Section(end=len(text), broken=True)
    # What follows is told apart from another call that was begun and cut.
    rest = text[at:].lstrip()
    begun = rest.startswith(("<function", "<invoke", "<parameter", "{", "[{"))
    return Section(end=at, calls=tuple(calls), broken=begun)


def _one(text: str, at: int, tools: Tools) -> tuple[list[Spoken], int] | None:
    """One call, or one list of calls, that begins there; None for none, or a cut one."""
    for read in _READERS:
        found = read(text, at, tools)
        if found is not None:
            return found
    return None


def _json(text: str, at: int, tools: Tools) -> tuple[list[Spoken], int] | None:
    found = read_value(text, at)
    calls = calls_in(found[0], tools) if found is not None else None
    return (calls, found[1]) if found is not None and calls is not None else None


def _function(text: str, at: int, tools: Tools) -> tuple[list[Spoken], int] | None:
    """`<function=name>` with parameters as tags, or with a JSON object."""
    begun = _FUNCTION.match(text, at)
    if begun is None:
        return None
    name = plain_name(begun[1])
    found = read_value(text, begun.end())
    if found is not None:
        end = _FUNCTION_END.match(text, found[1])
        arguments = as_object(found[0])
        if end is None or arguments is None:
            return None
        return [Spoken(name, arguments)], end.end()
    return _parameters(text, begun, _FUNCTION_END, tools)


def _invoke(text: str, at: int, tools: Tools) -> tuple[list[Spoken], int] | None:
    begun = _INVOKE.match(text, at)
    if begun is None:
        return None
    return _parameters(text, begun, _INVOKE_END, tools)


def _parameters(
    text: str, begun: re.Match[str], closing: re.Pattern[str], tools: Tools
) -> tuple[list[Spoken], int] | None:
    name, at = plain_name(begun[1]), begun.end()
    texts: dict[str, str] = {}
    while found := _PARAMETER.match(text, at):
        texts[found[1].strip()] = _unframed(found[2])
        at = found.end()
    end = closing.match(text, at)
    # Without its end it was cut: another parameter may have been to come.
    return ([Spoken(name, typed(texts, tools.get(name)))], end.end()) if end else None


def _glm(text: str, at: int, tools: Tools) -> tuple[list[Spoken], int] | None:
    begun = _GLM_NAME.match(text, at)
    if begun is None:
        return None
    name, at = plain_name(begun[1]), begun.end()
    texts: dict[str, str] = {}
    while found := _GLM_PAIR.match(text, at):
        texts[found[1].strip()] = found[2]
        at = found.end()
    if not re.compile(r"\s*</tool_call>").match(text, at):
        return None
    return [Spoken(name, typed(texts, tools.get(name)))], at


def _gemma(text: str, at: int, tools: Tools) -> tuple[list[Spoken], int] | None:
    """`call:read_file{path:<escape>a.txt<escape>}`."""
    begun = _GEMMA.match(text, at)
    if begun is None:
        return None
    name, at = plain_name(begun[1]), begun.end()
    texts: dict[str, str] = {}
    while found := _GEMMA_PAIR.match(text, at):
        bare, at = found["bare"], found.end()
        texts[found[1]] = found["text"] if bare is None else bare.strip()
    end = re.compile(r"\s*\}").match(text, at)
    return ([Spoken(name, typed(texts, tools.get(name)))], end.end()) if end else None


def _python(text: str, at: int, _tools: Tools) -> tuple[list[Spoken], int] | None:
    """Calls of Python up to the mark that closes them: the first one with which they can be read."""
    if _PYTHON.match(text, at) is None:
        return None
    ends = [closer.start() for closer in CLOSER.finditer(text, at)]
    for end in [*ends[:_MOST_ENDS], len(text)]:
        calls = read_python(text[at:end])
        if calls is not None:
            return list(calls), end
    return None


def _named_object(pattern: re.Pattern[str]) -> "Reader":
    """A reader of a name, a mark, and a JSON object."""

    def read(text: str, at: int, _tools: Tools) -> tuple[list[Spoken], int] | None:
        begun = pattern.match(text, at)
        found = read_value(text, begun.end()) if begun is not None else None
        arguments = as_object(found[0]) if found is not None else None
        if begun is None or found is None or arguments is None:
            return None
        end = re.compile(r"\s*```").match(text, found[1])
        return [Spoken(plain_name(begun[1]), arguments)], end.end() if end else found[1]

    return read


Reader = Callable[[str, int, Tools], tuple[list[Spoken], int] | None]
_READERS: tuple[Reader, ...] = (
    _json,
    _function,
    _invoke,
    _glm,
    _named_object(_MISTRAL),
    _named_object(_KIMI),
    _named_object(_DEEPSEEK),
    _gemma,
    _python,
)


def _channel(text: str, start: int) -> Section:
    """One message of Harmony: a call, words for the user, or thoughts, which are dropped."""
    head = _CHANNEL.match(text, start)
    if head is None:
        # `<|start|>assistant` alone, or a head that was cut.
        return Section(end=len(text), broken="to=" in text[start:])
    end = _CHANNEL_END.search(text, head.end())
    body = text[head.end() : end.start() if end else len(text)]
    stop = end.end() if end else len(text)
    name = head["to"] or head["before"]
    if name and name != "user":
        arguments = read_object(body)
        spoken = Spoken(plain_name(name), arguments, "" if arguments is not None else body)
        return Section(end=stop, calls=(spoken,))
    return Section(end=stop, words=body if head["channel"] == "final" else "")


def _recipient(text: str, mark: re.Match[str]) -> Section:
    """`to=functions.read_file json{...}`: Harmony whose special tokens were taken away."""
    head = _TO.match(text, mark.end())
    found = read_value(text, head.end()) if head is not None else None
    arguments = as_object(found[0]) if found is not None else None
    if head is None or found is None or arguments is None:
        return Section(end=len(text), broken=True)
    return Section(end=found[1], calls=(Spoken(plain_name(head["name"]), arguments),))


def _skip_closers(text: str, at: int) -> int:
    """Behind the marks that end a call, brackets too many before them, and those that begin the next."""
    while closer := _CLOSERS.match(text, at):
        at = closer.end()
    separator = re.compile(r"\s*[;,]\s*(?=[\[{])").match(text, at)
    return separator.end() if separator else _skip_openers(text, at)


def _skip_openers(text: str, at: int) -> int:
    """Behind marks that only lead to a call."""
    while opener := _OPENERS.match(text, at):
        if opener["channel"] or opener["to"] or _is_part(opener[0].strip()):
            break
        at = opener.end()
    return at


def _is_part(mark: str) -> bool:
    """Whether a mark is itself a part of the call."""
    return mark.endswith("=")


def _unframed(text: str) -> str:
    """A value without the newline that frames it on each side."""
    return text.removeprefix("\n").removesuffix("\n")
