"""Refused because of the program, or what it is told to do."""

import re
from functools import partial
from itertools import pairwise

from hame.base.zone import is_below, split
from hame.permissions.commands.found import UNKNOWN, Found
from hame.permissions.commands.scene import Scene
from hame.permissions.names import names

_ELEVATED = names(
    "sudo su doas pkexec run0 runuser gosu su-exec nsenter unshare chroot setcap capsh setpriv newgrp sg bwrap"
)
_SYSTEM_STATE = names(
    "shutdown reboot halt poweroff telinit init kexec mount umount insmod rmmod modprobe depmod "
    "swapon swapoff losetup setenforce useradd userdel usermod groupadd groupdel groupmod passwd chpasswd "
    "visudo vipw adduser deluser iptables ip6tables iptables-restore nft ufw firewall-cmd ipset pfctl "
    "update-grub grub-install efibootmgr timedatectl hostnamectl localectl"
)
_SHOW_ALONE = names("mount swapon losetup timedatectl hostnamectl localectl")
"""Without words they only show how things are."""
_DISKS = names(
    "fdisk sfdisk cfdisk gdisk sgdisk parted partprobe wipefs blkdiscard badblocks mkswap cryptsetup "
    "mke2fs lvremove vgremove pvremove mdadm zpool hdparm nvme diskutil"
)
_SERVICES = names("at batch launchctl update-rc.d chkconfig rc-update anacron systemd-run")
_SERVICE_VERBS = names(
    "enable disable start stop restart reload mask unmask edit link set-default isolate poweroff reboot "
    "halt suspend hibernate kexec daemon-reload daemon-reexec set-property set-environment import-environment "
    "add-wants add-requires reenable preset revert kill try-restart"
)
_AGENTS = names(
    "claude codex gemini qwen cursor-agent copilot amp aider goose opencode crush kimi q droid auggie cline hame"
)
_GATELESS = (
    "--dangerously", "--yolo", "--allow-all-tools", "--trust-all-tools", "--full-auto", "--yes-always",
    "--approval-mode=yolo", "--approval-mode=auto", "--permission-mode=bypass", "--mode=auto",
    "--permission-mode=auto", "--sandbox=none", "--sandbox=danger", "--bypass", "--allow-all", "--skip-permissions",
    "--no-sandbox", "--auto-approve", "--ask-for-approval=never",
)  # fmt: skip
_GATELESS_PAIRS = frozenset({
    ("--mode", "auto"), ("--permission-mode", "auto"), ("--permission-mode", "bypassPermissions"),
    ("--approval-mode", "yolo"), ("--sandbox", "none"), ("--sandbox", "danger-full-access"),
    ("--ask-for-approval", "never"), ("-a", "never"), ("--approval-mode", "auto_edit"),
})  # fmt: skip
_MODE_OPTIONS = frozenset({"--mode", "--permission-mode"})
_SAFE_MODES = frozenset({"ask", "plan"})
_MEDDLING = re.compile(r"HAME_\w*|LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_\w+|HISTFILE")
_SECRET_PRINTERS: tuple[tuple[str, ...], ...] = (
    ("gh", "auth", "token"), ("gh", "auth", "status", "--show-token"), ("gh", "auth", "status", "-t"),
    ("glab", "auth", "token"),
    ("gcloud", "auth", "print-access-token"), ("gcloud", "auth", "print-identity-token"),
    ("gcloud", "auth", "application-default", "print-access-token"),
    ("az", "account", "get-access-token"), ("aws", "configure", "export-credentials"),
    ("aws", "configure", "get"), ("aws", "sts", "get-session-token"), ("aws", "sts", "assume-role"),
    ("aws", "ecr", "get-login-password"), ("aws", "secretsmanager", "get-secret-value"),
    ("security", "find-generic-password"), ("security", "find-internet-password"),
    ("security", "dump-keychain"), ("security", "export"), ("secret-tool",), ("kwallet-query",),
    ("keyctl", "print"), ("keyctl", "pipe"), ("keyctl", "read"),
    ("git", "credential", "fill"), ("git", "credential-store", "get"), ("git", "credential-osxkeychain", "get"),
    ("git", "credential-cache", "get"), ("kubectl", "config", "view", "--raw"),
    ("npm", "token"), ("op", "read"), ("op", "item", "get"), ("bw", "get"), ("pass", "show"), ("lpass", "show"),
    ("heroku", "auth:token"), ("doctl", "auth", "token"), ("fly", "auth", "token"), ("flyctl", "auth", "token"),
    ("vault", "print", "token"), ("vault", "kv", "get"), ("vault", "read"), ("hame", "auth", "token"),
    ("keyring", "get"), ("rbw", "get"), ("gopass", "show"), ("gcloud", "secrets", "versions", "access"),
    ("az", "keyvault", "secret", "show"), ("doppler", "secrets", "get"), ("glab", "auth", "status", "-t"),
    ("git", "credential-manager", "get"),
)  # fmt: skip
"""Sub-commands that print a key; the words must come in this order, others may stand between."""

