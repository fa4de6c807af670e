"""A key never appears in a crash report, in a log, on a screen or in a session: the real command.

Its own bugs are planted too: a connection, or a tool, that fails with the key in its words.
"""

import json
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import pytest

from hame.testing import Reply, ScriptedServer, answer, call

KEY = "planted.key-of-no-known-shape.7f3c"
MODELS = {"/v1/models": Reply(body=b'{"data": [{"id": "qwen3"}]}')}
WORKING = """
import sys
from hame.cli.start import run

sys.exit(run(sys.argv[1:]))
"""
BROKEN_LINE = """
import sys
from hame.cli.start import run
from hame.net.http import HttpClient

send, asked = HttpClient.send, 0

def broken(self, request, timeouts):
    global asked
    asked += request.url.endswith("/chat/completions")
    if asked < {first}:
        return send(self, request, timeouts)
    key = dict(request.headers)["authorization"].split()[1]
    try:
        raise KeyError(key)
    except KeyError:
        raise RuntimeError(f"cannot send with {{key}}")

HttpClient.send = broken
sys.exit(run(sys.argv[1:]))
"""
BROKEN_TOOL = """
import sys
from pathlib import Path
from hame.cli.start import run
from hame.tools.read_file import ReadFile

async def broken(self, arguments, context):
    raise RuntimeError("a bug at " + Path("key.txt").read_text())

ReadFile.prepare = broken
sys.exit(run(sys.argv[1:]))
"""


