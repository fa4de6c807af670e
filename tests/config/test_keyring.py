"""The system's keyring, by a package of the same shape as the real one."""

import sys
from pathlib import Path

import pytest

from hame.base.errors import ConfigError
from hame.base.secret import SavedKey
from hame.config.keyring import find_keyring
from hame.config.keystore import KeyStore

PACKAGE = """
from keyring import errors

class Backend:
    name = "test keyring"
    priority = {priority}
    __module__ = "{module}"

held = {{}}
locked = False

def get_keyring():
    return Backend()

def _open():
    if locked:
        raise errors.KeyringLocked("it is locked")

def get_password(service, name):
    _open()
    return held.get((service, name))

def set_password(service, name, value):
    _open()
    held[service, name] = value

def delete_password(service, name):
    _open()
    if (service, name) not in held:
        raise errors.PasswordDeleteError("not there")
    del held[service, name]
"""
ERRORS = """
class KeyringError(Exception): ...
class KeyringLocked(KeyringError): ...
class PasswordDeleteError(KeyringError): ...
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def make(priority: float = 5, module: str = "keyring.backends.SecretService"):
        package = tmp_path / "keyring"
        package.mkdir()
        (package / "__init__.py").write_text(PACKAGE.format(priority=priority, module=module))
        (package / "errors.py").write_text(ERRORS)
        monkeypatch.syspath_prepend(tmp_path)

    yield make
    for name in [name for name in sys.modules if name.partition(".")[0] == "keyring"]:
        del sys.modules[name]


def test_a_key_is_kept_in_the_keyring_and_found_there(install, tmp_path):
    install()
    store = KeyStore(str(tmp_path / "keys.json"), find_keyring)
    key = SavedKey(provider="lab", origin="https://lab.test", secret="sk-planted-0123456789")
    store.save(key)
    assert store.place == "the keyring (test keyring)"
    assert not store.plain
    assert key.secret not in (tmp_path / "keys.json").read_text()
    assert KeyStore(str(tmp_path / "keys.json"), find_keyring).load("lab") == key
    assert store.remove("lab")
    ring = find_keyring()
    assert ring is not None
    ring.delete("lab")
    assert ring.get("lab") is None


def test_a_locked_keyring_is_said_with_the_remedy(install):
    install()
    ring = find_keyring()
    assert ring is not None
    vars(sys.modules["keyring"])["locked"] = True
    for act in (lambda: ring.get("a"), lambda: ring.set("a", "b"), lambda: ring.delete("a")):
        with pytest.raises(ConfigError) as caught:
            act()
        assert "it is locked" in caught.value.message
        assert "--store file" in caught.value.hint


@pytest.mark.parametrize(
    ("priority", "module"),
    [
        (0, "keyring.backends.fail"),
        (5, "keyring.backends.null"),
        (5, "keyrings.alt.file"),
        (-1, "x"),
    ],
)
def test_a_keyring_that_keeps_no_secret_is_none(install, priority, module):
    install(priority, module)
    assert find_keyring() is None


def test_without_the_package_there_is_none(monkeypatch):
    monkeypatch.setattr("hame.config.keyring.find_spec", lambda _: None)
    assert find_keyring() is None
