"""What a command will want from beyond the sandbox, told by its words."""

import pytest

from hame.base.zone import ProjectPaths
from hame.permissions.commands.analysis import analyse
from hame.permissions.commands.departure import Departure
from hame.permissions.commands.ground import Ground

GROUND = Ground(paths=ProjectPaths(root="/home/dev/proj", home="/home/dev"))


def departure(command: str) -> Departure:
    return analyse(command, GROUND).departure


@pytest.mark.parametrize(
    "command",
    [
        "git push", "git push -u origin main", "git fetch --all", "git pull --rebase", "git ls-remote",
        "git clone git@github.com:a/b.git", "git clone ssh://host/a", "git submodule update --init",
        "git remote update", "ssh host ls", "scp a host:b", "rsync -a . host:/srv",
        "docker build .", "docker compose up -d", "kubectl apply -f x.yaml", "systemctl status x",
        "apt-get install -y jq", "brew install jq", "gh pr create", "aws s3 ls", "terraform apply",
        "npm publish", "cargo publish", "twine upload dist/*", "npm login",
        "npm install -g typescript", "pip install --user x", "cargo install ripgrep", "pipx install x",
        "ping example.org", "dig example.org", "xdg-open index.html",
        "make && git push", "true || ssh host", "echo $(git push)", "env FOO=1 git push", "/usr/bin/ssh h",
        "bash -c 'git push'", "time docker ps -a && make",
        "git -C sub push", "git -c a.b=c --git-dir x submodule add ../a b", "cargo +nightly publish",
        "npm --prefix web publish", "cargo --config a=b install ripgrep", "git --no-pager push",
        "git worktree add ../b", "git -C x worktree remove ../b", "git worktree prune -v",
    ],
)  # fmt: skip
def test_some_commands_can_only_work_outside(command: str) -> None:
    assert departure(command).reason, command


@pytest.mark.parametrize(
    "command",
    [
        "make", "npm test", "npm run build", "pytest", "git commit -m x", "git clone ./a b",
        "git clone https://example.org/a.git", "git stash", "cargo build", "go build ./...",
        "rsync -a src/ dst/", "echo git push", "grep -r ssh .  > out", "mv a b", "pip install -e .",
        "git worktree list", "git -C push status", "npm --prefix publish test", "git commit -m push",
        "npm install", "python -m http.server", "touch ssh", "uv run pytest", "npx vitest run",
    ],
)  # fmt: skip
def test_most_work_needs_nothing_from_outside(command: str) -> None:
    assert not departure(command).reason, command


@pytest.mark.parametrize(
    ("command", "hosts"),
    [
        ("curl -s https://example.org/a.tgz -o a.tgz", ("example.org",)),
        ("wget http://Example.org:8080/x", ("example.org",)),
        ("git clone https://github.com/a/b", ("github.com",)),
        ("pip install requests", ("pypi.org",)),
        ("python3 -m pip install -r requirements.txt", ("pypi.org",)),
        ("uv sync", ("pypi.org",)),
        ("npm --prefix web ci", ("registry.npmjs.org",)),
        ("uv --directory web sync", ("pypi.org",)),
        ("go -C tools mod download", ("proxy.golang.org",)),
        ("python -m pip -q install requests", ("pypi.org",)),
        ("npm ci && npm run build", ("registry.npmjs.org",)),
        ("cargo add serde", ("index.crates.io",)),
        ("go mod download", ("proxy.golang.org",)),
        ("pip install x; npm i", ("pypi.org", "registry.npmjs.org")),
        ("curl 'http://[::bad' -o x", ()),
        ("pip list > x", ()),
        ("npm test", ()),
    ],
)
def test_machines_that_a_command_will_talk_to_are_known(
    command: str, hosts: tuple[str, ...]
) -> None:
    assert departure(command).hosts == hosts


def test_what_only_reads_wants_nothing() -> None:
    assert departure("git status") == Departure()
