"""The other reader: the syntax tree of tree-sitter-bash, of which only plain nodes are taken.

The grammar reads some lines otherwise than bash does (words after a redirection, a backslash before
a newline, quoted pieces that touch), which is why it never decides alone.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

from hame.permissions.commands.lexer import RESERVED, redirect
from hame.permissions.commands.line import Flow, Line, Redirect, UnreadableError, Word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_BETWEEN = re.compile(r"(?:[ \t\n]|\\\n)*")
_JOINTS = frozenset({"&&", "||", "|", ";", "\n", "comment"})
_GROUPS = frozenset({"program", "list", "pipeline"})
_TEST_PARTS = frozenset({"unary_expression", "binary_expression", "negation_expression"})
_WORDS = frozenset({
    "word", "number", "string", "raw_string", "concatenation", "test_operator", "=", "==", "!=",
    "!", "[", "]", "-a", "-o", "extglob_pattern", "regex", "simple_expansion",
})  # fmt: skip
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r'\\([$`"\\])')
_DUPLICATES = frozenset({"1>&2", "2>&1", ">&1", ">&2", "1>&1", "2>&2"})


def read_tree(text: str) -> Line:
    """The line's commands and redirections.

    Raises:
        UnreadableError: for any node that is not plain, or text that is in no node.
    """
    return _Reader(text).read()


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


class _Reader:
    def __init__(self, text: str) -> None:
        self._source = text.encode()
        self._commands: list[tuple[Word, ...]] = []
        self._redirects: list[Redirect] = []
        self._end = 0
        """Where the last token ended, in bytes."""

    def read(self) -> Line:
        root = _parser().parse(self._source).root_node
        if root.has_error:
            raise UnreadableError("its syntax is not clear")
        self._statement(root)
        self._pass_to(len(self._source))
        return Line(tuple(self._commands), tuple(self._redirects))

    def _statement(self, node: "Node") -> None:
        match node.type:
            case kind if kind in _GROUPS:
                for child in node.children:
                    self._statement(child)
            case kind if kind in _JOINTS:
                self._token(node)
            case "redirected_statement":
                for child in node.children:
                    if child.type == "file_redirect":
                        self._redirect(child)
                    else:
                        self._statement(child)
            case "command":
                self._command(node)
            case "test_command":
                self._test(node)
            case kind:
                raise UnreadableError(f"it holds a {kind.replace('_', ' ')}")

    def _command(self, node: "Node") -> None:
        words: list[Word] = []
        for child in node.children:
            inner = child.children[0] if child.type == "command_name" else child
            words.append(self._word(inner, argument=bool(words)))
        self._commands.append(tuple(words))

    def _test(self, node: "Node") -> None:
        words: list[Word] = []
        self._collect(node, words)
        if not words or words[0].text != "[":
            raise UnreadableError("it holds a [[ test")
        self._commands.append(tuple(words))

    def _collect(self, node: "Node", words: list[Word]) -> None:
        for child in node.children:
            if child.type in _TEST_PARTS:
                self._collect(child, words)
            else:
                words.append(self._word(child))

    def _redirect(self, node: "Node") -> None:
        operators = [child for child in node.children if child.type not in _WORDS]
        targets = [child for child in node.children if child.type in _WORDS]
        raw = self._slice(node)
        if raw in _DUPLICATES:
            self._token(node)
            self._redirects.append(Redirect(Flow.NOTHING, Word(raw[-2:])))
            return
        if len(targets) != 1:
            raise UnreadableError("words follow a redirection")
        for child in operators:
            self._token(child)
        operator = "".join(self._slice(child) for child in operators)
        if operator not in {"<", ">", ">>", "1>", "2>", "1>>", "2>>", "&>"}:
            raise UnreadableError(f"it holds the redirection {operator}")
        self._redirects.append(redirect(self._word(targets[0]), writes=operator != "<"))

    def _word(self, node: "Node", *, argument: bool = False) -> Word:
        if node.type not in _WORDS:
            raise UnreadableError(f"it holds a {node.type.replace('_', ' ')}")
        self._token(node)
        raw = self._slice(node)
        if node.type == "concatenation":
            return self._joined(node, raw)
        text, quoted = self._unquoted(node)
        if not argument and raw in RESERVED - {"!", "in"}:
            raise UnreadableError(f"it uses {raw} as the shell's own word")
        return self._made(raw, text, quoted=quoted)

    def _joined(self, node: "Node", raw: str) -> Word:
        pieces: list[str] = []
        end, quoted = node.start_byte, False
        for child in node.children:
            if child.start_byte != end or child.type not in _WORDS:
                raise UnreadableError("it holds a word of several kinds")
            text, has_quotes = self._unquoted(child)
            pieces.append(text)
            quoted = quoted or has_quotes
            end = child.end_byte
        return self._made(raw, "".join(pieces), quoted=quoted)

    def _made(self, raw: str, text: str, *, quoted: bool) -> Word:
        patterns = not quoted and not {"*", "?", "["}.isdisjoint(raw)
        return Word(text, glob=patterns and text not in {"[", "]"}, tilde=raw.startswith("~"))

    def _unquoted(self, node: "Node") -> tuple[str, bool]:
        raw = self._slice(node)
        match node.type:
            case "string":
                if any(child.type not in {'"', "string_content", "$"} for child in node.children):
                    raise UnreadableError("it holds an expansion, whose value is not known")
                return _ESCAPE_IN_QUOTES.sub(r"\1", raw[1:-1]), True
            case "raw_string":
                return raw[1:-1], True
            case "concatenation" | "simple_expansion":
                raise UnreadableError("it holds an expansion, whose value is not known")
            case _:
                return _ESCAPE.sub(r"\1", raw), "\\" in raw

    def _token(self, node: "Node") -> None:
        self._pass_to(node.start_byte)
        self._end = node.end_byte

    def _pass_to(self, start: int) -> None:
        if start < self._end or not _BETWEEN.fullmatch(self._source[self._end : start].decode()):
            raise UnreadableError("something stands between its words")

    def _slice(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte].decode()
