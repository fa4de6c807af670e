"""Model files of the user's: judged by their header, before anything is loaded."""

import contextlib
import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.errors import ConfigError, LocalModelError
from hame.local.file_model import check_file, file_facts, file_of
from hame.local.gguf import MIB, free_memory, read_header

GIB = 1 << 30


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def number(value: int) -> tuple[int, bytes]:
    return 4, struct.pack("<I", value)


def word(value: str) -> tuple[int, bytes]:
    return 8, text(value)


def words(*values: str) -> tuple[int, bytes]:
    return 9, struct.pack("<IQ", 8, len(values)) + b"".join(map(text, values))


def header(architecture: str = "llama", **more: int) -> dict[str, tuple[int, bytes]]:
    numbers = {
        "context_length": 131_072,
        "block_count": 32,
        "embedding_length": 4_096,
        "attention.head_count": 32,
        "attention.head_count_kv": 8,
        **more,
    }
    return {
        "general.architecture": word(architecture),
        "general.name": word("Test 8B"),
        "tokenizer.ggml.tokens": words("a", "b", "ü"),
        **{f"{architecture}.{name}": number(value) for name, value in numbers.items()},
    }


def model_file(path, values, *, version: int = 3, size: int = 0):
    body = b"".join(
        text(name) + struct.pack("<I", kind) + data for name, (kind, data) in values.items()
    )
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", version, 1, len(values)) + body)
    with path.open("r+b") as file:
        file.truncate(max(size, path.stat().st_size))
    return path


def test_the_header_of_a_file_is_read(tmp_path):
    found = read_header(model_file(tmp_path / "m.gguf", header(), size=5_000))
    assert (found.architecture, found.name, found.size) == ("llama", "Test 8B", 5_000)
    assert (found.layers, found.kv_heads, found.key_length) == (32, 8, 128)
    assert found.trained_window == 131_072
    # 2 bytes for 32 layers, 8 heads, 128 for keys and 128 for values.
    assert found.cache_bytes(1) == 2 * 32 * 8 * 256
    assert not found.embeds


@pytest.mark.parametrize(
    ("free", "window"),
    [(None, 16_384), (64 * GIB, 16_384), (2 * GIB, 6_912), (300 * MIB, 4_096)],
)
def test_the_window_follows_the_memory_that_is_free(tmp_path, free, window):
    found = read_header(model_file(tmp_path / "m.gguf", header()))
    assert found.window_for(free) == window


def test_a_window_is_never_larger_than_the_model_was_trained_for(tmp_path):
    small = read_header(model_file(tmp_path / "m.gguf", header(context_length=2_048)))
    assert small.window_for(64 * GIB) == 2_048


def test_a_model_that_does_not_fit_is_refused_with_the_figures(tmp_path):
    path = model_file(tmp_path / "m.gguf", header(), size=3 * GIB)
    with pytest.raises(ConfigError) as caught:
        check_file(path, free=2 * GIB)
    assert "3,840 MiB" in caught.value.message
    assert "2,048 MiB are free" in caught.value.message
    assert check_file(path, free=8 * GIB)[1] == 16_384


@pytest.mark.parametrize(
    "architecture", ["bert", "nomic-bert", "jina-bert-v2-bert", "t5encoder", "gte"]
)
def test_a_model_that_only_embeds_is_refused(tmp_path, architecture):
    path = model_file(tmp_path / "e.gguf", header(architecture))
    with pytest.raises(ConfigError) as caught:
        check_file(path, free=GIB)
    assert "embeddings" in caught.value.message


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGUF",
        b"PK\x03\x04 a zip",
        b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 40),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1 << 50),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("x") + struct.pack("<IIQ", 9, 8, 1 << 60),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("x") + struct.pack("<I", 99),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + text("x") + struct.pack("<IB", 0, 1),
    ],
)
def test_what_is_no_whole_model_file_is_said(tmp_path, content):
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(LocalModelError) as caught:
        read_header(path)
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_what_is_not_a_file_is_said_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "folder.gguf").mkdir()
    (tmp_path / "device.gguf").symlink_to("/dev/zero")
    (tmp_path / "loop.gguf").symlink_to("loop.gguf")
    for name in ("pipe", "folder", "device", "loop"):
        with pytest.raises(LocalModelError) as caught:
            read_header(tmp_path / f"{name}.gguf")
        assert f"{name}.gguf" in caught.value.message


def test_a_file_for_other_processors_is_said(tmp_path):
    path = tmp_path / "big.gguf"
    path.write_bytes(b"GGUF" + struct.pack(">IQQ", 3, 1, 1))
    with pytest.raises(LocalModelError, match="other order of bytes"):
        read_header(path)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ConfigError) as caught:
        check_file(tmp_path / "none.gguf")
    assert "there is no file" in caught.value.message
    with pytest.raises(ConfigError):
        check_file(tmp_path)


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reading(data):
    import tempfile
    from pathlib import Path

    with tempfile.NamedTemporaryFile() as file:
        file.write(b"GGUF\x03\x00\x00\x00" + data)
        file.flush()
        with contextlib.suppress(LocalModelError):
            read_header(Path(file.name))


def test_free_memory_is_what_the_system_says(tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n")
    assert free_memory(meminfo) == 2 * MIB
    assert free_memory(tmp_path / "none") is None


def test_a_path_is_taken_as_people_write_it(tmp_path):
    folder, home = tmp_path / "project", tmp_path / "home"
    assert file_of("/models/a.gguf", folder, home).as_posix() == "/models/a.gguf"
    assert file_of("~/a.gguf", folder, home) == home / "a.gguf"
    assert file_of("models/a.gguf", folder, home) == folder / "models/a.gguf"


def test_what_a_file_costs_is_nothing(tmp_path):
    found = read_header(model_file(tmp_path / "m.gguf", header()))
    facts = file_facts("m.gguf", found, 4_096)
    assert facts.name == "local/m.gguf"
    assert facts.context_window == 4_096
    assert facts.local
