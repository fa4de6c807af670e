"""Where secrets are found outside of projects."""

import os
from pathlib import Path

import pytest

from hame.sandbox.credential import holds_credential
from hame.sandbox.secrets import find_secrets


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "home"
    folder.mkdir()
    return folder


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def below(home: Path, environment: dict[str, str] | None = None) -> set[str]:
    found = find_secrets(str(home), environment or {}, as_root=False)
    return {path.removeprefix(f"{home}/") for path in found if path.startswith(str(home.parent))}


def test_what_is_there_is_found_under_the_name_it_has(home: Path):
    for path in (
        ".ssh/id_rsa", ".aws/config", ".netrc", ".docker/config.json", ".docker/other", ".npmrc",
        ".config/gh/hosts.yml", ".config/BraveSoftware/x", ".config/other/x", ".bash_history",
        ".local/share/keyrings/x", ".local/share/other", ".cargo/credentials.toml", ".gitconfig",
        ".claude/.credentials.json", ".claude/settings.json", ".bashrc", "notes.txt",
    ):  # fmt: skip
        write(home / path, "//r/:_authToken=1")
    assert below(home) == {
        ".ssh", ".aws", ".netrc", ".docker/config.json", ".npmrc", ".config/gh",
        ".config/BraveSoftware", ".bash_history", ".local/share/keyrings",
        ".cargo/credentials.toml", ".claude/.credentials.json",
    }  # fmt: skip


def test_what_a_variable_names_is_found(home: Path):
    write(home.parent / "keys" / "ring")
    write(home.parent / "kube" / "one")
    write(home.parent / "cargo" / "credentials.toml")
    environment = {
        "GNUPGHOME": str(home.parent / "keys"),
        "KUBECONFIG": f"{home.parent}/kube/one:{home.parent}/kube/none",
        "CARGO_HOME": str(home.parent / "cargo"),
        "NETRC": "relative",
        "HISTFILE": str(home),
    }
    assert below(home, environment) == {
        f"{home.parent}/keys", f"{home.parent}/kube/one", f"{home.parent}/cargo/credentials.toml",
    }  # fmt: skip


def test_links_lead_to_what_is_hidden(home: Path):
    write(home / "dotfiles" / "netrc")
    write(home / "dotfiles" / "ssh" / "config")
    write(home / "keys" / "id_rsa")
    (home / ".netrc").symlink_to("dotfiles/netrc")
    (home / ".ssh").symlink_to("dotfiles/ssh")
    (home / "dotfiles" / "ssh" / "id_rsa").symlink_to(home / "keys" / "id_rsa")
    (home / "dotfiles" / "ssh" / "sh").symlink_to("/bin/sh")
    (home / ".aws").symlink_to("/")
    (home / ".kube").symlink_to(".")
    assert below(home) == {"dotfiles/netrc", "dotfiles/ssh", "keys/id_rsa"}


def test_a_home_that_is_not_there_has_no_secrets(home: Path):
    home.rmdir()
    assert below(home) == set()


@pytest.mark.parametrize(
    ("name", "text", "secret"),
    [
        (".npmrc", "save-exact=true\nregistry=https://r.example/\n", False),
        (".npmrc", "//r.example/:_authToken=${NPM_TOKEN}\n", False),
        (".npmrc", "# _authToken=x\n", False),
        (".npmrc", "//r.example/:_authToken=abc\n", True),
        (".npmrc", "a=b\n//r.example/:_password = \"abc\"\n", True),
        (".npmrc", "_auth=abc\n", True),
        ("ca.pem", "-----BEGIN CERTIFICATE-----\n", False),
        ("ca.pem", "-----BEGIN CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\n", True),
        ("key.pem", "-----BEGIN PRIVATE KEY-----\n", True),
        ("key.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n", True),
        ("pub.key", "-----BEGIN PUBLIC KEY-----\n", False),
        ("odd.pem", "nobody knows", True),
        ("a.key", "0123456789abcdef", True),
        ("x.p12", "-----BEGIN CERTIFICATE-----\n", True),
        (".env", "", True),
        ("big.pem", "-----BEGIN CERTIFICATE-----\n" + "x" * (1 << 20), True),
    ],
)  # fmt: skip
def test_a_look_tells_a_secret_from_what_is_only_called_so(
    tmp_path: Path, name: str, text: str, secret: bool
):
    assert holds_credential(str(write(tmp_path / name, text))) is secret


def test_what_cannot_be_looked_into_is_a_secret(tmp_path: Path):
    os.mkfifo(tmp_path / "a.pem")
    (tmp_path / "b.pem").symlink_to("c")
    assert all(holds_credential(str(tmp_path / name)) for name in ("a.pem", "b.pem", "none.key"))
