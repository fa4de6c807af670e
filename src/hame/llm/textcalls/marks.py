"""The marks that models put around calls and thoughts, as they are printed.

Two kinds of mark open a call. Strong ones mean nothing else; where they lead nowhere, a call is broken.
Any other special token, and a few tags that prose may have, are weak: they are read as a call where one
follows, and dropped or left alone where none does.
"""

import re

_BAR = "[|\uff5c]"
_GAP = "[_ \u2581]"
SPACE = r"(?:[\w-]+:|\uff5cDSML\uff5c|\|DSML\|)?"
"""What some put before the names of their tags."""

STRONG = re.compile(
    rf"<{SPACE}(?:tool_?calls?|function_?calls?)>|<TOOLCALL>"
    rf"|<{SPACE}(?:function(?:=|\s+name=)|invoke\s+name=)"
    rf"|<{_BAR}(?:tool{_GAP}calls?(?:{_GAP}(?:begin|start|section{_GAP}begin))?|python{_GAP}(?:tag|start)"
    rf"|action{_GAP}start|START_ACTION|tools{_GAP}prefix){_BAR}>"
    r"|\[TOOL_CALLS\]|\[TOOL_REQUEST\]|<start_function_call>"
)
"""What a call begins with, and nothing else does."""
CHANNEL = re.compile(r"<\|(?:channel|start)\|>")
"""What something beside the answer may begin with, in Harmony."""
TOKEN = re.compile(rf"<{_BAR}/?[A-Za-z][\w\u2581 ]{{0,40}}{_BAR}>")
"""Any special token."""
WEAK = re.compile(rf"{TOKEN.pattern}|<(?:tools|tool_use|tool_code|tool)>|functools(?=\[)")
OPEN = re.compile(
    f"(?P<channel>{CHANNEL.pattern})|(?P<strong>{STRONG.pattern})|(?P<weak>{WEAK.pattern})"
    r"|(?P<to>\bto=functions\.(?=[\w-]))"
)
"""Where something other than words may begin."""
CLOSER = re.compile(
    rf"\s*(?:</{SPACE}(?:tool_?calls?|function_?calls?|tool_use|tool_code|tools|tool)>|</TOOLCALL>"
    r"|<end_function_call>|\[/TOOL_CALLS\]|\[END_TOOL_REQUEST\]|</s>"
    rf"|<{_BAR}/[A-Za-z][\w ]{{0,40}}{_BAR}>|<{_BAR}(?:[\w\u2581 ]*{_GAP})?(?:end|END{_GAP}\w+|suffix){_BAR}>"
    rf"|<\|(?:eom_id|eot_id|im_end|call|END_ACTION)\|>)"
)
"""What may follow a call."""
THOUGHT = re.compile(
    r"<(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)>"
    r"|\[THINK\]|<\|START_THINKING\|>|<\|begin_of_thought\|>|\u25c1think\u25b7"
)
THOUGHT_END = re.compile(
    r"(?:</(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)>"
    r"|\[/THINK\]|<\|END_THINKING\|>|<\|end_of_thought\|>|\u25c1/think\u25b7)\n*"
)
MADE_UP = re.compile(
    r"<tool_(?:response|result|output)s?>|<\|?(?:observation|tool_response)\|?>|<function_results?>"
    r"|^Observation:|\[TOOL_RESULTS?\]",
    re.MULTILINE,
)
"""Results that a model makes up after its own call; nothing from there on is meant."""
UNFINISHED = re.compile(
    rf"(?:<(?:{_BAR}[\w\u2581 /]{{0,42}}(?:{_BAR}[\w= ]{{0,24}})?|/?[A-Za-z_][\w:|\uff5c-]{{0,24}}(?:[=\s]\s{{0,2}}\w{{0,4}}=?)?)?"
    r"|\[/?[A-Z_]{0,16}|\bt(?:o(?:=[\w.]{0,10})?)?|\u25c1\w{0,6}"
    r"|\bf(?:u|un|unc|unct|uncto|unctoo|unctool|unctools)?)\Z"
)
"""The end of a text that may be on its way to become one of these."""
