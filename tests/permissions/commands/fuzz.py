"""Random command lines of hostile fragments, and real bash with stub programs to say what it reads."""

import random
import shutil
import subprocess
from pathlib import Path

HOME = "/fuzz/home"
PROGRAMS = [
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "sort",
    "find",
    "echo",
    "printf",
    "wc",
    "git",
    "sed",
    "cut",
    "uniq",
    "test",
    "[",
    "cd",
    "rg",
    "tr",
    "diff",
    "type",
    "date",
    "stat",
]
_WORDS = (
    "-la", "-n", "5", "src", "README.md", "a.txt", "-o", "--output=x", "-delete", "'a b'", '"c d"', "\\;", "a\\ b",
    "x'y'\"z\"", "'it''s'", '"q\\"r"', '"a$"', '"a$b"', "~", "~/x", "~root", "a~b", "HEAD~2", "a=~/x", "b:~", "k=v",
    "'$(id)'", '"`id`"', "$HOME", "${x}", "$(id)", "*", "./*.md", "src/*", "a?b", "[ab]", "{a,b}", "{}", "{", "}", "!",
    "#c", "a#b", "\\#", "''", '""', "-", "--", "-name", "'*.py'", "=", "a,b", "%s", "+%Y", "1,3p", "-f", "README.md]",
    "\\\\", "'\\'", '"\\\\"', '"\\n"', "\\\n", "-\\\no", "é", "$'x'", '$"x"', "<(id)", "1", "2", "x1", "then", "do", "time",
    "@{u}", "HEAD@{1}..", "a@{1..3}", "@{a,b}", "@{", "done", "if", "{@{u},x}",
    "-e", "status", "log", "\\~", "'~'", "\\*", '"*"', "a\\\nb", "@", "^", "a^b", "%", "\\\t", "]", "]]",
)  # fmt: skip
_REDIRECTS = (
    "2>/dev/null", ">/dev/null", "> /dev/null", "&>/dev/null", "2>&1", ">&2", "1>&2", "< a.txt", "<a.txt", "> out",
    ">>out", "2>> out", "0<a.txt", "3>&1", "<<<x", ">|x", "<>x", "2>/dev/null x", "1>/dev/null", ">&-", "2 > /dev/null",
)  # fmt: skip
_JOINTS = (
    "; ",
    " && ",
    " || ",
    " | ",
    "\n",
    ";",
    "&&",
    "|",
    " & ",
    " |& ",
    ";;",
    "\n\n",
    " ;\n",
    "&& \\\n",
    "|\n",
    " # x\n",
)
_PREFIXES = (
    "",
    "",
    "",
    "",
    "",
    "",
    "time ",
    "timeout 5 ",
    "A=b ",
    "! ",
    "\\",
    "(",
    "{ ",
    "'",
    '"',
    "  ",
    "\t",
    "#",
)


def random_command(rng: random.Random) -> str:
    """A line of one to three commands."""
    parts: list[str] = []
    for index in range(rng.choice((1, 1, 1, 2, 2, 3))):
        if index:
            parts.append(rng.choice(_JOINTS))
        parts.append(rng.choice(_PREFIXES))
        parts.append(rng.choice(PROGRAMS))
        for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4))):
            glue = rng.choice((" ", " ", " ", " ", " ", " ", "  ", "\t", " \\\n", ""))
            bank = _WORDS if rng.random() < 0.85 else _REDIRECTS
            parts.append(glue + rng.choice(bank))
    return "".join(parts)


_HARNESS = r"""
record() {
  local call
  builtin printf -v call '%s\036' "$@"
  builtin printf '%s\035' "$call" >> "$FUZZ_OUT"
  return "$FUZZ_RC"
}
__STUBS__
while IFS= builtin read -r -d '' line; do
  for FUZZ_RC in 0 1; do
    ( set -f; eval "$line" ) >/dev/null 2>&1 </dev/null
    builtin printf '\034' >> "$FUZZ_OUT"
  done
done
"""

Calls = set[tuple[str, ...]]


def bash_readings(commands: list[str], folder: Path) -> list[Calls]:
    """For each line every call that bash makes of it, whether what it runs succeeds or fails."""
    bash = shutil.which("bash")
    assert bash is not None
    stubs = "\n".join(f'{name}() {{ record {name} "$@"; }}' for name in PROGRAMS)
    stubs += '\ntimeout() { shift; "$@"; }\ncommand_not_found_handle() { record "$@"; }'
    script = folder / "harness.sh"
    script.write_text(_HARNESS.replace("__STUBS__", stubs))
    out = folder / "out"
    out.write_bytes(b"")
    inside = folder / "inside"
    inside.mkdir(exist_ok=True)
    (inside / "a.txt").touch()
    subprocess.run(
        [bash, "--noprofile", "--norc", str(script)],
        input="".join(f"{command}\0" for command in commands).encode(),
        cwd=inside,
        env={"PATH": "/nonexistent", "HOME": HOME, "FUZZ_OUT": str(out), "LC_ALL": "C.UTF-8"},
        check=True,
        capture_output=True,
        timeout=600,
    )
    runs = [
        {without_prefix(call.split("\036")[:-1]) for call in run.split("\035")[:-1]}
        for run in out.read_text("utf-8").split("\034")[:-1]
    ]
    return [first | second for first, second in zip(runs[::2], runs[1::2], strict=True)]


def without_prefix(words: list[str]) -> tuple[str, ...]:
    """A call without `time`, which bash knows as a word of its own only in some places, and `timeout`."""
    while words and words[0] in {"time", "timeout"}:
        words = words[1:] if words[0] == "time" else words[2:]
    return tuple(words)
