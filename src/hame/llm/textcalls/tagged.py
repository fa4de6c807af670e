"""Dialects with marks of their own, which no prose has by accident.

Hermes and Qwen `<tool_call>`, Qwen coder and Llama `<function=...>`, GLM `<arg_key>`, `<invoke>`,
Mistral `[TOOL_CALLS]`, Llama `<|python_tag|>`, DeepSeek and Kimi sections, Phi, Nemotron and Cohere
lists, and the channels of Harmony (https://cookbook.openai.com/articles/openai-harmony). A mark that
is opened and leads nowhere is a broken call, never an answer.
"""

import re
from collections.abc import Callable, Mapping

import msgspec

from hame.base.json import as_object
from hame.base.tool import ToolSpec
from hame.llm.textcalls.shapes import Spoken, calls_in, plain_name, typed
from hame.llm.textcalls.values import read_object, read_value

Tools = Mapping[str, ToolSpec]


def _deepseek(words: str) -> str:
    """A mark of DeepSeek's, whose bars and gaps are letters of their own."""
    return "<\uff5c" + words.replace(" ", "\u2581") + "\uff5c>"


OPENERS = (
    "<tool_call>", "<tool_calls>", "<TOOLCALL>", "<|tool_call|>", "<|tool_calls|>",
    "<function_call>", "<function_calls>", "<function=", "<invoke name=", "<minimax:tool_call>",
    "[TOOL_CALLS]", "<|python_tag|>", "<|START_ACTION|>", "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>", _deepseek("tool calls begin"), _deepseek("tool call begin"), "<|channel|>",
    "<|start|>",
)  # fmt: skip
"""What a call, or something beside the answer, begins with."""

OPEN = re.compile("|".join(map(re.escape, OPENERS)))
_CLOSERS = re.compile(
    r"\s*(?:</tool_calls?>|</TOOLCALL>|<\|/tool_calls?\|>|</function_calls?>|</minimax:tool_call>"
    r"|<\|END_ACTION\|>|<\|tool_calls_section_end\|>|<\|tool_call_end\|>|<\uff5ctool\u2581calls?\u2581end\uff5c>"
    r"|<\|(?:eom|eot)_id\|>|<\|im_end\|>|<\|call\|>|<\|end\|>|</s>|\[/TOOL_CALLS\])"
)
_FUNCTION = re.compile(r"\s*<function=([^>\s]+)>")
_PARAMETER = re.compile(r"\s*<parameter=([^>]+)>(.*?)</parameter>", re.DOTALL)
_FUNCTION_END = re.compile(r"\s*</function>")
_INVOKE = re.compile(r"\s*<invoke name=[\"']([^\"']+)[\"']\s*>")
_NAMED_PARAMETER = re.compile(
    r"\s*<parameter name=[\"']([^\"']+)[\"'][^>]*>(.*?)</parameter>", re.DOTALL
)
_INVOKE_END = re.compile(r"\s*</invoke>")
_GLM_NAME = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*(?=<arg_key>|</tool_call>)")
_GLM_PAIR = re.compile(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_MISTRAL = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*(?:\[CALL_ID\]\w+)?\[ARGS\]")
_DEEPSEEK = re.compile(
    rf"\s*(?:{_deepseek('tool call begin')})?\s*(?:function\s*)?(?:{_deepseek('tool sep')})?"
    rf"([A-Za-z_][\w.-]*)(?:{_deepseek('tool sep')})?\s*(?:```json)?"
)
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


def read_section(text: str, mark: re.Match[str], tools: Tools) -> Section:
    """What begins at a mark."""
    if mark[0] in {"<|channel|>", "<|start|>"}:
        return _channel(text, mark.start())
    at = mark.start() if mark[0].startswith(("<function=", "<invoke")) else mark.end()
    calls: list[Spoken] = []
    while True:
        read = _one(text, at, tools)
        if read is None:
            break
        found, at = read
        calls += found
        at = _skip_closers(text, at)
    if not calls:
        return Section(end=len(text), broken=True)
    # What follows is told apart from another call that was begun and cut.
    rest = text[at:].lstrip()
    begun = rest.startswith(("<function=", "<invoke", "<parameter", "{", "[{"))
    return Section(end=at, calls=tuple(calls), broken=begun)


def _one(text: str, at: int, tools: Tools) -> tuple[list[Spoken], int] | None:
    """One call, or one list of calls, that begins there; None for none, or a cut one."""
    for read in _READERS:
        found = read(text, at, tools)
        if found is not None:
            return found
    return None


def _json(text: str, at: int, _tools: Tools) -> tuple[list[Spoken], int] | None:
    found = read_value(text, at)
    calls = calls_in(found[0]) if found is not None else None
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
    return _parameters(text, begun, (_PARAMETER, _FUNCTION_END), tools)


def _invoke(text: str, at: int, tools: Tools) -> tuple[list[Spoken], int] | None:
    begun = _INVOKE.match(text, at)
    if begun is None:
        return None
    return _parameters(text, begun, (_NAMED_PARAMETER, _INVOKE_END), tools)


def _parameters(
    text: str,
    begun: re.Match[str],
    forms: tuple[re.Pattern[str], re.Pattern[str]],
    tools: Tools,
) -> tuple[list[Spoken], int] | None:
    name, at = plain_name(begun[1]), begun.end()
    parameter, closing = forms
    texts: dict[str, str] = {}
    while found := parameter.match(text, at):
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


def _skip_closers(text: str, at: int) -> int:
    while closer := _CLOSERS.match(text, at):
        at = closer.end()
    while opener := re.compile(r"\s*(?:" + OPEN.pattern + ")").match(text, at):
        if opener[0].strip().startswith(("<function=", "<invoke", "<|channel", "<|start")):
            break
        at = opener.end()
    return at


def _unframed(text: str) -> str:
    """A value without the newline that frames it on each side."""
    return text.removeprefix("\n").removesuffix("\n")
