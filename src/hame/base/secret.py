"""Keys that hame keeps for the user, and where it keeps them."""

import binascii
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import quote

import msgspec
from typing_extensions import override

from hame.base.json import dump


class SavedKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key, bound to the place it was saved for: it is sent to that origin and to no other."""

    provider: str
    """Id of the backend."""
    origin: str
    """`https://host[:port]`."""
    secret: str

    @override
    def __repr__(self) -> str:
        """Hide the key: it may end up in a log."""
        return f"SavedKey(provider={self.provider!r}, origin={self.origin!r})"


class SecretStore(Protocol):
    """Keeps keys between runs."""

    @property
    def place(self) -> str:
        """Where they are, in words for people: the path of a file, or the name of a keyring."""
        ...

    @property
    def plain(self) -> bool:
        """Whether they lie there as plain text."""
        ...

    def providers(self) -> Sequence[str]:
        """Whose keys are kept, sorted."""
        ...

    def origin(self, provider: str) -> str | None:
        """The origin a provider's key is bound to; None when none is kept. Does not read the key."""
        ...

    def load(self, provider: str) -> SavedKey | None:
        """The key; may take a while, and ask the user to unlock a keyring.

        Raises:
            ConfigError: if it is kept but cannot be read.
        """
        ...

    def save(self, key: SavedKey) -> None:
        """Keep a key in place of the provider's earlier one.

        Raises:
            ConfigError: if it cannot be written; the earlier one is then still there.
        """
        ...

    def remove(self, provider: str) -> bool:
        """Forget a provider's key; False when none was kept.

        Raises:
            ConfigError: if it cannot be written.
        """
        ...


def mask(secret: str) -> str:
    """A key as it may be shown: its last four characters at most, and nothing of a short one."""
    return f"…{secret[-4:]}" if len(secret) >= 12 else "…"


def spellings(secret: str) -> tuple[str, ...]:
    """A secret as it may stand in another text, the longest first.

    As it is; in an address, in JSON and in HTML; and in base64, also within something longer (`Basic`
    credentials are `user:secret`), but for the letters at its ends that depend on what stands beside it.
    """
    # A variable of the environment may hold bytes that are no text.
    plain = secret.encode(errors="surrogateescape")
    text = plain.decode(errors="replace")
    found = {secret, dump(text)[1:-1], secret.translate(_IN_HTML)}
    found |= {spelling.replace("/", "\\/") for spelling in found}
    for safe in ("", "/", "/:+="):
        quoted = quote(plain, safe=safe)
        found |= {quoted, _lower_escapes(quoted)}
    for before in range(3):
        code = binascii.b2a_base64(b"\0" * before + plain, newline=False).decode()
        # Six bits a letter: the first may hold bits of what stands before, the last of what follows.
        inner = code[-(-before * 8 // 6) : (before + len(plain)) * 8 // 6]
        found |= {inner, inner.translate(_URL_SAFE)}
    return tuple(sorted(found, key=len, reverse=True))


_IN_HTML = str.maketrans({
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;",
})  # fmt: skip
_URL_SAFE = str.maketrans("+/", "-_")


def _lower_escapes(quoted: str) -> str:
    head, *escapes = quoted.split("%")
    return "".join([head, *(f"%{each[:2].lower()}{each[2:]}" for each in escapes)])
