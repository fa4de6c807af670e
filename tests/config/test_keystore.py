"""Keys between runs: private, bound to their origin, and never lost by a failed write."""

import json
import os
import stat

import pytest

from hame.base.errors import ConfigError
from hame.base.secret import SavedKey, mask
from hame.config.keystore import KeyStore

KEY = SavedKey(provider="lab", origin="https://lab.test", secret="sk-planted-0123456789")


class Ring:
    """A keyring in memory."""

    name = "the keyring (test)"

    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def get(self, provider: str) -> str | None:
        return self.held.get(provider)

    def set(self, provider: str, secret: str) -> None:
        self.held[provider] = secret

    def delete(self, provider: str) -> None:
        self.held.pop(provider, None)


def never():
    raise AssertionError("the keyring is not to be loaded")


def test_a_key_is_kept_in_a_file_that_only_its_owner_can_read(tmp_path):
    path = tmp_path / "hame" / "keys.json"
    store = KeyStore(str(path))
    store.save(KEY)
    assert store.plain
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeyStore(str(path)).load("lab") == KEY
    assert KeyStore(str(path)).origin("lab") == "https://lab.test"
    assert store.where("lab") == str(path)


def test_with_a_keyring_the_file_holds_no_key(tmp_path):
    path, ring = tmp_path / "keys.json", Ring()
    KeyStore(str(path), lambda: ring).save(KEY)
    assert KEY.secret not in path.read_text()
    assert KeyStore(str(path), lambda: ring).load("lab") == KEY
    assert KeyStore(str(path), lambda: ring).where("lab") == "the keyring"


def test_looking_for_keys_loads_no_keyring(tmp_path):
    path, ring = tmp_path / "keys.json", Ring()
    KeyStore(str(path), lambda: ring).save(KEY)
    store = KeyStore(str(path), never)
    assert store.providers() == ["lab"]
    assert store.origin("lab") == "https://lab.test"
    assert store.plain_secrets() == []


def test_a_key_whose_keyring_is_gone_is_said_with_the_remedy(tmp_path):
    path, ring = tmp_path / "keys.json", Ring()
    KeyStore(str(path), lambda: ring).save(KEY)
    with pytest.raises(ConfigError) as caught:
        KeyStore(str(path)).load("lab")
    assert "hame auth add lab" in caught.value.hint


def test_removing_a_key_forgets_it_everywhere(tmp_path):
    path, ring = tmp_path / "keys.json", Ring()
    store = KeyStore(str(path), lambda: ring)
    store.save(KEY)
    assert store.remove("lab")
    assert not store.remove("lab")
    assert ring.held == {}
    assert KeyStore(str(path)).providers() == []


def test_two_writers_lose_nothing_of_each_other(tmp_path):
    path = str(tmp_path / "keys.json")
    one, other = KeyStore(path), KeyStore(path)
    assert one.providers() == other.providers() == []
    one.save(KEY)
    other.save(SavedKey(provider="b", origin="https://b.test", secret="another-key-12345"))
    assert KeyStore(path).providers() == ["b", "lab"]


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path):
    path = tmp_path / "keys.json"
    KeyStore(str(path)).save(KEY)
    path.chmod(0o644)
    assert KeyStore(str(path)).load("lab") == KEY
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"keys": 1}', b"\xff\xfe", b'["sk-planted-0123456789"]']
)
def test_a_damaged_file_is_an_error_that_does_not_repeat_what_is_in_it(tmp_path, content):
    path = tmp_path / "keys.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        KeyStore(str(path)).providers()
    assert str(path) in caught.value.message
    assert "planted" not in caught.value.message + caught.value.hint


def test_a_file_of_a_newer_hame_is_not_touched(tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"version": 99, "keys": {}}))
    with pytest.raises(ConfigError) as caught:
        KeyStore(str(path)).save(KEY)
    assert "newer" in caught.value.message
    assert json.loads(path.read_text())["version"] == 99


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError):
        KeyStore(str(tmp_path / "file" / "keys.json")).save(KEY)


def test_a_fifo_in_place_of_the_file_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "keys.json")
    with pytest.raises(ConfigError):
        KeyStore(str(tmp_path / "keys.json")).providers()


def test_a_key_is_never_shown_whole():
    assert KEY.secret not in repr(KEY)
    assert mask(KEY.secret) == "…6789"
    assert mask("short") == "…"
