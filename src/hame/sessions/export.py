"""A session for people and other programs: Markdown, JSON, or one HTML file that needs nothing else."""

import html
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import assert_never

import msgspec

from hame.base.entry import (
    AnswerInterrupted,
    CallSettled,
    Entry,
    HistoryCompacted,
    ModelAnswered,
    Record,
    SessionStarted,
    TitleSet,
    UserSaid,
)
from hame.base.json import dump_bytes
from hame.base.kinds import places
from hame.base.message import Image, Text, Thinking, ToolCall, User
from hame.base.outcome import result_content
from hame.sessions.branch import Branch
from hame.sessions.copying import FORMAT, Exported
from hame.sessions.digest import shorten


class ExportFormat(StrEnum):
    """What a session can be exported as."""

    MARKDOWN = "md"
    JSON = "json"
    HTML = "html"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was said or done, as an export shows it."""

    who: str
    """`user`, `model`, `thinking`, `call`, `result` or `summary`."""
    text: str
    title: str = ""
    at: float = 0.0
    error: bool = False
    picture: tuple[str, bytes] | None = None
    """Media type and data."""


def export(branch: Branch, form: ExportFormat) -> Iterator[bytes]:
    """The branch as a file of that format, piece by piece."""
    match form:
        case ExportFormat.MARKDOWN:
            return (piece.encode("utf-8", "replace") for piece in _markdown(branch))
        case ExportFormat.JSON:
            return _json(branch)
        case ExportFormat.HTML:
            return (piece.encode("utf-8", "replace") for piece in _html(branch))
        case _:
            assert_never(form)


def _json(branch: Branch) -> Iterator[bytes]:
    """An `Exported`, its records one by one."""
    empty = Exported(format=FORMAT, version=1, session=branch.session, records=[])
    before, after = dump_bytes(empty).rsplit(b"[]", 1)
    yield before + b"["
    for number, record in enumerate(branch.records):
        yield (b"," if number else b"") + dump_bytes(record)
    yield b"]" + after + b"\n"


def title_of(branch: Branch) -> str:
    """The name of the session, else the first words of the user."""
    entries = branch.entries
    for place in reversed([*places(entries, (SessionStarted, TitleSet))]):
        entry = entries[place]
        if isinstance(entry, SessionStarted | TitleSet) and entry.title:
            return entry.title
    first = next(places(entries, (UserSaid,)), -1)
    said = entries[first] if first >= 0 else None
    return shorten(said.message.words) if isinstance(said, UserSaid) else branch.session


def parts_of(records: Iterable[Record]) -> Iterator[Part]:
    """What was said and done, in order."""
    for record in records:
        yield from _parts(record.entry, record.at)


def _parts(entry: Entry, at: float) -> Iterator[Part]:
    match entry:
        case UserSaid(message=message):
            yield from _said(message, at)
        case ModelAnswered(message=message) | AnswerInterrupted(message=message):
            for block in message.content:
                match block:
                    case Text(text=text) if text.strip():
                        yield Part(who="model", text=text, at=at)
                    case Thinking(text=text) if text.strip():
                        yield Part(who="thinking", text=text, at=at)
                    case ToolCall(name=name):
                        asked = msgspec.json.format(dump_bytes(block.arguments)).decode()
                        text = block.malformed if block.arguments is None else asked
                        yield Part(who="call", title=name, text=text or "", at=at)
                    case _:
                        pass
        case CallSettled(name=name, outcome=outcome):
            content, is_error = result_content(outcome)
            text = "".join(block.text for block in content if isinstance(block, Text))
            yield Part(who="result", title=name, text=text, at=at, error=is_error)
        case HistoryCompacted(summary=summary):
            yield Part(who="summary", text=summary, at=at)
        case _:
            pass


def _said(message: User, at: float) -> Iterator[Part]:
    if message.words.strip():
        yield Part(who="user", text=message.words, at=at)
    for block in message.content:
        if isinstance(block, Image):
            picture = (block.media_type, block.data)
            yield Part(who="user", text=block.name or "picture", at=at, picture=picture)


# ---------------------------------------------------------------- Markdown


def _markdown(branch: Branch) -> Iterator[str]:
    yield f"# {title_of(branch)}\n\nSession {branch.session}, exported from hame.\n"
    for part in parts_of(branch.records):
        yield "\n" + "\n".join([*_markdown_part(part), ""])


def _markdown_part(part: Part) -> list[str]:
    match part.who:
        case "user":
            return ["## You", "", part.text]
        case "model":
            return ["## hame", "", part.text]
        case "thinking":
            return [
                "<details><summary>Thinking</summary>",
                "",
                *_fenced(part.text),
                "",
                "</details>",
            ]
        case "summary":
            return ["## Summary of what came before", "", part.text]
        case "call":
            return [f"**{part.title}**", "", *_fenced(part.text, "json")]
        case _:
            label = "failed" if part.error else "result"
            head = f"<details><summary>{label} of {part.title}</summary>"
            return [head, "", *_fenced(part.text), "", "</details>"]


def _fenced(text: str, language: str = "") -> list[str]:
    """A block of code whose fence is longer than any in the text."""
    longest = max((len(line) - len(line.lstrip("`")) for line in text.split("\n")), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text, fence]


# ---------------------------------------------------------------- HTML

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.4 ui-monospace, monospace; }
section { margin: 1rem 0; padding: .1rem 1rem; border-left: 3px solid transparent; }
.user { border-color: #0a8; background: #0a81; }
.thinking, .result, .call { color: #777; }
.error { color: #c33; }
.summary { border-color: #a80; }
img { max-width: 100%; }
h1 { font-size: 1.4rem; } h2 { font-size: .8rem; margin: .5rem 0 0; color: #777; }
"""
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_NAMES = {"user": "You", "model": "hame", "summary": "Summary of what came before"}


def _html(branch: Branch) -> Iterator[str]:
    title = html.escape(title_of(branch))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"<p>Session {html.escape(branch.session)}, exported from hame.</p>\n"
    )
    for part in parts_of(branch.records):
        yield _html_part(part) + "\n"
    yield "</body>\n</html>\n"


def _html_part(part: Part) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(part.at)) if part.at else ""
    text = f"<pre>{html.escape(part.text)}</pre>"
    if part.picture is not None and part.picture[0] in _PICTURES:
        kind, data = part.picture
        text = f'<img alt="{html.escape(part.text)}" src="data:{kind};base64,{b64encode(data).decode()}">'
    if part.who in _NAMES:
        return (
            f'<section class="{part.who}"><h2>{_NAMES[part.who]} · {when} UTC</h2>{text}</section>'
        )
    label = html.escape(f"{part.who} {part.title}".strip())
    kind = f"{part.who} error" if part.error else part.who
    return f'<section class="{kind}"><details><summary>{label}</summary>{text}</details></section>'