class Desk:
    """A home and a project with a key in a file, and hame with or without a bug."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        (self.project / "key.txt").write_text(f"the key is {KEY}\n", encoding="utf-8")
        self.environment = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
            "LANG": "C.UTF-8",
        }

    def run(
        self, *arguments: str, script: str = WORKING, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """hame to its end."""
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.project,
            env=self.environment,
            timeout=30,
            check=False,
        )

    def give_key(self, way: str, url: str) -> str:
        """Set the key up; the file in the home that may hold it."""
        base_url = f"{url}/v1"
        if way == "saved":
            self.run("auth", "add", "lab", "--base-url", base_url, "--no-verify", stdin=KEY)
            return ".config/hame/keys.json"
        if way == "environment":
            self.environment |= {"LAB_API_KEY": KEY, "LAB_BASE_URL": base_url}
            return ""
        self.run("config", "set", "providers.lab.base_url", base_url)
        if way == "settings":
            self.run("config", "set", "providers.lab.api_key", KEY)
            return ".config/hame/config.toml"
        self.run("config", "set", "providers.lab.api_key_cmd", "cat key.txt | cut -d' ' -f4")
        (self.home / "key.txt").write_text(f"the key is {KEY}\n", encoding="utf-8")
        return "key.txt"

    def files(self, pattern: str) -> list[Path]:
        """Files below the home."""
        return [path for path in self.home.rglob(pattern) if path.is_file()]

    def leaks(self, allowed: str = "") -> list[Path]:
        """Files of the home that hold the key, but for the one that may."""
        holding = [path for path in self.files("*") if KEY.encode() in path.read_bytes()]
        return [path for path in holding if str(path.relative_to(self.home)) != allowed]

    def logged(self, stage: str) -> list[dict[str, object]]:
        """Lines of the log."""
        (log,) = self.files("hame.log")
        lines = map(json.loads, log.read_text(encoding="utf-8").splitlines())
        return [line for line in lines if line["stage"] == stage]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("form", ["text", "stream-json"])
@pytest.mark.parametrize("way", ["saved", "environment", "settings", "command"])
def test_a_crash_amid_a_run_tells_everything_but_the_key(desk: Desk, way: str, form: str) -> None:
    said = answer("I will look.", call("read_file", path="key.txt"))
    with ScriptedServer(said, pages=MODELS) as server:
        allowed = desk.give_key(way, server.url)
        arguments = ("-p", f"my key is {KEY}", "--model", "lab/qwen3", "--output-format", form)
        ran = desk.run(*arguments, "--verbose", script=BROKEN_LINE.format(first=2))
        assert [seen.headers["authorization"] for seen in server.questions] == [f"Bearer {KEY}"]
        assert KEY.encode() not in server.questions[0].raw
    assert ran.returncode == 1
    assert "RuntimeError: cannot send with [redacted]" in ran.stderr
    assert KEY not in ran.stdout + ran.stderr
    (crash,) = desk.logged("crash")
    assert "RuntimeError: cannot send with [redacted]" in str(crash["trace"])
    (report,) = desk.files("crash-*.txt")
    assert "RuntimeError: cannot send with [redacted]" in report.read_text(encoding="utf-8")
    sessions = [path.read_text(encoding="utf-8") for path in desk.files("*.jsonl")]
    assert any("my key is [redacted]" in session for session in sessions)
    assert any("the key is [redacted]" in session for session in sessions)
    assert desk.leaks(allowed) == []


def test_a_crash_while_a_new_key_is_tried_does_not_tell_it(desk: Desk) -> None:
    arguments = ("auth", "add", "lab", "--base-url", "http://127.0.0.1:9/v1")
    ran = desk.run(*arguments, script=BROKEN_LINE.format(first=0), stdin=KEY)
    assert ran.returncode == 1
    assert "RuntimeError: cannot send with [redacted]" in ran.stderr
    assert KEY not in ran.stdout + ran.stderr
    (report,) = desk.files("crash-*.txt")
    assert "KeyError: '[redacted]'" in report.read_text(encoding="utf-8"), "what it came from"
    assert desk.leaks() == []


def test_a_tool_that_fails_with_the_key_in_its_words_does_not_tell_it(desk: Desk) -> None:
    said = answer(call("read_file", path="a.txt"))
    with ScriptedServer(said, answer("I see."), pages=MODELS) as server:
        allowed = desk.give_key("saved", server.url)
        ran = desk.run("-p", "go", "--model", "lab/qwen3", "--verbose", script=BROKEN_TOOL)
        assert ran.stdout == "I see.\n"
        told = server.questions[1].raw.decode()
    assert "read_file failed unexpectedly (RuntimeError: a bug at the key is [redacted]" in told
    assert KEY not in told + ran.stdout + ran.stderr
    assert desk.leaks(allowed) == []


ODD_KEY = "planted/key+of=no&known%shape.7f3c"
ECHOED = {
    "plain": ODD_KEY,
    "in an address": quote(ODD_KEY, safe=""),
    "in base64": b64encode(f"user:{ODD_KEY}".encode()).decode().rstrip("="),
    "cut short": ODD_KEY[:24],
}


@pytest.mark.parametrize("echoed", ECHOED)
def test_a_server_that_repeats_the_key_tells_it_to_nobody_else(desk: Desk, echoed: str) -> None:
    words = f"no such key: {ECHOED[echoed]} ?"
    body = json.dumps({"error": {"message": words}}).encode()
    refused = Reply(status=401, body=body, headers=(("WWW-Authenticate", words),))
    with ScriptedServer(refused, refused, pages={"/v1/models": refused}) as server:
        desk.environment["LAB_BASE_URL"] = f"{server.url}/v1"
        told = desk.run(
            "auth", "add", "lab", "--base-url", f"{server.url}/v1", stdin=ODD_KEY
        ).stdout
        assert "[redacted]" in told
        kept = desk.run("auth", "add", "lab", "--no-verify", stdin=ODD_KEY)
        assert kept.returncode == 0
        for arguments in (
            ("auth", "test", "lab"),
            ("models", "lab"),
            ("-p", "go", "--model", "lab/m", "--verbose"),
            ("-p", "go", "--model", "lab/m", "--output-format", "stream-json"),
            ("debug", "request", "go", "--model", "lab/m"),
        ):
            ran = desk.run(*arguments)
            told += ran.stdout + ran.stderr
        assert len(server.questions) == 2
    assert told.count("[redacted]") >= 4
    files = [path for path in desk.files("*") if path.name != "keys.json"]
    told += "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    for form in (ODD_KEY[:12], quote(ODD_KEY, safe="")[:16], ECHOED["in base64"][8:-3]):
        assert form not in told
