"""Commands that are known to take work away."""

import pytest

from hame.workspace.snapshots.destructive import destroys


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build", "cd x && rm y", "git reset --hard", "git -C sub reset --hard HEAD~1",
        "git clean -fdx", "git checkout -- .", "git -c a.b=c checkout .", "git restore .",
        "git stash -u", "find . -name '*.o' -delete", "find . -exec rm {} +", "rsync -a --delete a b",
        "echo x; /bin/rm y", "(rm a)", "xargs rm < list", "make clean", "make -C sub distclean",
        "cargo clean", "npm ci", "mv a b", "truncate -s0 f", "shred f", "bash -c 'rm -rf x'",
        "python -c 'import shutil; shutil.rmtree(\"x\")'", "sudo rm x", "./gradlew clean", "unlink a",
    ],
)  # fmt: skip
def test_it_is_seen(command: str) -> None:
    assert destroys(command)


@pytest.mark.parametrize(
    "command",
    ["ls", "git status", "git log --oneline", "cat rm.txt", "npm test", "pytest -k rm_it",
     "echo warm", "grep -rn remove_me src", "git diff", "cargo build", "make test", "find . -name x"],
)  # fmt: skip
def test_others_are_not(command: str) -> None:
    assert not destroys(command)
