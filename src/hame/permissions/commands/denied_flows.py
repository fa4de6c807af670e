"""Refused because of what flows where: downloads into shells, shells into connections, output into URLs."""

import re
from collections.abc import Iterable, Iterator

from hame.permissions.commands.found import UNKNOWN, Found
from hame.permissions.commands.wrapped import SHELLS
from hame.permissions.names import names

_DOWNLOADERS = names("curl wget fetch aria2c axel http https xh lynx lwp-download GET ftp tftp")
_INTERPRETERS = SHELLS | names(
    "node nodejs deno bun ruby perl php lua osascript pwsh powershell tclsh wish expect Rscript julia "
    "elixir erl groovy scala raku irb ghci jshell"
)
_JSON_READ = re.compile(r"json\.loads?\b")
_RUNS_TEXT = re.compile(
    r"exec|eval|compile|system|popen|subprocess|spawn|__|importlib|runpy|pickle|marshal|yaml|load|code|ctypes|getattr"
    r"|open\s*\(|pty|socket",
    re.IGNORECASE,
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


class Flows:
    """What flows in the pipelines of a line: where something downloads, and where a shell stands."""

    def __init__(self, commands: Iterable[Found]) -> None:
        """Look at every command once."""
        self._downloads: dict[tuple[int, ...], int] = {}
        self._shells: dict[tuple[int, ...], set[int]] = {}
        for found in commands:
            for stage in found.stages:
                if _downloads(found):
                    first = self._downloads.get(stage.pipeline, stage.place)
                    self._downloads[stage.pipeline] = min(first, stage.place)
                if found.name in SHELLS:
                    self._shells.setdefault(stage.pipeline, set()).add(stage.place)

    def bring_downloads_to(self, found: Found) -> bool:
        """Whether something before it in a pipeline downloads."""
        return any(
            self._downloads.get(stage.pipeline, stage.place) < stage.place for stage in found.stages
        )

    def hold_a_shell_beside(self, found: Found) -> bool:
        """Whether a shell stands before or behind it in a pipeline."""
        return any(
            self._shells.get(stage.pipeline, set()) - {stage.place} for stage in found.stages
        )


def refuse_flow(found: Found, flows: Flows) -> tuple[str, str] | None:
    """The rule and the reason, when what the command takes or gives is refused."""
    return (
        _refuse_downloaded_code(found, flows)
        or _refuse_reverse_shell(found, flows)
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


def _downloads(found: Found) -> bool:
    return found.name in _DOWNLOADERS or any(inner.name in _DOWNLOADERS for inner in _inner(found))


def _inner(found: Found) -> Iterator[Found]:
    """Commands whose output becomes its words, or what it reads."""
    for word in (*found.arguments, *(redirect.target for redirect in found.redirects)):
        yield from word.inner


def _refuse_downloaded_code(found: Found, flows: Flows) -> tuple[str, str] | None:
    runs = _interprets(found)
    begun_by = found.words[0].inner if found.words else ()
    if (
        any(inner.name in _DOWNLOADERS for inner in begun_by)
        or (
            (runs or found.name in {"eval", "source", "."})
            and any(inner.name in _DOWNLOADERS for inner in _inner(found))
        )
        or (
            (runs or found.name in {"source", "."})
            and not _reads_data(found)
            and flows.bring_downloads_to(found)
        )
        or (_hands_to_interpreter(found) and (_downloads(found) or flows.bring_downloads_to(found)))
    ):
        return "D5", "it runs what it downloads, unread"
    return None


def _reads_data(found: Found) -> bool:
    """Whether what comes in is data: the program was given, and cannot run what it reads.

    Only Python's shortest words are known so well; a shell's text can always begin another.
    """
    if not _PYTHON.fullmatch(found.name) or len(found.texts) < 2:
        return False
    first, second = found.texts[:2]
    if first == "-m":
        return second == "json.tool"
    harmless = _JSON_READ.sub("", second)
    return first == "-c" and UNKNOWN not in second and not _RUNS_TEXT.search(harmless)


def _hands_to_interpreter(found: Found) -> bool:
    """`> >(sh)` and `tee >(sh)`."""
    words = [redirect.target for redirect in found.redirects if redirect.writes]
    if found.name == "tee":
        words += found.arguments
    return any(_interprets(inner) for word in words for inner in word.inner)


def _refuse_reverse_shell(found: Found, flows: Flows) -> tuple[str, str] | None:
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
        if hands_on or flows.hold_a_shell_beside(found):
            return refused
    if _interprets(found) and any(_REVERSE_SHELL.search(text) for text in found.texts):
        return refused
    return None


def _refuse_output_in_address(found: Found) -> tuple[str, str] | None:
    if found.name in _NETWORK and any(word.inner for word in found.arguments):
        return "D11", "what another command prints would be sent to another machine"
    return None
