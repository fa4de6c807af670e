"""What a command will want from beyond the sandbox, as far as its words tell.

Some programs cannot do their work confined: they use keys that are hidden there, talk to a service of
the machine, or change what does not belong to the project. Others only need a machine to talk to.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

import msgspec

from hame.permissions.commands.found import Found
from hame.permissions.commands.scene import Scene
from hame.permissions.names import names


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """What a line will want from beyond the sandbox."""

    reason: str = ""
    """Why it has to run outside; empty: as far as is known it need not."""
    hosts: tuple[str, ...] = ()
    """Machines that it will want to talk to, by name."""


_REMOTE_SHELLS = names("ssh scp sftp sshfs mosh ssh-copy-id ssh-add ssh-keyscan lftp")
_PROBING = names(
    "ping ping6 nslookup dig host drill whois traceroute tracepath mtr nmap arp nc ncat netcat telnet "
    "socat tcpdump ip ss ifconfig"
)
_DAEMONS = names(
    "docker docker-compose podman nerdctl buildah lxc kubectl helm minikube kind k3d skaffold tilt "
    "vagrant systemctl journalctl loginctl crontab dbus-send gdbus busctl notify-send virsh"
)
_SYSTEM_PACKAGES = names(
    "apt apt-get aptitude dpkg dnf yum rpm pacman zypper apk emerge snap flatpak brew port nix-env "
    "choco winget scoop"
)
_CLOUDS = names(
    "gh glab hub aws gcloud gsutil bq az doctl heroku vercel netlify fly flyctl railway render wrangler "
    "firebase supabase terraform tofu pulumi ansible ansible-playbook op vault rclone s3cmd"
)
_DESKTOP = names(
    "xdg-open open gio code cursor subl wslview explorer.exe xclip xsel wl-copy pbcopy"
)
_OUTSIDE: tuple[tuple[frozenset[str], str], ...] = (
    (_REMOTE_SHELLS, "{} talks to another machine with your keys"),
    (_PROBING, "{} looks at the network"),
    (_DAEMONS, "{} talks to a service of this machine"),
    (_SYSTEM_PACKAGES, "{} changes the software of this machine"),
    (_CLOUDS, "{} acts in your name elsewhere"),
    (_DESKTOP, "{} opens something on your desktop"),
)

_VALUED = {
    "git": names("-c -C --git-dir --work-tree --namespace --exec-path --config-env"),
    "npm": names("--prefix -C -w --workspace --registry"),
    "pnpm": names("-C --dir -F --filter --registry"),
    "yarn": names("--cwd --registry"),
    "bun": names("--cwd --registry"),
    "cargo": names("-C --config --manifest-path --color -Z"),
    "uv": names("--directory --project --config-file --color"),
    "poetry": names("-C --directory -P --project"),
    "pdm": names("-p --project -c --config"),
    "go": names("-C"),
    "composer": names("-d --working-dir"),
    "docker": names("-H --host -c --context --config -l --log-level"),
}
"""Options before the verb whose value is the next word."""

_GIT_WORKTREE = frozenset({"add", "move", "remove", "prune", "repair"})
"""These write `.git/worktrees`, and `add` makes its branch before it finds that it cannot."""

_GIT_REMOTE = names("push fetch pull ls-remote archive-remote send-pack fetch-pack lfs")
_GIT_REMOTE_PAIRS = frozenset(
    {("remote", "update"), ("remote", "show"), ("remote", "prune"), ("submodule", "update"),
     ("submodule", "add"), ("submodule", "init")}
)  # fmt: skip
_PUBLISHES = frozenset({
    ("npm", "publish"), ("npm", "login"), ("npm", "adduser"), ("npm", "deprecate"), ("pnpm", "publish"),
    ("yarn", "publish"), ("cargo", "publish"), ("cargo", "login"), ("cargo", "yank"), ("twine", "upload"),
    ("uv", "publish"), ("poetry", "publish"), ("flit", "publish"), ("hatch", "publish"), ("gem", "push"),
    ("mvn", "deploy"), ("goreleaser", "release"),
})  # fmt: skip
_INSTALLS_FOR_ALL = frozenset({
    ("cargo", "install"), ("go", "install"), ("pipx", "install"), ("uv", "tool"), ("rustup", "toolchain"),
    ("rustup", "component"), ("rustup", "target"), ("rustup", "update"), ("rustup", "default"),
    ("gem", "install"), ("dotnet", "tool"),
})  # fmt: skip
_GLOBAL_OPTIONS = frozenset({"-g", "--global", "--location=global", "--user", "--system"})
_GLOBAL_PROGRAMS = names("npm pnpm yarn pip pip3 bun")

_REGISTRIES: dict[str, tuple[frozenset[str], str]] = {
    "pip": (names("install download wheel index"), "pypi.org"),
    "pip3": (names("install download wheel index"), "pypi.org"),
    "uv": (names("sync lock add pip"), "pypi.org"),
    "poetry": (names("install add update lock sync"), "pypi.org"),
    "pdm": (names("install add update lock sync"), "pypi.org"),
    "pipenv": (names("install update lock sync"), "pypi.org"),
    "npm": (
        names("install i ci add update up view info audit outdated create init"),
        "registry.npmjs.org",
    ),
    "pnpm": (names("install i add update up dlx"), "registry.npmjs.org"),
    "yarn": (names("install add upgrade up dlx"), "registry.npmjs.org"),
    "bun": (names("install i add update"), "registry.npmjs.org"),
    "cargo": (names("add update fetch generate-lockfile search"), "index.crates.io"),
    "go": (names("get mod"), "proxy.golang.org"),
    "bundle": (names("install update add"), "rubygems.org"),
    "composer": (names("install update require"), "repo.packagist.org"),
}
"""Where package tools get things by default, and the verbs that make them."""

_DOWNLOADERS = names("curl wget aria2c http https xh git")


def departure_of(scene: Scene) -> Departure:
    """What a line will want from beyond the sandbox."""
    reason = next((words for found in scene.commands if (words := _why_outside(found))), "")
    hosts = dict.fromkeys(host for found in scene.commands for host in _hosts(found))
    return Departure(reason=reason, hosts=tuple(hosts))


def _why_outside(found: Found) -> str:
    name, operands = found.name, _verb_and_operands(found)
    for programs, words in _OUTSIDE:
        if name in programs:
            return words.format(name)
    verb = operands[0] if operands else ""
    if name == "git" and (verb in _GIT_REMOTE or tuple(operands[:2]) in _GIT_REMOTE_PAIRS):
        return f"git {verb} talks to another machine with your keys"
    if name == "git" and verb == "worktree" and not _GIT_WORKTREE.isdisjoint(operands[1:2]):
        return f"git worktree {operands[1]} writes what is protected in .git"
    if name == "git" and verb == "clone" and any(_is_ssh(text) for text in operands[1:]):
        return "git clone talks to another machine with your keys"
    if name == "rsync" and any(_is_ssh(text) for text in operands):
        return "rsync talks to another machine with your keys"
    if (name, verb) in _PUBLISHES:
        return f"{name} {verb} publishes in your name"
    if (name, verb) in _INSTALLS_FOR_ALL:
        return f"{name} {verb} changes the software of your account"
    if name in _GLOBAL_PROGRAMS and not _GLOBAL_OPTIONS.isdisjoint(found.texts):
        return f"{name} {verb} changes the software of your account"
    return ""


def _hosts(found: Found) -> Iterator[str]:
    if found.name in _DOWNLOADERS:
        for text in _operands(found):
            if host := _host_of(text):
                yield host
    name, verbs = found.name, _verb_and_operands(found)
    if name.startswith("python") and found.texts[:2] == ("-m", "pip"):
        name, verbs = "pip", verbs[1:]
    known = _REGISTRIES.get(name)
    if known is not None and verbs and verbs[0] in known[0]:
        yield known[1]


def _operands(found: Found) -> list[str]:
    return [text for text in found.texts if not text.startswith("-")]


def _verb_and_operands(found: Found) -> list[str]:
    """The words that are no options, those aside that belong to one before the verb."""
    valued, words = _VALUED.get(found.name, frozenset[str]()), list(found.texts)
    while words and words[0][:1] in {"-", "+"}:  # `cargo +nightly` names a toolchain.
        del words[: 2 if words[0] in valued else 1]
    return [text for text in words if not text.startswith("-")]


def _is_ssh(text: str) -> bool:
    """`ssh://host/path`, or `user@host:path` as scp has it (git-clone(1), "GIT URLS")."""
    if "://" in text:
        return text.startswith(("ssh://", "git+ssh://", "ssh+git://"))
    host, colon, _ = text.partition(":")
    return bool(colon and host) and "/" not in host


def _host_of(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        return ""
    try:
        return urlsplit(text).hostname or ""
    except ValueError:
        return ""
