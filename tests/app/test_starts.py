"""T13: no text that somebody else wrote becomes part of a shell command in hame's own code."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "hame"
STARTERS = {"workspace/spawn.py"}
"""The one module that starts programs, but for two places."""
OTHERS = {
    "workspace/orphans.py": "subprocess.run",  # /bin/ps by its path, where there is no /proc.
    "sandbox/relay.py": "os.execvpe",  # Becomes the confined program; it does not run in hame.
}
KEEPERS = {"workspace/process.py", "workspace/spawn.py"}
"""Those that may name `subprocess` at all, for its types."""
COMMANDS = {"tools/run_command.py", "tools/run_program.py", "app/keys.py"}
"""Those that hand a whole command line to a shell: the model's, which the gate judges and the question
shows as it runs, and the user's own `api_key_cmd`."""
FORBIDDEN = {
    "os.system", "os.popen", "pty.spawn", "commands.getoutput", "asyncio.create_subprocess_shell",
    "asyncio.create_subprocess_exec", "anyio.run_process", "anyio.open_process",
    "subprocess.getoutput", "subprocess.getstatusoutput", "subprocess.run", "subprocess.call",
    "subprocess.check_call", "subprocess.check_output", "os.startfile", "webbrowser.open",
}  # fmt: skip


NAMES = re.compile(
    r"\b(?:Popen|subprocess|system|popen|shell|exec\w*|spawn\w*|run_process|open_process|webbrowser|startfile|-c)\b"
)
"""A module without any of these words has nothing to look for; reading all of them takes seconds."""


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    return tuple(
        (str(path.relative_to(SOURCE)), ast.parse(text))
        for path, text in texts.items()
        if NAMES.search(text) or '"-c"' in text
    )


def faults(name: str, tree: ast.Module) -> list[str]:
    """What a module does that it must not, with the line."""
    found: list[str] = []
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called == OTHERS.get(name):
                continue
            if called in FORBIDDEN or called.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
                found.append(f"{name}:{line}: {called}")
            for keyword in node.keywords:
                wanted = keyword.arg == "shell" and called.rpartition(".")[2] in {"Popen", "run"}
                if wanted and ast.unparse(keyword.value) != "False":
                    found.append(f"{name}:{line}: shell=")
        if isinstance(node, ast.Attribute) and node.attr == "Popen" and name not in KEEPERS:
            found.append(f"{name}:{line}: Popen")
        if isinstance(node, ast.Tuple | ast.List):
            found += [f"{name}:{line}: {fault}" for fault in shell_faults(name, node)]
    return found


def shell_faults(name: str, words: ast.Tuple | ast.List) -> Iterator[str]:
    """A shell with `-c` and a text that was put together, or in a module that has no business with one."""
    for shell, option, text in zip(words.elts, words.elts[1:], words.elts[2:], strict=False):
        if not (isinstance(option, ast.Constant) and option.value == "-c" and is_shell(shell)):
            continue
        if isinstance(text, ast.Constant) or text_is_constant(name, text):
            continue
        if name not in COMMANDS:
            yield "hands text to a shell"
        elif not isinstance(text, ast.Name | ast.Attribute):
            yield "puts a shell command together"


def is_shell(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return str(node.value).rpartition("/")[2] in {"sh", "bash", "dash", "zsh"}
    return "shell" in ast.unparse(node)


def text_is_constant(name: str, node: ast.expr) -> bool:
    """A name in capitals is one: a text written in that very module."""
    if not isinstance(node, ast.Name) or node.id != node.id.upper():
        return False
    return any(
        isinstance(each, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == node.id for target in each.targets)
        and isinstance(each.value, ast.Constant)
        for module, tree in modules()
        if module == name
        for each in tree.body
    )


def test_no_module_starts_programs_by_itself_or_hands_text_to_a_shell() -> None:
    found = [fault for name, tree in modules() for fault in faults(name, tree)]
    assert found == []


def test_each_module_that_is_let_through_is_there_and_uses_it() -> None:
    known = dict(modules())
    assert known.keys() >= COMMANDS | STARTERS | KEEPERS
    for name in COMMANDS:
        assert '"-c"' in (SOURCE / name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize(
    "line",
    [
        "os.system(f'git config {key}')",
        "subprocess.run(['git'])",
        "subprocess.Popen(command, shell=True)",
        "Launch(argv=('sh', '-c', f'git config {key}'))",
        "Launch(argv=('/bin/bash', '-c', command))",
        "Launch(argv=(shell(), '-c', 'cd ' + folder))",
        "anyio.run_process(['git'])",
        "os.execvp('git', [])",
    ],
)
def test_each_way_round_it_is_noticed(line: str) -> None:
    assert faults("app/build.py", ast.parse(line))


def test_a_command_put_together_is_noticed_even_where_commands_are_run() -> None:
    line = "Launch(argv=(shell(), '-c', f'cd {folder}; {command}'))"
    assert faults("tools/run_command.py", ast.parse(line))
