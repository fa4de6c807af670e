"""Refused because of what flows where: downloads into shells, shells into connections, output into URLs."""

import re

from hame.permissions.commands.found import Found
from hame.permissions.commands.scene import Scene
from hame.permissions.commands.wrapped import SHELLS
from hame.permissions.names import names

_DOWNLOADERS = names("curl wget fetch aria2c axel http https xh lynx lwp-download GET ftp tftp")
_INTERPRETERS = SHELLS | names(
    "node nodejs deno bun ruby perl php lua osascript pwsh powershell tclsh"
)
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")
_CONNECTIONS = names("nc ncat netcat nc.traditional nc.openbsd telnet socat")
_NETWORK = (
    _DOWNLOADERS
    | _CONNECTIONS
    | names(
        "ping ping6 nslookup dig host drill whois traceroute tracepath ssh scp sftp rsync finger"
    )
)
_REVERSE_SHELL = re.compile(
    r"(?:socket|TCPSocket|fsockopen|net\.connect|net\.Socket).*(?:dup2|pty|/bin/(?:ba|z|)sh|subprocess|exec|spawn|system)",
    re.DOTALL | re.IGNORECASE,
)
_FORK_BOMB = re.compile(r"([^\s(){}|&;]+)\s*\(\s*\)\s*\{[^}]*?(?<![^\s{|&;])\1\s*\|\s*\1\s*&")
_HANDS_ON = frozenset({"-e", "-c", "--exec", "--sh-exec", "--lua-exec"})


def refuse_flow(found: Found, scene: Scene) -> tuple[str, str] | None:
    """The rule and the reason, when what the command takes or gives is refused."""
    return (
        _refuse_downloaded_code(found, scene)
        or _refuse_reverse_shell(found, scene)
        or _refuse_output_in_address(found)
    )


def refuse_text(text: str) -> tuple[str, str] | None:
    """The rule and the reason, when the text as a whole is refused."""
    if _FORK_BOMB.search(text):
        return "D9", "it starts itself without end"
    if "/dev/tcp/" in text or "/dev/udp/" in text:
        return "D6", "it opens a connection through the shell"
    return None


def _interprets(found: Found) -> bool:
    return found.name in _INTERPRETERS or _PYTHON.fullmatch(found.name) is not None


def _refuse_downloaded_code(found: Found, scene: Scene) -> tuple[str, str] | None:
    runs = _interprets(found)
    if runs or found.name in {"eval", "source", "."}:
        inner = [command for word in found.arguments for command in word.inner]
        inner += [command for redirect in found.redirects for command in redirect.target.inner]
        if any(command.name in _DOWNLOADERS for command in inner):
            return "D5", "it runs what it downloads, unread"
    if runs or found.name in {"source", "."}:
        for other in scene.commands:
            if other.pipeline == found.pipeline and other.name in _DOWNLOADERS:
                return "D5", "it runs what it downloads, unread"
    return None


def _refuse_reverse_shell(found: Found, scene: Scene) -> tuple[str, str] | None:
    refused = "D6", "it hands a shell to another machine"
    if found.name in _CONNECTIONS:
        if found.name == "socat":
            hands_on = any(
                text.upper().startswith(("EXEC:", "SYSTEM:", "SHELL:")) for text in found.texts
            )
        else:
            hands_on = any(
                text in _HANDS_ON
                or (text.startswith("-") and text.endswith("e") and not text.startswith("--"))
                for text in found.texts
            )
        shell_beside = any(
            other.pipeline == found.pipeline and other.name in SHELLS for other in scene.commands
        )
        if hands_on or shell_beside:
            return refused
    if _interprets(found) and any(_REVERSE_SHELL.search(text) for text in found.texts):
        return refused
    return None


def _refuse_output_in_address(found: Found) -> tuple[str, str] | None:
    if found.name in _NETWORK and any(word.inner for word in found.arguments):
        return "D11", "what another command prints would be sent to another machine"
    return None
