"""Texts as local models print them: every call is read right, handed back, or left alone as words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.textcalls.marks import OPEN
from hame.llm.textcalls.reading import read_answer

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
    "seed": (
        *(
            "<seed:tool_call><function=read_file><parameter=path>a.txt</parameter></function></seed:tool_call>",
            [A],
        ),
    ),
    "qwen coder, names as attributes": (
        '<tool_call>\n<function name="read_file">\n<parameter name="path">a.txt</parameter>\n</function>\n</tool_call>',
        [A],
    ),
    "qwen coder without its first tag": (
        "<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
        [A],
    ),
    "qwen, the tag of the list of tools": (
        '<tools>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tools>',
        [A],
    ),
    "hermes, one brace too many": (
        '<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}}</tool_call>',
        [A],
    ),
    "hermes, only the closing tag": (
        '{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool_call>',
        [A],
    ),
    "hermes, the end of a thought inside the text it writes": (
        '<tool_call>{"name":"write_file","arguments":{"path":"t","content":"a</think>\\nb"}}</tool_call>',
        [("write_file", {"path": "t", "content": "a</think>\nb"})],
    ),
    "hermes after a word that only names a file": (
        'Let me look at the example file in e.g. docs.\n<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>',
        [A],
    ),
    "hunyuan": (
        '<tool_calls>\n<tool_call>read_file\n```json\n{"path": "a.txt"}\n```\n</tool_call>\n</tool_calls>',
        [A],
    ),
    "python in tags": ('<tool_call>read_file(path="a.txt")</tool_call>', [A]),
    "olmo": ('<function_calls>\nlist_dir()\nread_file(path="a.txt")\n</function_calls>', [B, A]),
    "lfm": ('<|tool_call_start|>[list_dir(), read_file(path="a.txt")]<|tool_call_end|>', [B, A]),
    "lfm, a mark inside the text it writes": (
        '<|tool_call_start|>[write_file(path="t", content="</tool_call>")]<|tool_call_end|>',
        [("write_file", {"path": "t", "content": "</tool_call>"})],
    ),
    "llama 4": ('<|python_start|>[read_file(path="a.txt")]<|python_end|>', [A]),
    "llama 3.1, python": ('<|python_tag|>read_file.call(path="a.txt")<|eom_id|>', [A]),
    "llama 3.1, two": (
        '<|python_tag|>{"name": "list_dir", "parameters": {}}; {"name": "read_file", "parameters": {"path": "a.txt"}}',
        [B, A],
    ),
    "lm studio": (
        '[TOOL_REQUEST]{"name": "read_file", "arguments": {"path": "a.txt"}}[END_TOOL_REQUEST]',
        [A],
    ),
    "phi 4": ('functools[{"name": "read_file", "arguments": {"path": "a.txt"}}]', [A]),
    "internlm": (
        'I look.<|action_start|><|plugin|>\n{"name": "read_file", "parameters": {"path": "a.txt"}}<|action_end|>',
        [A],
    ),
    "apertus": ('<|tools_prefix|>[{"read_file": {"path": "a.txt"}}]<|tools_suffix|>', [A]),
    "functiongemma": (
        "<start_function_call>call:read_file{path:<escape>a.txt<escape>,limit:5}<end_function_call>",
        [("read_file", {"path": "a.txt", "limit": 5})],
    ),
    "gemma, tag of code": (
        '<tool_code>\nprint(default_api.read_file(path="a.txt"))\n</tool_code>',
        [A],
    ),
    "deepseek v3.2": (
        (
            f'<{BAR}DSML{BAR}function_calls>\n<{BAR}DSML{BAR}invoke name="read_file">\n'
            f'<{BAR}DSML{BAR}parameter name="path" string="true">a.txt</{BAR}DSML{BAR}parameter>\n'
            f"</{BAR}DSML{BAR}invoke>\n</{BAR}DSML{BAR}function_calls>"
        ),
        [A],
    ),
    "deepseek, marks as plain letters": (
        (
            "<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>read_file\n"
            '```json\n{"path": "a.txt"}\n```<|tool_call_end|><|tool_calls_end|>'
        ),
        [A],
    ),
    "cohere after thoughts": (
        (
            "<|START_THINKING|>I might run <tool_call> here.<|END_THINKING|><|START_ACTION|>[\n"
            '{"tool_call_id": "0", "tool_name": "read_file", "parameters": {"path": "a.txt"}}\n]<|END_ACTION|>'
        ),
        [A],
    ),
    "functionary": ('>>>read_file\n{"path": "a.txt"}', [A]),
    "functionary, two": ('>>>list_dir\n{}\n>>>read_file\n{"path": "a.txt"}', [B, A]),
    "harmony without its special tokens": (
        'assistantcommentary to=functions.read_file json{"path":"a.txt"}',
        [A],
    ),
    "harmony, two": (
        (
            "<|channel|>commentary to=functions.list_dir<|message|>{}<|call|><|start|>assistant"
            '<|channel|>commentary to=functions.read_file<|message|>{"path":"a.txt"}<|call|>'
        ),
        [B, A],
    ),
    "tags of the tool's own": ("<read_file>\n<path>a.txt</path>\n</read_file>", [A]),
    "tags of the tool's own, a file": (
        "I write it.\n<write_file>\n<path>p.py</path>\n<content>\nif a < b:\n    pass\n</content>\n</write_file>",
        [("write_file", {"path": "p.py", "content": "if a < b:\n    pass"})],
    ),
    "bare json, two lines": (
        '{"name": "list_dir", "parameters": {}}\n{"name": "read_file", "parameters": {"path": "a.txt"}}',
        [B, A],
    ),
    "bare json, two with a semicolon": (
        '{"name": "list_dir", "parameters": {}}; {"name": "read_file", "parameters": {"path": "a.txt"}}',
        [B, A],
    ),
    "bare json by the tool's name": ('{"read_file": {"path": "a.txt"}}', [A]),
    "bare json behind words": (
        'Function call: {"name": "read_file", "arguments": {"path": "a.txt"}}',
        [A],
    ),
    "bare json in a sentence": (
        'I will call {"name": "read_file", "arguments": {"path": "a.txt"}}',
        [A],
    ),
    "bare json after a word that only names a file": (
        'I look at the template folder and example.py.\n{"name": "read_file", "arguments": {"path": "a.txt"}}',
        [A],
    ),
    "fenced by waves": ('~~~json\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n~~~', [A]),
    "fenced in capitals": (
        '```JSON\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```',
        [A],
    ),
    "fenced in one line": (
        '```json {"name": "read_file", "arguments": {"path": "a.txt"}} ```',
        [A],
    ),
    "fenced, two blocks of JSON": (
        '```json\n{"name": "list_dir", "arguments": {}}\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```',
        [B, A],
    ),
    "mistral after thoughts that hold another": (
        '[THINK]Maybe [TOOL_CALLS]run_command[ARGS]{"command": "rm x"}[/THINK][TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}',
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
    "fenced json, words behind it": (
        'I read it.\n```json\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n```\nI will wait for the result.'
    ),
    "bare json, words behind it": '{"name": "read_file", "arguments": {"path": "a.txt"}}\n\nPlease wait a moment.',
    "bare json, the second cut": '{"name": "list_dir", "arguments": {}}\n{"name": "run_command", "argum',
    "lfm, cut": '<|tool_call_start|>[read_file(path="a.txt"), run_comm',
    "lfm, arguments by place": '<|tool_call_start|>[read_file("a.txt")]<|tool_call_end|>',
    "functiongemma, cut": "<start_function_call>call:read_file{path:<escape>a.t",
    "lm studio, cut": '[TOOL_REQUEST]{"name": "read_file", "argu',
    "deepseek v3.2, cut": f'<{BAR}DSML{BAR}function_calls>\n<{BAR}DSML{BAR}invoke name="read_file">\n<{BAR}DSML',
    "tags of the tool's own, cut": "I look.\n<read_file>\n<path>a.txt</path>\n",
    "harmony without its special tokens, cut": 'commentary to=functions.read_file json{"path":"a.',
    "special tokens of a form that nobody knows": (
        "<|from|>assistant\n<|recipient|>read_file\n<|content|>path = a.txt<|stop|>"
    ),
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
    "tags called an example": (
        'For example, a call would look like this:\n\n<tool_call>\n{"name":"run_command","arguments":{"command":"rm x"}}'
        "\n</tool_call>"
    ),
    "tags called an example, words after": (
        'For example, a call would look like this:\n\n<tool_call>\n{"name":"run_command","arguments":{"command":"rm x"}}'
        "\n</tool_call>\n\nThe harness reads it."
    ),
    "tags after the word format": (
        'Format:\n\n    <tool_call>{"name":"run_command","arguments":{"command":"rm x"}}</tool_call>\n\nIs that clear?'
    ),
    "tags in a quotation": '> <tool_call>{"name":"run_command","arguments":{"command":"rm x"}}</tool_call>\n\nwas printed.',
    "tags in a table": '| form | call |\n|---|---|\n| a | <tool_call>{"name":"list_dir","arguments":{}}</tool_call> |',
    "tags between two ticks": 'Use ``<tool_call>{"name":"list_dir","arguments":{}}</tool_call>`` here.',
    "json that must not be run": (
        'Never run this:\n```json\n{"name": "run_command", "arguments": {"command": "rm -rf /"}}\n```'
    ),
    "json called an example in German": (
        'Zum Beispiel:\n```json\n{"name": "run_command", "arguments": {"command": "rm -rf /"}}\n```'
    ),
    "json and what it would do": (
        'I could send\n```json\n{"name": "run_command", "arguments": {"command": "rm x"}}\n```\nand it would be gone.'
    ),
    "json in another language's block": '```js\n{"name": "list_dir", "arguments": {}}\n```',
    "tags of HTML": "<details>\n<summary>a</summary>\n<path>a.txt</path>\n</details>",
    "thoughts in other tags": '<reasoning><tool_call>{"name":"list_dir","arguments":{}}</tool_call></reasoning>',
    "thoughts of mistral": "[THINK]I might [TOOL_CALLS]list_dir[ARGS]{}[/THINK]",
    "a generic type": "A `Box<T>` holds `Vec<tools>`; write Map<string, number> and functools.wraps.",
    "an end that was printed": "All is well.<|im_end|>",
    "an end that was printed, and the name of a tool": "I used read_file: all is well.<|im_end|>",
}
"""What is no call: nothing runs."""

CHANGED = {
    "thoughts without an end": "",
    "thoughts in other tags": "",
    "thoughts of mistral": "",
    "harmony answer": "Hi.",
    "an end that was printed": "All is well.",
    "an end that was printed, and the name of a tool": "I used read_file: all is well.",
}
"""Of these, what is shown."""


def test_there_are_enough_cases():
    assert len(RIGHT) >= 60
    assert len(BROKEN) + len(WORDS) >= 60


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
    assert reading.words.strip() == CHANGED.get(name, WORDS[name])


@pytest.mark.parametrize("name", RIGHT)
def test_a_call_that_was_cut_anywhere_is_never_another_call(name):
    """However much of a text arrives, what runs is what was meant, or nothing."""
    text, expected = RIGHT[name]
    for end in range(len(text)):
        for call in read_answer(text[:end], TOOLS).calls:
            if call.arguments is not None:
                assert (call.name, call.arguments) in expected, text[:end]


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_never_a_call_of_anything_else_wherever_it_is_cut(name):
    """A part of what was begun is no call of its own; one that is whole before the cut is."""
    whole = {"read_file": {"path": "a.txt"}, "list_dir": {}}
    for end in range(len(BROKEN[name])):
        for call in read_answer(BROKEN[name][:end], TOOLS).calls:
            assert call.arguments is None or call.arguments == whole.get(call.name), end


@given(st.sampled_from(sorted(RIGHT)), st.data())
def test_a_text_that_was_damaged_breaks_nothing(name, data):
    """What still can be read names its tool; whether it fits is judged when it is to be run."""
    text = RIGHT[name][0]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 6))
        put = data.draw(
            st.sampled_from([
                "",
                "{",
                "}",
                '"',
                "'",
                "\\",
                "<",
                ">",
                "[",
                "]",
                "\n",
                "`",
                "(",
                "{{",
            ])
        )
        text = text[:at] + put + text[at + cut :]
    reading = read_answer(text, TOOLS)
    assert all(call.name for call in reading.calls)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text):
    reading = read_answer(text, TOOLS)
    if not reading.calls and not reading.broken and OPEN.search(text) is None:
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
