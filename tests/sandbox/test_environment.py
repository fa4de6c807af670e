"""What confined programs find in their environment."""

from pathlib import Path

import pytest

from hame.sandbox.caches import cache_environment
from hame.sandbox.environment import is_meddling, reading_environment, writing_environment
from sandbox.cage import Cage


@pytest.fixture
def mechanism() -> str:
    return "bubblewrap"


GIVEN = {
    "PATH": "/usr/bin", "HOME": "/h", "LANG": "de_DE.UTF-8", "LC_TIME": "C", "TERM": "dumb",
    "PAGER": "cat", "VIRTUAL_ENV": "/p/.venv", "DATABASE_URL": "x", "PYTHONPATH": "/p/src",
    "LD_PRELOAD": "/p/x.so", "GIT_DIR": "/p/.git", "GIT_SSH_COMMAND": "/p/ssh", "TMP": "/other",
    "GIT_AUTHOR_NAME": "a", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.pager",
    "SSH_AUTH_SOCK": "/s", "DBUS_SESSION_BUS_ADDRESS": "unix:x", "XDG_RUNTIME_DIR": "/run/user/1",
    "NODE_OPTIONS": "--require x", "https_proxy": "http://p", "NO_PROXY": "x", "DOCKER_HOST": "x",
    "GIT_PAGER": "cat",
}  # fmt: skip


def test_what_only_reads_gets_what_is_on_the_list():
    found = reading_environment(GIVEN, "/tmp", ())
    settings = {name for name in found if name.startswith("GIT_CONFIG_")}
    assert found.keys() - settings == {
        "PATH", "HOME", "LANG", "LC_TIME", "TERM", "PAGER", "VIRTUAL_ENV", "TMPDIR", "GIT_PAGER",
        "GIT_OPTIONAL_LOCKS",
    }  # fmt: skip
    assert found["TMPDIR"] == "/tmp"


def test_git_starts_nothing_for_what_only_reads():
    found = reading_environment(GIVEN, "/tmp", ())
    count = int(found["GIT_CONFIG_COUNT"])
    pairs = {
        found[f"GIT_CONFIG_KEY_{place}"]: found[f"GIT_CONFIG_VALUE_{place}"]
        for place in range(count)
    }
    assert pairs["core.fsmonitor"] == "false"
    assert pairs["core.hooksPath"] == "/dev/null"
    assert pairs["safe.bareRepository"] == "explicit"
    assert found["GIT_OPTIONAL_LOCKS"] == "0"


def test_what_writes_gets_all_but_what_meddles():
    found = writing_environment(GIVEN, "/tmp")
    assert found.keys() == {
        "PATH", "HOME", "LANG", "LC_TIME", "TERM", "PAGER", "VIRTUAL_ENV", "TMPDIR", "GIT_PAGER",
        "DATABASE_URL", "GIT_AUTHOR_NAME",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT",
     "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND", "BASH_FUNC_ls%%", "All_Proxy",
     "JAVA_TOOL_OPTIONS", "GPG_AGENT_INFO", "RUSTC_WRAPPER", "GIT_AUTHOR_NAMES"],
)  # fmt: skip
def test_what_makes_programs_run_something_of_their_own_meddles(name: str):
    assert is_meddling(name)


def test_nothing_is_looked_for_in_relative_folders_nor_where_others_write(tmp_path: Path):
    (tmp_path / "link").symlink_to("/p/tools")
    path = f":.:bin:/usr/bin:/p/.venv/bin:{tmp_path}/link:/p2/bin:/bin:"
    read = reading_environment({"PATH": path}, "/tmp", ("/p",))["PATH"]
    assert read == "/usr/bin:/p2/bin:/bin"
    write = writing_environment({"PATH": path}, "/tmp")["PATH"]
    assert write == f"/usr/bin:/p/.venv/bin:{tmp_path}/link:/p2/bin:/bin"


def test_every_tool_has_a_cache_of_the_projects_own(tmp_path: Path):
    found = cache_environment("/c", {"MAVEN_OPTS": "-Xmx1g"}, str(tmp_path))
    folders = [value for value in found.values() if value.startswith("/c/")]
    assert len(folders) == len(set(folders)) > 20
    assert found["CARGO_HOME"] == "/c/cargo"
    assert found["GOMODCACHE"] == "/c/go/pkg/mod"
    assert found["MAVEN_OPTS"] == "-Xmx1g -Dmaven.repo.local=/c/maven"
    assert not {"RUSTUP_HOME", "GOPROXY", "GRADLE_RO_DEP_CACHE"} & found.keys()


def test_what_the_user_has_already_is_read(tmp_path: Path):
    for folder in (
        ".rustup",
        "go/pkg/mod/cache/download",
        ".m2/repository",
        ".gradle/caches/modules-2",
    ):
        (tmp_path / folder).mkdir(parents=True)
    found = cache_environment("/c", {"GOPROXY": "https://own.example"}, str(tmp_path))
    assert found["RUSTUP_HOME"] == f"{tmp_path}/.rustup"
    fetched = f"file://{tmp_path}/go/pkg/mod/cache/download"
    assert found["GOPROXY"] == f"{fetched},https://own.example"
    assert found["MAVEN_OPTS"].endswith(f"-Dmaven.repo.local.tail={tmp_path}/.m2/repository")
    assert found["GRADLE_RO_DEP_CACHE"] == f"{tmp_path}/.gradle/caches"
    given = {"RUSTUP_HOME": "/r", "GRADLE_RO_DEP_CACHE": "/g"}
    assert not given.keys() & cache_environment("/c", given, str(tmp_path)).keys()


def test_caches_are_written_by_what_writes_and_kept(cage: Cage):
    said = cage.run(
        "mkdir -p $CARGO_HOME $GOCACHE && echo 1 > $CARGO_HOME/x && echo $PIP_CACHE_DIR"
    )
    assert said.output == f"{cage.caches}/pip\n"
    assert (cage.caches / "cargo" / "x").read_text() == "1\n"
    assert cage.run("cat $CARGO_HOME/x").output == "1\n"
    assert (
        cage.run(
            f"cat {cage.caches}/cargo/x; echo 2 > {cage.caches}/cargo/x; true", "read"
        ).output.count("1\n")
        == 0
    )
    assert (cage.caches / "cargo" / "x").read_text() == "1\n"


def test_a_program_finds_what_is_meant_for_it(cage: Cage):
    cage.environment |= {"PATH": f".:{cage.root}/bin:/usr/bin:/bin", "LD_PRELOAD": "/x", "A": "1"}
    cage.write(cage.root / "bin" / "ls", "#!/bin/sh\necho evil\n", 0o755)
    cage.write(cage.root / "ls", "#!/bin/sh\necho evil\n", 0o755)
    assert "evil" not in cage.run("ls -d /", "read").output
    assert (
        cage.run("echo ${A-none} ${LD_PRELOAD-none} $TMPDIR", "read").output == "none none /tmp\n"
    )
    assert cage.run("echo ${A-none} ${LD_PRELOAD-none} $TMPDIR").output == "1 none /tmp\n"