_CREDENTIAL_HELPERS = ("git-credential-", "docker-credential-")

_SET_ID = re.compile(r"(?:[ugoa]*[+=][rwxXt]*s[rwxXt]*)|0?[2-7][0-7]{3}")
_CONTAINERS = names("docker podman nerdctl lxc")
_PRIVILEGED = re.compile(
    r"--privileged(?:=true)?|--pid=host|--cap-add=(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE)|--device(?:=.*)?|--userns=host"
    r"|--security-opt=.*unconfined.*|security\.privileged=(?:true|1)"
)
_HOST_MOUNT = re.compile(
    r"(?:type=bind,)?(?:source=|src=)?/(?:etc|root|home|usr|var|boot|proc|sys|dev|run)?/?(?::.*|,.*)?"
    r"|.*docker\.sock.*"
)
_HARMLESS_GIT_KEYS = re.compile(
    r"user\.(?:name|email)|color\..*|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)"
    r"|fetch\.prune|rebase\.(?:autostash|autosquash)|core\.(?:autocrlf|eol|filemode|ignorecase|quotepath)"
    r"|commit\.gpgsign|merge\.conflictstyle|rerere\.enabled|advice\..*|branch\..*",
    re.IGNORECASE,
)
_GIT_CONFIG_READS = names(
    "--get --get-all --get-regexp --get-urlmatch --list -l --get-color --get-colorbool get list"
)
_GIT_CONFIG_WRITES = names(
    "--unset --unset-all --add --replace-all --rename-section --remove-section --edit -e set unset edit "
    "rename-section remove-section"
)


def refuse_program(found: Found, scene: Scene) -> tuple[str, str] | None:
    """The rule and the reason, when no run of this command is taken from a model."""
    for check in (
        _refuse_names,
        _refuse_modes,
        partial(_refuse_container, home=scene.ground.paths.home),
        _refuse_services,
        _refuse_meddling,
        _refuse_agent,
        _refuse_kill,
        _refuse_printing,
        _refuse_git_config,
    ):
        refused = check(found)
        if refused is not None:
            return refused
    return None


def _refuse_names(found: Found) -> tuple[str, str] | None:
    name = found.name
    if name in _ELEVATED:
        return "D7", f"{name} changes whose rights a command has"
    if name in _SYSTEM_STATE and not (name in _SHOW_ALONE and not found.texts):
        return "D8", f"{name} changes the state of the machine"
    if name in _DISKS or name.startswith("mkfs"):
        return "D2", f"{name} changes disks"
    if name in _SERVICES:
        return "D4", f"{name} starts things outside this session"
    if name == "sysctl" and any(
        "=" in text or text in {"-w", "-p", "--system"} for text in found.texts
    ):
        return "D8", "it changes settings of the kernel"
    if name == "history" and any(text.startswith(("-c", "-d", "-w")) for text in found.texts):
        return "D10", "it hides what was run"
    return None


def _refuse_modes(found: Found) -> tuple[str, str] | None:
    sets = found.name == "chmod" and any(
        _SET_ID.fullmatch(part) for text in found.texts for part in text.split(",")
    )
    if sets or (found.name == "install" and any(_SET_ID.fullmatch(text) for text in found.texts)):
        return "D7", "it gives a program somebody else's rights"
    return None


def _refuse_container(found: Found, home: str) -> tuple[str, str] | None:
    if found.name not in _CONTAINERS:
        return None
    texts = found.texts
    for index, text in enumerate(texts):
        joined = f"{text}={texts[index + 1]}" if index + 1 < len(texts) else text
        if _PRIVILEGED.fullmatch(text) or (text.startswith("--") and _PRIVILEGED.fullmatch(joined)):
            return "D7", "the container would have the machine's own rights"
        if text in {"-v", "--volume", "--mount"} and index + 1 < len(texts):
            mounted = texts[index + 1]
        elif text.startswith(("-v/", "--volume=", "--mount=")):
            mounted = text.removeprefix("-v").partition("=")[2] or text.removeprefix("-v")
        else:
            continue
        if _HOST_MOUNT.fullmatch(mounted) or _holds_home(mounted, home):
            return "D7", "the container would see the machine's own files"
    return None


def _holds_home(mounted: str, home: str) -> bool:
    """Whether what is mounted is the home folder, or one above it: its keys would go with it."""
    source = re.split(r"[:,]", mounted.removeprefix("type=bind,"), maxsplit=1)[0]
    source = source.removeprefix("source=").removeprefix("src=")
    return bool(home) and source.startswith("/") and is_below(split(home), source)


