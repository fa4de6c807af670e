"""Reasoning in its several disguises: fields of a delta, parts of the content, OpenRouter's details."""

from hame.base.json import JsonObject, get_list, get_objects, get_string

_GROWING = ("text", "summary")


class DetailPieces:
    """Collects `reasoning_details`; they go back exactly as they came, joined.

    See https://openrouter.ai/docs/use-cases/reasoning-tokens
    """

    __slots__ = ("_details",)

    def __init__(self) -> None:
        """Start with none."""
        self._details: list[JsonObject] = []

    def take(self, pieces: list[JsonObject]) -> None:
        """Take the details of one delta."""
        for piece in pieces:
            last = self._details[-1] if self._details else None
            if last is not None and _continues(last, piece):
                _grow(last, piece)
            else:
                self._details.append(dict(piece))

    @property
    def details(self) -> list[JsonObject]:
        """The details so far."""
        return self._details


def reasoning_text(delta: JsonObject) -> str:
    """The reasoning in one delta; a server that sends it under two names is read once."""
    for key in ("reasoning_content", "reasoning", "reasoning_text"):
        if text := get_string(delta, key):
            return text
    details = get_objects(delta, "reasoning_details")
    return "".join(get_string(item, key) or "" for item in details for key in _GROWING)


def content_texts(content: object) -> tuple[str, str]:
    """The thinking and the text in a `content`: a string, or parts as Mistral sends them."""
    if isinstance(content, str):
        return "", content
    thinking: list[str] = []
    text: list[str] = []
    for part in get_objects({"parts": content}, "parts"):
        if get_string(part, "type") == "thinking":
            thinking.append(_thinking_part(part))
        elif words := get_string(part, "text"):
            text.append(words)
    return "".join(thinking), "".join(text)


def _thinking_part(part: JsonObject) -> str:
    whole = get_string(part, "thinking")
    if whole is not None:
        return whole
    inner = [get_string(item, "text") or "" for item in get_list(part, "thinking")]
    return "".join(inner)


def _continues(last: JsonObject, piece: JsonObject) -> bool:
    if last.get("type") != piece.get("type") or last.get("index") != piece.get("index"):
        return False
    if get_string(piece, "data") or get_string(last, "signature"):
        return False
    return any(get_string(piece, key) is not None for key in (*_GROWING, "signature"))


def _grow(last: JsonObject, piece: JsonObject) -> None:
    for key, value in piece.items():
        if key in _GROWING and isinstance(value, str):
            last[key] = (get_string(last, key) or "") + value
        elif value is not None:
            last[key] = value
