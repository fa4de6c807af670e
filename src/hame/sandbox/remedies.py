"""What a user can do where the better sandbox does not work, told from what this machine says of itself."""

from pathlib import Path

_BY_SYSTEM: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"debian", "ubuntu"}), "sudo apt install bubblewrap"),
    (frozenset({"fedora", "rhel", "centos", "amzn"}), "sudo dnf install bubblewrap"),
    (frozenset({"arch"}), "sudo pacman -S bubblewrap"),
    (frozenset({"alpine"}), "sudo apk add bubblewrap"),
    (frozenset({"suse", "opensuse", "sles"}), "sudo zypper install bubblewrap"),
    (frozenset({"void"}), "sudo xbps-install bubblewrap"),
    (frozenset({"gentoo"}), "sudo emerge sys-apps/bubblewrap"),
    (frozenset({"nixos"}), "nix profile install nixpkgs#bubblewrap"),
)
"""`ID` and `ID_LIKE` of os-release(5), and how bubblewrap is installed there."""
_CONTAINER_MARKS = (".dockerenv", "run/.containerenv")
_APPARMOR = "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_DEBIAN = "proc/sys/kernel/unprivileged_userns_clone"
_NAMESPACES = "proc/sys/user/max_user_namespaces"

_PROFILE = """\
This system keeps programs of ordinary users from making user namespaces. Allow it to bubblewrap alone: write
/etc/apparmor.d/bwrap with
    abi <abi/4.0>,
    include <tunables/global>
    profile bwrap {program} flags=(unconfined) {{
      userns,
    }}
and load it with: sudo apparmor_parser -r /etc/apparmor.d/bwrap"""
_SWITCH = "User namespaces are switched off here: sudo sysctl -w {setting}"
_CONTAINER = (
    "In a container its seccomp profile forbids namespaces: start it with --security-opt "
    "seccomp=unconfined, or let the container itself be the boundary (--sandbox none)."
)


def install_hint(root: str = "/") -> str:
    """How bubblewrap is installed on this system."""
    names = _system(root)
    command = next((command for known, command in _BY_SYSTEM if known & names), "")
    if not command:
        return "Install bubblewrap with your system's package manager."
    if _in_container(root):
        return f"Install bubblewrap in the container's image: {command.removeprefix('sudo ')}"
    return f"Install bubblewrap: {command}"


def namespace_hint(program: str, root: str = "/") -> str:
    """What lets `program`, which is bubblewrap, make namespaces where it may not."""
    hints: list[str] = []
    if _value(root, _APPARMOR) == "1":
        hints.append(_PROFILE.format(program=_quoted(program)))
    for setting, closed, opened in ((_DEBIAN, "0", "1"), (_NAMESPACES, "0", "15000")):
        if _value(root, setting) == closed:
            name = setting.removeprefix("proc/sys/").replace("/", ".")
            hints.append(_SWITCH.format(setting=f"{name}={opened}"))
    if _in_container(root):
        hints.append(_CONTAINER)
    return "\n".join(hints) or _PROFILE.format(program=_quoted(program))


def _quoted(program: str) -> str:
    """As a profile of AppArmor names it (apparmor.d(5))."""
    return (
        program
        if program.isascii() and program.isprintable() and " " not in program
        else f'"{program}"'
    )


def _system(root: str) -> set[str]:
    names: set[str] = set()
    for line in _value(root, "etc/os-release").splitlines():
        key, _, value = line.partition("=")
        if key in {"ID", "ID_LIKE"}:
            names |= set(value.strip("\"'").split())
    return {name.partition("-")[0] for name in names}


def _in_container(root: str) -> bool:
    return any(Path(root, mark).exists() for mark in _CONTAINER_MARKS)


def _value(root: str, path: str) -> str:
    """A small file's text; nothing where it cannot be read."""
    try:
        return Path(root, path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
