"""Markdown blocks drawn by rich. Importing this costs about 100 ms: only a terminal does, and late."""

import re
from functools import lru_cache

from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ImageItem, ListItem, Markdown
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme
from typing_extensions import override

from hame.cli.reveal import clean

_TRAILING = re.compile(r"(?:\s|\x1b\[[0-9;]*m)+$")


class _LeftHeading(Heading):
    """A heading that stays on the left."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text.copy()


class _PlainCode(CodeBlock):
    """Code in the terminal's own colours, on its own background, ready to be copied."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Syntax(
            str(self.text).rstrip(),
            self.lexer_name,
            theme=self.theme,
            word_wrap=True,
            background_color="default",
            padding=(0, 2),
        )


class _Item(ListItem):
    """An item whose number has its dot."""

    @override
    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        width = len(str(last_number)) + 3
        style = console.get_style("markdown.item.number")
        lines = console.render_lines(self.elements, options.update(width=options.max_width - width))
        mark = f"{number}.".rjust(width - 1) + " "
        for index, line in enumerate(lines):
            yield Segment(" " * width if index else mark, style)
            yield from line
            yield Segment("\n")


class _Image(ImageItem):
    """An image that is never fetched: its words and where it would come from."""

    @override
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        words = Text("image ") + self.text if self.text else Text("image")
        address = Text(self.destination, console.get_style("markdown.link_url"))
        yield Text.assemble(words, " (", address, ")", end="")


class _Markdown(Markdown):
    elements = Markdown.elements | {
        "image": _Image,
        "list_item_open": _Item,
        "heading_open": _LeftHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
    }

    def __init__(self, block: str) -> None:
        """Parse; a line break that a model writes is meant, as in every chat.

        Parsing turns entities such as `&#x202e;` into what the text was cleaned of: clean it again.
        """
        super().__init__(block, code_theme="ansi_dark", hyperlinks=False)
        for token in self.parsed:
            for child in token.children or ():
                _clean_token(child)
                if child.type == "softbreak":
                    child.type = "hardbreak"


def draw_block(block: str, cells: int, accent: str) -> list[str]:
    """The lines of one Markdown block, with escapes, each at most `cells` cells wide.

    `accent` are the SGR parameters of hame's colour. Links keep their address in sight: what is
    shown is where it leads.
    """
    console = _console(cells, accent)
    with console.capture() as capture:
        console.print(_Markdown(block))
    lines = [_trim(line) for line in capture.get().split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _clean_token(token: Token) -> None:
    token.content = clean(token.content)
    for name in ("href", "src"):
        if name in token.attrs:
            token.attrs[name] = clean(str(token.attrs[name]))
    for child in token.children or ():
        _clean_token(child)


def _trim(line: str) -> str:
    """The line without the padding that rich fills it up with, and with its colours switched off."""
    bare = _TRAILING.sub("", line)
    return f"{bare}\x1b[0m" if "\x1b" in bare else bare


@lru_cache(maxsize=4)
def _console(cells: int, accent: str) -> Console:
    colour = _rich_colour(accent)
    theme = Theme({
        "markdown.h1": f"bold underline {colour}",
        "markdown.h2": f"bold {colour}",
        "markdown.h3": "bold",
        "markdown.h4": "bold",
        "markdown.code": colour,
        "markdown.code_block": "none",
        "markdown.block_quote": "dim",
        "markdown.item.bullet": colour,
        "markdown.item.number": colour,
        "markdown.hr": "dim",
        "markdown.table.header": "bold",
        "markdown.table.border": "dim",
        "markdown.link": f"underline {colour}",
        "markdown.link_url": "dim",
    })
    return Console(
        width=cells,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        emoji=False,
        highlight=False,
        theme=theme,
    )


def _rich_colour(accent: str) -> str:
    """The SGR parameters of a foreground colour in rich's words."""
    match [int(part) for part in accent.split(";")]:
        case [38, 5, number]:
            return f"color({number})"
        case [38, 2, red, green, blue]:
            return f"rgb({red},{green},{blue})"
        case [number, *_] if number >= 90:
            return f"color({number - 82})"
        case [number, *_]:
            return f"color({number - 30})"
        case _:
            return "default"
