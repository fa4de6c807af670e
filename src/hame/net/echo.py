"""What a server sends back, without the key that it was sent.

Some servers repeat a key in their refusal. Whatever becomes of an answer - a message on a screen, a line
of a log, an entry of a session - the key is not in it any more.
"""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from hame.base.ports import HttpRequest
from hame.base.secret import spellings

SECRET_HEADERS = frozenset({
    "authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie",
    "set-cookie",
})  # fmt: skip
"""Headers whose values are nobody's business, in lower case."""
_PLACEHOLDER = b"[redacted]"
_MINIMUM = 8
"""Letters; what is shorter is no key, and stands in ordinary text."""
_PART = 2
"""The beginning of a key that was cut short counts from this part of it on: a half."""
_MINIMUM_PART = 12
"""Letters; what keys of one vendor have in common is not taken out."""


class Echo:
    """Takes the secrets of one request out of its answer, piece by piece."""

    def __init__(self, request: HttpRequest, proxy: str | None = None) -> None:
        """Know what the request holds in its headers, and the password of the proxy it goes through."""
        words = [
            word
            for name, value in request.headers
            if name.lower() in SECRET_HEADERS
            for word in value.split()
        ]
        if proxy is not None:
            words.append(unquote(urlsplit(proxy).password or ""))
        secrets = {word for word in words if len(word) >= _MINIMUM}
        found = {spelling.encode() for secret in secrets for spelling in spellings(secret)}
        self._forms = sorted(found, key=len, reverse=True)
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """A further piece; an end that may be the beginning of a key is held back."""
        text = self._whole(self._held + chunk)
        end = len(text) - self._open_end(text)
        self._held = text[end:]
        return self._parts(text[:end])

    def rest(self) -> bytes:
        """What was held back when no more comes."""
        held, self._held = self._held, b""
        return self._parts(held)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers of the answer."""
        return {
            name: self._parts(self._whole(value.encode("latin-1"))).decode("latin-1")
            for name, value in headers.items()
        }

    def _whole(self, text: bytes) -> bytes:
        for form in self._forms:
            text = text.replace(form, _PLACEHOLDER)
        return text

    def _parts(self, text: bytes) -> bytes:
        """The text without the beginnings of keys that were cut short."""
        while True:
            found = [span for form in self._forms if (span := _beginning(text, form))]
            if not found:
                return text
            # Spellings begin alike: the one that goes on longest is meant.
            start, end = min(found, key=lambda span: (span[0], -span[1]))
            text = text[:start] + _PLACEHOLDER + text[end:]

    def _open_end(self, text: bytes) -> int:
        """How many bytes at the end may be the beginning of a secret."""
        if text.endswith(b"\n"):
            return 0  # As pieces of a stream do; no header holds one.
        longest = 0
        for form in self._forms:
            size = min(len(form) - 1, len(text))
            while size > longest and not text.endswith(form[:size]):
                size -= 1
            longest = max(longest, size)
        return longest


def _beginning(text: bytes, form: bytes) -> tuple[int, int] | None:
    """Where a text has enough of the beginning of a form, and as much as there is of it."""
    size = max(_MINIMUM_PART, len(form) // _PART)
    start = text.find(form[:size]) if size < len(form) else -1
    if start < 0:
        return None
    end = start + size
    while end < len(text) and text[end : end + 1] == form[end - start :][:1]:
        end += 1
    return start, end