def _refuse_services(found: Found) -> tuple[str, str] | None:
    if found.name == "crontab" and "-l" not in found.texts:
        return "D4", "it changes what is run later"
    if found.name in {"systemctl", "service", "loginctl", "initctl", "rc-service"}:
        verbs = {*found.texts} & (_SERVICE_VERBS | {"enable-linger"})
        if verbs:
            return "D4", f"{found.name} {min(verbs)} changes what runs outside this session"
    return None


def _refuse_meddling(found: Found) -> tuple[str, str] | None:
    names = [name for name, _ in found.assignments]
    if found.name in {"export", "declare", "typeset", "readonly", "unset", "local", "env"}:
        names += [text.partition("=")[0] for text in found.texts]
    for name in names:
        if _MEDDLING.fullmatch(name):
            return "D10", f"setting {name} changes what other programs do, or hame itself"
    return None


def _refuse_agent(found: Found) -> tuple[str, str] | None:
    texts = found.texts
    pairs = set(pairwise(texts))
    agent = found.name in _AGENTS
    loose = any(text.startswith(("--dangerously", "--yolo")) for text in texts)
    if agent:
        loose = loose or any(text.startswith(_GATELESS) for text in texts)
        loose = loose or not pairs.isdisjoint(_GATELESS_PAIRS)
        loose = loose or (found.name in {"gemini", "qwen"} and "-y" in texts)
        loose = loose or (found.name == "cursor-agent" and not {"-f", "--force"}.isdisjoint(texts))
    if found.name == "hame":
        loose = loose or any(
            option in _MODE_OPTIONS and mode not in _SAFE_MODES for option, mode in pairs
        )
    if loose:
        return "D10", f"it starts {found.name.replace(UNKNOWN, '?')} without its safeguards"
    return _refuse_own_reins(texts) if found.name == "hame" else None


def _refuse_own_reins(texts: tuple[str, ...]) -> tuple[str, str] | None:
    """Commands by which the user says what hame may do; options may stand before them."""
    given = set(texts)
    if "permissions" in given and not {"add", "remove"}.isdisjoint(given):
        return "D10", "it changes what hame may do"
    if "config" in given and not {"set", "unset"}.isdisjoint(given):
        return "D10", "it changes hame's settings"
    # A look alone is no change, but `--trust` is one, and so is an answer to the question.
    if "--trust" in given or ("trust" in given and given.isdisjoint({"--list", "--json"})):
        return "D10", "whom the user trusts is the user's to say"
    return None


def _refuse_kill(found: Found) -> tuple[str, str] | None:
    texts = found.texts
    if found.name in {"pkill", "killall", "killall5"}:
        operands = [text for text in texts if not text.startswith("-")]
        if found.name == "killall5" or any(
            "hame" in text or text in {".", ".*"} for text in operands
        ):
            return "D10", "it would end hame"
    if found.name == "kill":
        operands = [text for text in texts[1:] if text.lstrip("-").isdigit()] + [
            text
            for text in texts
            if text in {"$PPID", "1", "-1"} and texts.index(text) == len(texts) - 1
        ]
        ends_hame = any(
            inner.name in {"pgrep", "pidof"} and any("hame" in text for text in inner.texts)
            for word in found.arguments
            for inner in word.inner
        )
        if "$PPID" in texts or ends_hame or "-1" in operands[-1:] or operands[-1:] == ["1"]:
            return "D10", "it would end hame, or everything"
    return None


def _refuse_printing(found: Found) -> tuple[str, str] | None:
    words = (found.name, *found.texts)
    for wanted in _SECRET_PRINTERS:
        if words[0] == wanted[0] and _holds_in_order(words, wanted):
            return "D12", f"{' '.join(wanted)} prints a secret"
    if found.name.startswith(_CREDENTIAL_HELPERS) and "get" in found.texts:
        return "D12", f"{found.name} prints a secret"
    if found.name in {"gpg", "gpg2"} and any("export-secret" in text for text in found.texts):
        return "D12", "it prints secret keys"
    return None


def _holds_in_order(words: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    rest = iter(words)
    return all(any(word == want for word in rest) for want in wanted)


def _refuse_git_config(found: Found) -> tuple[str, str] | None:
    if found.name != "git" or "config" not in found.texts:
        return None
    after = found.texts[found.texts.index("config") + 1 :]
    if not _GIT_CONFIG_READS.isdisjoint(after):
        return None
    operands = [
        text for text in after if not text.startswith("-") and text not in _GIT_CONFIG_WRITES
    ]
    writes = len(operands) > 1 or not _GIT_CONFIG_WRITES.isdisjoint(after)
    if writes and not (operands and _HARMLESS_GIT_KEYS.fullmatch(operands[0])):
        return "D4", "git's configuration decides what git runs"
    return None
