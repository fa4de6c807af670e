"""What a model file says of itself, read without loading it.

GGUF, version 2 and 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md - a magic, counts, and
key-value pairs in front of the tensors. A file may be anybody's, so every count is held to a limit.
"""

import os
import stat
import struct
from pathlib import Path
from typing import BinaryIO

import msgspec

from hame.base.errors import LocalModelError

_MAGIC = b"GGUF"
_MOST_ENTRIES = 4_096
_MOST_ITEMS = 1 << 22
_MOST_TEXT = 1 << 20
_MOST_BYTES = 64 << 20
"""Of all the metadata."""
_EMBEDDERS = (
    "bert",
    "nomic-bert",
    "jina-bert",
    "mpnet",
    "gte",
    "t5encoder",
    "roberta",
    "gemma-embedding",
)
_NUMBERS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_TEXT, _ARRAY = 8, 9

MIB = 1 << 20
OVERHEAD = 256 * MIB
"""What the engine needs besides weights and cache."""
LEAST_WINDOW, MOST_WINDOW = 4_096, 16_384


class GgufHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a model file that matter before it is loaded."""

    architecture: str
    name: str
    size: int
    """Bytes of the file: about what its weights take in memory."""
    trained_window: int
    """Tokens; 0 where it does not say."""
    layers: int
    kv_heads: int
    key_length: int
    value_length: int

    @property
    def embeds(self) -> bool:
        """It turns text into numbers and cannot talk."""
        return self.architecture.endswith("bert") or self.architecture in _EMBEDDERS

    def cache_bytes(self, window: int) -> int:
        """Memory of the keys and values of that many tokens, at two bytes each."""
        return 2 * self.layers * window * self.kv_heads * (self.key_length + self.value_length)

    def needed_bytes(self, window: int) -> int:
        """Memory to run it with that window, as an estimate."""
        return self.size + self.cache_bytes(window) + OVERHEAD

    def window_for(self, free: int | None) -> int:
        """Tokens of context to load it with; half of what is free beside the weights goes to them."""
        most = min(self.trained_window or MOST_WINDOW, MOST_WINDOW)
        each = self.cache_bytes(1)
        if free is None or each == 0:
            return most
        fits = max(0, free - self.size - OVERHEAD) // 2 // each
        return min(most, max(LEAST_WINDOW, fits // 256 * 256))


def read_header(path: Path) -> GgufHeader:
    """Read a model file's header.

    Raises:
        LocalModelError: if it is missing, empty, or no model file.
    """
    try:
        # Not blocking: a FIFO must not hold up the start.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise LocalModelError(f"{path} is not a file", hint="Name a .gguf file.")
            size = status.st_size
            values = _Reader(file).read()
    except FileNotFoundError as error:
        raise LocalModelError(f"there is no file {path}", hint="Name a .gguf file.") from error
    except OSError as error:
        raise LocalModelError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, struct.error) as error:
        hint = "Name a whole model file in GGUF format; a download may have broken off."
        raise LocalModelError(f"{path} is no model file: {error}", hint=hint) from error
    return _header(values, size)


def free_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Bytes that programs can still have; None where the system does not tell."""
    try:
        lines = meminfo.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    found = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), "")
    return int(found) * 1024 if found.isdigit() else None


def _header(values: dict[str, object], size: int) -> GgufHeader:
    architecture = str(values.get("general.architecture", ""))

    def number(name: str) -> int:
        found = values.get(f"{architecture}.{name}")
        return found if isinstance(found, int) and not isinstance(found, bool) else 0

    heads = number("attention.head_count")
    width = number("embedding_length") // heads if heads else 0
    return GgufHeader(
        architecture=architecture,
        name=str(values.get("general.name", "")),
        size=size,
        trained_window=number("context_length"),
        layers=number("block_count"),
        kv_heads=number("attention.head_count_kv") or heads,
        key_length=number("attention.key_length") or width,
        value_length=number("attention.value_length") or width,
    )


class _Reader:
    """Reads the metadata; more than the limits allow is a ValueError."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = _MOST_BYTES

    def read(self) -> dict[str, object]:
        """The pairs by name; lists are left out.

        Raises:
            ValueError: if it is no header that can be read.
        """
        if self._take(4) != _MAGIC:
            raise ValueError("it does not begin like one")
        version = self._number("<I")
        if version > 0xFFFF:
            raise ValueError("it is written for processors with the other order of bytes")
        if version not in {2, 3}:
            raise ValueError(f"its version is {version}")
        self._number("<Q")
        count = self._number("<Q")
        if count > _MOST_ENTRIES:
            raise ValueError("its header is too large")
        return {self._text(): self._value(self._number("<I")) for _ in range(count)}

    def _value(self, kind: int) -> object:
        if kind == _TEXT:
            return self._text()
        if kind == _ARRAY:
            return self._skip_array()
        if kind not in _NUMBERS:
            raise ValueError(f"it holds a value of an unknown kind ({kind})")
        return self._number(_NUMBERS[kind])

    def _skip_array(self) -> None:
        """Pass over a list: the vocabulary and such, which nobody here wants.

        Raises:
            ValueError: if it is longer than any such list.
        """
        kind, count = self._number("<I"), self._number("<Q")
        if count > _MOST_ITEMS:
            raise ValueError("its header is too large")
        if kind in _NUMBERS:
            self._take(count * struct.calcsize(_NUMBERS[kind]))
            return
        if kind != _TEXT:
            raise ValueError(f"it holds a list of an unknown kind ({kind})")
        for _ in range(count):
            self._text()

    def _text(self) -> str:
        length = self._number("<Q")
        if length > _MOST_TEXT:
            raise ValueError("its header is too large")
        return self._take(length).decode("utf-8", "replace")

    def _number(self, form: str) -> int:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _take(self, count: int) -> bytes:
        self._left -= count
        if self._left < 0:
            raise ValueError("its header is too large")
        data = self._file.read(count)
        if len(data) < count:
            raise ValueError("it ends within its header")
        return data
