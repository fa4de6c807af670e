"""Whatever did it, undo brings it back byte for byte (issue E, shows 1)."""

import shutil

import pytest

from hame.base.snapshot import Move
from workspace.snapshots.conftest import Project, git, state_of

REWRITE = """python3 - <<'E'
import pathlib
for path in sorted(pathlib.Path('.').rglob('*')):
    if path.is_file() and not path.is_symlink() and '.git' not in path.parts and 'node_modules' not in path.parts:
        if path.name.startswith('n'):
            path.unlink()
        else:
            path.write_bytes(path.read_bytes().replace(b'\\r\\n', b'\\n') + b'# seen\\n')
pathlib.Path('made').mkdir()
pathlib.Path('made/by.txt').write_text('script')
E"""
FORMATTER = (
    "find . -name '*.py' -o -name '*.txt' | grep -v node_modules | grep -v '^./.git/' "
    "| while read -r f; do sed -i 's/$/ /' \"$f\"; done; chmod +x src/app.py; chmod -x bin/run.sh"
)


def tree(project: Project) -> dict[str, object]:
    return state_of(project.root, without=(".git", "node_modules"))


DESTRUCTIVE = [
    "rm -rf src",
    "rm -rf .env build *.log src notes.md link folder-link",
    FORMATTER,
    REWRITE,
    "mv src gone && ln -s /etc src",
    "rm -rf src && echo now a file > src",
    "rm notes.md && mkdir notes.md && echo x > notes.md/inner",
    "ln -sf other link; rm bin/run.sh; ln -s ../notes.md bin/run.sh",
    "find . -name '*.py' -delete",
    "truncate -s 0 data.bin; shred -u .env",
]


@pytest.mark.parametrize("command", DESTRUCTIVE)
async def test_undo_brings_everything_back_byte_for_byte(filled: Project, command: str) -> None:
    before = tree(filled)
    session = filled.session()
    await session.run(command)
    assert tree(filled) != before
    plan, step = await session.undo()
    assert plan.conflicts == ()
    assert step is not None
    assert step.failed == ()
    assert tree(filled) == before


@pytest.mark.parametrize(
    "command", ["git clean -fdxq", "git reset -q --hard", "git checkout -q -- .", "git stash -qu"]
)
async def test_what_git_takes_away_comes_back(filled: Project, command: str) -> None:
    if not shutil.which("git") or not _is_repository(filled):
        pytest.skip("no repository")
    (filled.root / "src/app.py").write_bytes(b"work of an hour\n")
    (filled.root / "data.bin").unlink()
    before = tree(filled)
    session = filled.session()
    await session.run(f"git -c user.name=u -c user.email=u@e.org {command.removeprefix('git ')}")
    assert tree(filled) != before
    plan, _ = await session.undo()
    assert plan.conflicts == ()
    assert tree(filled) == before


async def test_with_edits_by_hand_in_between(filled: Project) -> None:
    session = filled.session()
    filled.put("src/app.py", b"".join(b"line %d\n" % n for n in range(40)))
    await session.run("sed -i 's/line 3$/LINE 3/' src/app.py && rm src/mixed.txt && echo a > made")
    text = filled.root / "src/app.py"
    text.write_bytes(text.read_bytes().replace(b"line 30\n", b"mine 30\n"))
    filled.put("by-hand.txt", b"mine\n")
    expected = tree(filled)
    await session.run("sed -i 's/line 10$/LINE 10/' src/app.py && rm -rf bin && echo b >> made")
    (filled.root / "notes.md").write_bytes(b"mine too\n")
    plan, _ = await session.undo()
    moves = {planned.path.removeprefix(f"{filled.root}/"): planned.move for planned in plan.moves}
    assert plan.conflicts == ()
    assert moves == {
        "src/app.py": Move.MERGE,
        "src/mixed.txt": Move.BRING_BACK,
        "bin/run.sh": Move.BRING_BACK,
        "made": Move.REMOVE,
    }
    del expected["made"]
    after = tree(filled)
    assert after["by-hand.txt"] == expected["by-hand.txt"]
    assert after["notes.md"] == (b"mine too\n", False)
    assert after["src/mixed.txt"] == (b"a\nb\r\nc\rd", False)
    lines = text.read_bytes().splitlines()
    assert lines[3] == b"line 3"
    assert lines[10] == b"line 10"
    assert lines[30] == b"mine 30"


async def test_the_users_repository_is_not_touched(filled: Project) -> None:
    if not _is_repository(filled):
        pytest.skip("no repository")

    def repository() -> object:
        where = git(filled.root, "rev-parse", "--absolute-git-dir", "--git-common-dir").split("\n")
        return state_of(filled.root.__class__(where[0]), without=()), git(
            filled.root, "for-each-ref"
        )

    before = repository()
    session = filled.session()
    await session.run("rm -rf src notes.md")
    await session.undo()
    assert repository() == before


def _is_repository(project: Project) -> bool:
    return any((folder / ".git").exists() for folder in (project.root, *project.root.parents))
