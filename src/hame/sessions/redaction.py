"""Redactor: takes secrets out of text before it becomes an entry.

It is applied once, on the way in, so that model, journal and surface hold the same text. Signatures,
opaque payloads, pictures and documents are never touched: they go back to their provider byte for
byte. What is taken out are the values this process knows to be secret and tokens whose shape their
issuers document; ordinary words are left alone.
"""

import re
from collections.abc import Iterable
from typing import assert_never

import msgspec

from hame.base.message import Note, ResultBlock, Text, User, UserBlock
from hame.base.outcome import (
    Cancelled,
    CommandView,
    Corrected,
    Denied,
    DiffView,
    Done,
    Failed,
    Outcome,
    PathsView,
    TextView,
    TodoView,
    View,
)
from hame.base.secret import spellings

PLACEHOLDER = "[redacted]"
MINIMUM_LENGTH = 8
"""Characters; a shorter value is no secret and would tear up ordinary text."""


class _Shape(msgspec.Struct, frozen=True):
    """How the tokens of one issuer look."""

    marks: tuple[str, ...]
    """One of these is in every text that holds such a token; looked for first, being quick."""
    pattern: re.Pattern[str]
    """What to replace; the group `keep`, where there is one, stays in front of the placeholder."""


def _shape(marks: str, pattern: str) -> _Shape:
    return _Shape(tuple(marks.split("|")), re.compile(pattern))


_LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""A token begins where a word begins, or after an escaped end of line."""

_SHAPES: tuple[_Shape, ...] = (
    _shape(
        "PRIVATE KEY",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"[A-Za-z0-9+/=\s\\:,.()-]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    # OpenAI, Anthropic, OpenRouter, DeepSeek and many more: among the first characters is a run of
    # letters and digits that no word is.
    _shape(
        "sk-",
        _LEFT + r"sk-[A-Za-z0-9_-]{0,40}?(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{16,}[A-Za-z0-9_-]*",
    ),
    _shape("gho_|ghp_|ghr_|ghs_|ghu_", _LEFT + r"gh[oprsu]_[A-Za-z0-9]{30,}"),
    _shape("github_pat_", _LEFT + r"github_pat_[A-Za-z0-9_]{22,}"),
    _shape("glpat-", _LEFT + r"glpat-[A-Za-z0-9_-]{20,}"),
    _shape("AKIA|ASIA", _LEFT + r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape(
        "secret_access_key|SECRET_ACCESS_KEY|SecretAccessKey",
        r"(?P<keep>(?i:secret_?access_?key)[\"']?\s{0,8}[=:]\s{0,8}[\"']?)"
        r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
    ),
    _shape("AIza", _LEFT + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _shape("xox", _LEFT + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _shape("k_live_", _LEFT + r"[rs]k_live_[A-Za-z0-9]{16,}"),
    _shape("hf_", _LEFT + r"hf_[A-Za-z0-9]{30,}"),
    _shape("gsk_", _LEFT + r"gsk_[A-Za-z0-9]{40,}"),
    _shape("xai-", _LEFT + r"xai-[A-Za-z0-9]{40,}"),
    _shape("npm_", _LEFT + r"npm_[A-Za-z0-9]{36}"),
    _shape("pypi-", _LEFT + r"pypi-[A-Za-z0-9_-]{50,}"),
    _shape(
        "earer|EARER",
        r"(?P<keep>(?i:\bbearer)[ \t]{1,8})"
        r"(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{16,}",
    ),
    _shape(
        "asic|ASIC",
        r"(?P<keep>(?i:authorization[\"']?\s{0,8}[=:]\s{0,8}[\"']?basic)[ \t]{1,8})"
        r"[A-Za-z0-9+/=_-]{8,}",
    ),
)


class Redactor:
    """Takes out these values, however they are spelt, and all tokens of a known shape."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        """Know the secrets of this process; short ones are not looked for."""
        self._secrets: set[str] = set()
        self._values: list[str] = []
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Know one more secret from now on."""
        value = value.strip()
        if len(value) >= MINIMUM_LENGTH and value not in self._secrets:
            self._secrets.add(value)
            # The longest first: one secret may hold another.
            self._values = sorted({*self._values, *spellings(value)}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without secrets. Doing it again changes nothing."""
        while (redacted := self._once(text)) != text:
            text = redacted
        return text

    def message(self, message: User) -> User:
        """The message with its words and notes redacted."""
        content = tuple(map(self._user_block, message.content))
        return message if content == message.content else User(content)

    def outcome(self, outcome: Outcome) -> Outcome:
        """The outcome with what the model and what eyes get redacted; paths that changed stay."""
        match outcome:
            case Done(content=content, view=view):
                blocks = tuple(map(self._result_block, content))
                return msgspec.structs.replace(outcome, content=blocks, view=self._view(view))
            case Failed(message=message, view=view):
                return msgspec.structs.replace(
                    outcome, message=self.text(message), view=self._view(view)
                )
            case Denied(reason=reason):
                return msgspec.structs.replace(outcome, reason=self.text(reason))
            case Corrected(words=words):
                return Corrected(self.text(words))
            case Cancelled(partial=partial):
                return msgspec.structs.replace(outcome, partial=self.text(partial))
            case _:
                assert_never(outcome)

    def _once(self, text: str) -> str:
        """One pass; what an earlier pass put in its place is not looked at again."""
        return PLACEHOLDER.join(map(self._piece, text.split(PLACEHOLDER)))

    def _piece(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, PLACEHOLDER)
        for shape in _SHAPES:
            if any(mark in text for mark in shape.marks):
                text = shape.pattern.sub(_replacement, text)
        return text

    def _user_block(self, block: UserBlock) -> UserBlock:
        if isinstance(block, Text | Note):
            return msgspec.structs.replace(block, text=self.text(block.text))
        return block

    def _result_block(self, block: ResultBlock) -> ResultBlock:
        if isinstance(block, Text):
            return msgspec.structs.replace(block, text=self.text(block.text))
        return block

    def _view(self, view: View | None) -> View | None:
        match view:
            case None:
                return None
            case TextView(text=text):
                return msgspec.structs.replace(view, text=self.text(text))
            case DiffView(diff=diff):
                return msgspec.structs.replace(view, diff=self.text(diff))
            case PathsView(paths=paths):
                return msgspec.structs.replace(view, paths=tuple(map(self.text, paths)))
            case CommandView(command=command, output=output, aftermath=aftermath):
                return msgspec.structs.replace(
                    view,
                    command=self.text(command),
                    output=self.text(output),
                    aftermath=tuple(map(self.text, aftermath)),
                )
            case TodoView(items=items):
                return TodoView(
                    tuple(
                        msgspec.structs.replace(item, text=self.text(item.text)) for item in items
                    )
                )
            case _:
                assert_never(view)


def _replacement(match: re.Match[str]) -> str:
    return match.groupdict().get("keep", "") + PLACEHOLDER
