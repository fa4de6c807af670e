"""What a user is advised to do, by what a machine says of itself."""

from pathlib import Path

import pytest

from hame.sandbox.remedies import install_hint, namespace_hint


def machine(base: Path, **files: str) -> str:
    for name, text in files.items():
        path = base / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(base)


@pytest.mark.parametrize(
    ("release", "command"),
    [
        ("ID=debian\n", "apt install"),
        ('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', "apt install"),
        ("ID=fedora\n", "dnf install"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install"),
        ("ID=arch\n", "pacman -S"),
        ("ID=alpine\n", "apk add"),
        ('ID="opensuse-leap"\n', "zypper install"),
        ("ID=nixos\n", "nix profile"),
    ],
)
def test_how_it_is_installed_depends_on_the_system(tmp_path: Path, release: str, command: str):
    root = machine(tmp_path, **{"etc__os-release": release})
    assert command in install_hint(root)
    root = machine(tmp_path, **{".dockerenv": ""})
    assert "image" in install_hint(root)
    assert "sudo" not in install_hint(root)


def test_an_unknown_system_has_a_package_manager_too(tmp_path: Path):
    assert "package manager" in install_hint(str(tmp_path))
    assert "package manager" in install_hint(machine(tmp_path, **{"etc__os-release": "ID=odd"}))


def test_apparmor_gets_a_profile_for_that_very_program(tmp_path: Path):
    """Ubuntu 23.10 and later."""
    setting = "proc__sys__kernel__apparmor_restrict_unprivileged_userns"
    hint = namespace_hint("/usr/bin/bwrap", machine(tmp_path, **{setting: "1\n"}))
    assert "profile bwrap /usr/bin/bwrap flags=(unconfined) {" in hint
    assert "userns," in hint
    assert "container" not in hint
    assert '"/opt/my tools/bwrap"' in namespace_hint("/opt/my tools/bwrap", str(tmp_path))


def test_what_is_switched_off_can_be_switched_on(tmp_path: Path):
    root = machine(tmp_path, proc__sys__kernel__unprivileged_userns_clone="0\n")
    assert "sysctl -w kernel.unprivileged_userns_clone=1" in namespace_hint("/b", root)
    root = machine(tmp_path, proc__sys__user__max_user_namespaces="0\n")
    assert "user.max_user_namespaces=" in namespace_hint("/b", root)


def test_a_container_has_its_own_reasons(tmp_path: Path):
    hint = namespace_hint("/b", machine(tmp_path, **{"run__.containerenv": ""}))
    assert "seccomp=unconfined" in hint
    assert "apparmor" not in hint


def test_where_nothing_is_known_it_is_most_likely_apparmor(tmp_path: Path):
    assert "apparmor" in namespace_hint("/b", str(tmp_path))
