"""Call ids as a wire takes them: of the right form, and no two alike in one conversation.

Forms: Anthropic `^[a-zA-Z0-9_-]+$`; OpenAI at most 40 characters; Mistral exactly nine letters or
digits. An id that fits stays; another is replaced by a hash of it, the same in every request.
"""

import hashlib
import re
from collections.abc import Iterable

from hame.base.model import ModelFacts, Quirk

_COMMON = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_ANY = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,128}")
_UNRESTRICTED = frozenset({"gemini", "ollama"})


class CallIds:
    """The ids of one conversation."""

    __slots__ = ("_attempts", "_form", "_taken")

    def __init__(self, facts: ModelFacts) -> None:
        """For a model with these facts."""
        if Quirk.SHORT_CALL_IDS in facts.quirks:
            self._form = _NINE
        else:
            self._form = _ANY if facts.wire in _UNRESTRICTED else _COMMON
        self._taken: set[str] = set()
        self._attempts: dict[str, int] = {}
        """How many substitutes of an id are taken, for servers that give every call the same one."""

    def take(self, call_id: str) -> str:
        """The id a call has on the wire; it stays taken."""
        found = call_id
        if found in self._taken or not self._form.fullmatch(found):
            attempt = self._attempts.get(call_id, 0)
            while found in self._taken or not self._form.fullmatch(found):
                found = self._hashed(f"{call_id}/{attempt}")
                attempt += 1
            self._attempts[call_id] = attempt
        self._taken.add(found)
        return found

    def forget(self, call_ids: Iterable[str]) -> None:
        """Give ids back."""
        self._taken.difference_update(call_ids)
        self._attempts.clear()

    def _hashed(self, text: str) -> str:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return digest[:9] if self._form is _NINE else f"call_{digest[:24]}"


def mint_call_id(answer: str, number: int, name: str) -> str:
    """An id made from the answer's own id, the call's position in it and the tool's name.

    It is the same however the body was cut, and another for every other answer.
    """
    seed = f"{answer}/{number}/{name}"
    return f"call_{hashlib.sha256(seed.encode()).hexdigest()[:20]}"
