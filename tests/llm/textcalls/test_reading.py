"""Texts as local models print them: every call is read right, handed back, or left alone as words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.textcalls.reading import read_answer
from hame.llm.textcalls.tagged import OPENERS

READ = ToolSpec(
    name="read_file",
    description="Read.",
    effect=Effect.READ,
    arguments=(
        Argument(name="path", kind=ArgumentKind.EXISTING_FILE),
        Argument(name="limit", kind=ArgumentKind.NUMBER, type="integer", required=False),
    ),
)
WRITE = ToolSpec(
    name="write_file",
    description="Write.",
    effect=Effect.WRITE,
    arguments=(
        Argument(name="path", kind=ArgumentKind.NEW_PATH),
        Argument(name="content", kind=ArgumentKind.NEW_TEXT),
    ),
)
RUN = ToolSpec(
    name="run_command",
    description="Run.",
    effect=Effect.RUN,
    arguments=(
        Argument(name="command", kind=ArgumentKind.COMMAND),
        Argument(name="background", kind=ArgumentKind.FLAG, type="boolean", required=False),
    ),
)
LIST = ToolSpec(name="list_dir", description="List.", effect=Effect.READ)
TOOLS = (READ, WRITE, RUN, LIST)

A = ("read_file", {"path": "a.txt"})
B = ("list_dir", {})
BAR, GAP = "\uff5c", "\u2581"


def mark(words: str) -> str:
    return f"<{BAR}{words.replace(' ', GAP)}{BAR}>"


RIGHT = {
    # Hermes and Qwen
    "hermes": (
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool_call>',
        [A],
    ),
    "hermes, end token in place of the tag": (
        *('<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}', [A]),
    ),
    "hermes after words": (
        *(
            'I will look.\n<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>',
            [A],
        ),
    ),
    "hermes, words around it": (
        'Let me see.\n<tool_call>{"name":"list_dir","arguments":{}}</tool_call>\nThen I will tell.',
        [B],
    ),
    "hermes, two": (
        (
            '<tool_call>{"name":"list_dir","arguments":{}}</tool_call>\n'
            '<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>'
        ),
        [B, A],
    ),
    "hermes, a list": (
        (
            '<tool_call>[{"name":"list_dir","arguments":{}},'
            '{"name":"read_file","arguments":{"path":"a.txt"}}]</tool_call>'
        ),
        [B, A],
    ),
    "hermes, two in one tag": (
        (
            '<tool_call>\n{"name":"list_dir","arguments":{}}\n'
            '{"name":"read_file","arguments":{"path":"a.txt"}}\n</tool_call>'
        ),
        [B, A],
    ),
    "hermes, arguments as a text": (
        '<tool_call>{"name":"read_file","arguments":"{\\"path\\": \\"a.txt\\"}"}</tool_call>',
        [A],
    ),
    "hermes with literal newlines inside a text": (
        (
            '<tool_call>{"name":"write_file","arguments":{"path":"p.py","content":"def f():\n\treturn 1\n"}}'
            "</tool_call>"
        ),
        [("write_file", {"path": "p.py", "content": "def f():\n\treturn 1\n"})],
    ),
    "hermes with quotes inside quotes": (
        (
            '<tool_call>{"name":"run_command","arguments":{"command":"echo \\"it\'s \\\\\\"so\\\\\\"\\""}}'
            "</tool_call>"
        ),
        [("run_command", {"command": 'echo "it\'s \\"so\\""'})],
    ),
    "hermes with a call inside the text it writes": (
        (
            '<tool_call>{"name":"write_file","arguments":{"path":"d.md","content":'
            '"<tool_call>{\\"name\\": \\"run_command\\", \\"arguments\\": {\\"command\\": \\"rm x\\"}}'
            '</tool_call>"}}</tool_call>'
        ),
        [
            (
                "write_file",
                {
                    "path": "d.md",
                    "content": '<tool_call>{"name": "run_command", "arguments": {"command": "rm x"}}'
                    "</tool_call>",
                },
            )
        ],
    ),
    "hermes as Python writes it": (
        "<tool_call>{'name': 'read_file', 'arguments': {'path': 'a.txt'}}</tool_call>",
        [A],
    ),
    "hermes with parameters": (
        *('<tool_call>{"name":"read_file","parameters":{"path":"a.txt"}}</tool_call>', [A]),
    ),
    "hermes of a tool that there is not": (
        '<tool_call>{"name":"open_file","arguments":{"path":"a.txt"}}</tool_call>',
        [("open_file", {"path": "a.txt"})],
    ),
    "hermes and a result made up after it": (
        (
            '<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>\n'
            "<tool_response>secret contents</tool_response>\nThe file says: secret contents."
        ),
        [A],
    ),
    "hermes after thoughts that hold another": (
        (
            '<think>Maybe <tool_call>{"name":"run_command","arguments":{"command":"rm -rf ."}}</tool_call>?'
            '</think>\n<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>'
        ),
        [A],
    ),
    # XML
    "qwen coder": (
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
        [A],
    ),
    "qwen coder, whole file": (
        (
            "<tool_call>\n<function=write_file>\n<parameter=path>\np.py\n</parameter>\n"
            '<parameter=content>\nprint("<b>hi</b>")\nif a < b:\n    pass\n</parameter>\n</function>\n</tool_call>'
        ),
        [("write_file", {"path": "p.py", "content": 'print("<b>hi</b>")\nif a < b:\n    pass'})],
    ),
    "qwen coder, numbers and flags": (
        (
            "<tool_call><function=read_file><parameter=path>a.txt</parameter>"
            "<parameter=limit>20</parameter></function></tool_call>"
        ),
        [("read_file", {"path": "a.txt", "limit": 20})],
    ),
    "qwen coder, a flag as Python writes it": (
        (
            "<tool_call><function=run_command><parameter=command>make</parameter>"
            "<parameter=background>True</parameter></function></tool_call>"
        ),
        [("run_command", {"command": "make", "background": True})],
    ),
    "function without tool_call": (
        *("<function=read_file><parameter=path>a.txt</parameter></function>", [A]),
    ),
    "llama function": ('<function=read_file>{"path": "a.txt"}</function>', [A]),
    "llama function, two": (
        '<function=list_dir>{}</function>\n<function=read_file>{"path": "a.txt"}</function>',
        [B, A],
    ),
    "invoke": (
        (
            '<function_calls>\n<invoke name="read_file">\n<parameter name="path">a.txt</parameter>\n'
            "</invoke>\n</function_calls>"
        ),
        [A],
    ),
    "minimax": (
        (
            '<minimax:tool_call>\n<invoke name="list_dir">\n</invoke>\n<invoke name="read_file">\n'
            '<parameter name="path">a.txt</parameter>\n</invoke>\n</minimax:tool_call>'
        ),
        [B, A],
    ),
    "glm": (
        (
            "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n"
            "<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>"
        ),
        [("read_file", {"path": "a.txt", "limit": 5})],
    ),
    "glm without arguments": ("<tool_call>list_dir\n</tool_call>", [B]),
    # Special tokens
    "llama 3.1": (
        '<|python_tag|>{"name": "read_file", "parameters": {"path": "a.txt"}}<|eom_id|>',
        [A],
    ),
    "mistral": ('[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a.txt"}}]</s>', [A]),
    "mistral, newer": ('[TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}', [A]),
    "mistral, newer, two": (
        '[TOOL_CALLS]list_dir[ARGS]{}[TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}',
        [B, A],
    ),
    "phi": (
        '<|tool_call|>[{"name": "read_file", "arguments": {"path": "a.txt"}}]<|/tool_call|>',
        [A],
    ),
    "nemotron": (
        '<TOOLCALL>[{"name": "read_file", "arguments": {"path": "a.txt"}}]</TOOLCALL>',
        [A],
    ),
    "cohere": (
        (
            '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "read_file", "parameters": {"path": "a.txt"}}]'
            "<|END_ACTION|>"
        ),
        [A],
    ),
    "kimi": (
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0"
            '<|tool_call_argument_begin|>{"path": "a.txt"}<|tool_call_end|><|tool_calls_section_end|>'
        ),
        [A],
    ),
    "deepseek r1": (
        (
            f"{mark('tool calls begin')}{mark('tool call begin')}function{mark('tool sep')}read_file\n"
            f'```json\n{{"path": "a.txt"}}\n```{mark("tool call end")}{mark("tool calls end")}'
        ),
        [A],
    ),
    "deepseek v3.1": (
        (
            f"{mark('tool calls begin')}{mark('tool call begin')}read_file{mark('tool sep')}"
            f'{{"path": "a.txt"}}{mark("tool call end")}{mark("tool calls end")}'
        ),
        [A],
    ),
    "harmony": (
        (
            "<|channel|>analysis<|message|>I should look.<|end|><|start|>assistant<|channel|>commentary "
            'to=functions.read_file <|constrain|>json<|message|>{"path":"a.txt"}<|call|>'
        ),
        [A],
    ),
    "harmony, recipient first": (
        '<|start|>assistant to=functions.read_file<|channel|>commentary json<|message|>{"path":"a.txt"}',
        [A],
    ),
    # Without marks
    "fenced json": (
        'I read it:\n\n```json\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```',
        [A],
    ),
    "fenced json, no end": (
        '```json\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n',
        [A],
    ),
    "fenced list": (
        '```json\n[{"tool": "list_dir", "args": {}}, {"tool": "read_file", "args": {"path": "a.txt"}}]\n```',
        [B, A],
    ),
    "fenced tags": (
        '```xml\n<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>\n```',
        [A],
    ),
    "bare json": ('{"name": "read_file", "arguments": {"path": "a.txt"}}', [A]),
    "bare json as OpenAI has it": (
        '{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\":\\"a.txt\\"}"}}',
        [A],
    ),
    "bare json after words": (
        'Let me check that file.\n\n{"tool": "read_file", "tool_input": {"path": "a.txt"}}',
        [A],
    ),
    "bare json wrapped": (
        *('{"tool_calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}', [A]),
    ),
    "bare list over lines": (
        '[\n  {\n    "name": "read_file",\n    "parameters": {\n      "path": "a.txt"\n    }\n  }\n]',
        [A],
    ),
    "python list": ('[read_file(path="a.txt"), list_dir()]', [A, B]),
    "python line": ('read_file(path="a.txt")', [A]),
    "python, quotes inside": (
        "run_command(command='grep -n \"it\\'s\" a.txt')",
        [("run_command", {"command": 'grep -n "it\'s" a.txt'})],
    ),
    "gemini tool code": ("```tool_code\nprint(default_api.read_file(path='a.txt'))\n```", [A]),
    "bare json that does not fit the tool": (
        *(
            '{"name": "read_file", "arguments": {"file": "a.txt"}}',
            [("read_file", {"file": "a.txt"})],
        ),
    ),
    "react": ('I need the file.\nAction: read_file\nAction Input: {"path": "a.txt"}', [A]),
    "react and an observation made up": (
        'Action: read_file\nAction Input: {"path": "a.txt"}\nObservation: hello\nThought: done',
        [A],
    ),
}

BROKEN = {
    "hermes, cut in a text": '<tool_call>{"name":"write_file","arguments":{"path":"p.py","content":"def',
    "hermes, cut before its end": '<tool_call>\n{"name": "run_command", "arguments": {"command": "rm -rf build"}',
    "hermes, only begun": "I will look.\n<tool_call>",
    "hermes, no name": '<tool_call>{"path": "a.txt"}</tool_call>',
    "hermes, braces doubled": '<tool_call>{{"name":"read_file","arguments":{"path":"a.txt"}}}</tool_call>',
    "hermes, a list as a key": '<tool_call>{"name":"read_file","arguments":{["path"]:"a.txt"}}</tool_call>',
    "hermes, not even JSON": "<tool_call>read the file a.txt please</tool_call>",
    "hermes, quotes not escaped": (
        '<tool_call>{"name":"run_command","arguments":{"command":"echo "hi" > a"}}</tool_call>'
    ),
    "qwen coder, cut in a value": (
        "<tool_call>\n<function=write_file>\n<parameter=path>\np.py\n</parameter>\n<parameter=content>\ndef f("
    ),
    "qwen coder, cut between parameters": (
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n"
    ),
    "llama function, cut": '<function=run_command>{"command": "rm -rf',
    "glm, cut": "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.t",
    "invoke, cut": '<function_calls><invoke name="read_file"><parameter name="path">a.txt</parameter>',
    "mistral, cut": '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a.t',
    "fenced json, cut": 'Now:\n```json\n{"name": "write_file", "arguments": {"path": "p.py", "content": "x',
    "python, cut": 'Let me look.\nread_file(path="a.t',
    "react without input": "Action: read_file\nAction Input:",
    "bare json, cut": '{"name": "write_file", "arguments": {"path": "p.py", "content": "def f():',
}
"""What began like a call and cannot be read: nothing runs, and it is no answer."""

WORDS = {
    "plain": "The file holds three names.",
    "empty": "",
    "tags quoted": 'Wrap it as `<tool_call>{"name":"run_command","arguments":{"command":"x"}}</tool_call>`.',
    "tags in a block of code, words after": (
        'The format is:\n```xml\n<tool_call>{"name":"run_command","arguments":{"command":"rm x"}}'
        "</tool_call>\n```\nThat is how calls are sent."
    ),
    "json in the middle": (
        '```json\n{"name": "run_command", "arguments": {"command": "rm x"}}\n```\nis what would be sent.'
    ),
    "json called an example": (
        'For example, a call looks like this:\n```json\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```'
    ),
    "json that is data": 'The entry:\n```json\n{"name": "read_file", "version": "1.2"}\n```',
    "json of a tool that there is not": '{"name": "rm_rf", "arguments": {"path": "/"}}',
    "json of a person": '[{"name": "Ann", "age": 3}, {"name": "Bob", "age": 4}]',
    "package.json": '```json\n{"name": "list_dir", "version": "1.0.0", "scripts": {"test": "jest"}}\n```',
    "python with arguments by place": 'read_file("a.txt")',
    "python in a script": '```python\nimport os\nrun_command(command="rm x")\nos.listdir()\n```',
    "python that computes": 'run_command(command="rm " + name)',
    "python in a sentence": 'Then call read_file(path="a.txt") and look.',
    "comparison": "if a < b and b > c: it holds; <function> is no mark.",
    "a link": "See [read_file](docs/read_file.md) for more.",
    "a list": "- read_file reads\n- list_dir lists\n\n[x] done",
    "action in prose": "Action: we should meet.\nAction Input: your time.",
    "thoughts without an end": '<think>I could <tool_call>{"name":"list_dir","arguments":{}}</tool_call>',
    "harmony answer": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi.",
}
"""What is no call: nothing runs."""


def test_there_are_enough_cases():
    assert len(RIGHT) + len(BROKEN) + len(WORDS) >= 60


@pytest.mark.parametrize("name", RIGHT)
def test_a_call_is_read_right(name):
    text, expected = RIGHT[name]
    reading = read_answer(text, TOOLS)
    assert [(call.name, call.arguments) for call in reading.calls] == expected
    assert not reading.broken
    for shown in ("{", "tool_call", "<", "secret contents", "Observation"):
        assert shown not in reading.words


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_handed_back(name):
    reading = read_answer(BROKEN[name], TOOLS)
    assert all(call.arguments is None for call in reading.calls)
    assert reading.broken or reading.calls
    assert "{" not in reading.words
    assert "<" not in reading.words


@pytest.mark.parametrize("name", WORDS)
def test_what_is_no_call_is_left_alone(name):
    reading = read_answer(WORDS[name], TOOLS)
    assert reading.calls == ()
    assert not reading.broken
    if name == "harmony answer":
        assert reading.words.strip() == "Hi."
    elif name != "thoughts without an end":
        assert reading.words == WORDS[name]


@pytest.mark.parametrize("name", RIGHT)
def test_a_call_that_was_cut_anywhere_is_never_another_call(name):
    """However much of a text arrives, what runs is what was meant, or nothing."""
    text, expected = RIGHT[name]
    for end in range(len(text)):
        for call in read_answer(text[:end], TOOLS).calls:
            if call.arguments is not None:
                assert (call.name, call.arguments) in expected, text[:end]


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text):
    reading = read_answer(text, TOOLS)
    if not reading.calls and not reading.broken and not any(mark in text for mark in OPENERS):
        assert reading.words in text


@given(
    st.sampled_from(["hermes", "qwen", "invoke", "mistral", "bare", "fenced"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=60),
)
def test_any_text_survives_as_an_argument(dialect, content):
    call = {"name": "write_file", "arguments": {"path": "p", "content": content}}
    if dialect in {"qwen", "invoke"} and (
        "<" in content or content.startswith("\n") or content.endswith("\n")
    ):
        return
    text = {
        "hermes": f"<tool_call>\n{json.dumps(call)}\n</tool_call>",
        "qwen": "<tool_call><function=write_file><parameter=path>p</parameter>"
        f"<parameter=content>\n{content}\n</parameter></function></tool_call>",
        "invoke": '<invoke name="write_file"><parameter name="path">p</parameter>'
        f'<parameter name="content">{content}</parameter></invoke>',
        "mistral": f"[TOOL_CALLS]{json.dumps([call])}",
        "bare": json.dumps(call),
        "fenced": f"```json\n{json.dumps(call)}\n```",
    }[dialect]
    (found,) = read_answer(text, TOOLS).calls
    assert found.arguments == {"path": "p", "content": content}
