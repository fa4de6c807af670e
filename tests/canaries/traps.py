"""Repositories made to harm: each names a program that git runs while it only looks.

The program is a canary: it writes its name into a log outside of the repository. Every trap comes with
a plain git command that sets it off, so that a trap which no longer works is noticed.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

PLAIN = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "LC_ALL": "C",
}
"""An environment without anything of the machine's."""


class Site:
    """A repository, a place outside of it, and the log of the canaries."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.outside = folder / "outside"
        self.log = self.outside / "canaries.log"
        self.environment: dict[str, str] = {}
        """What the trap puts into hame's own environment."""
        self.root.mkdir(parents=True)
        self.outside.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write("a.txt", "one\n")
        self.write("b.txt", "two\n")
        self.write(".gitignore", "ignored.txt\n")
        self.write("ignored.txt", "tracked though ignored\n")
        self.git("add", "-f", ".")
        self.git("commit", "-q", "-m", "first")

    def git(self, *words: str, cwd: Path | None = None) -> str:
        """Plain git, before the trap is set."""
        return subprocess.run(
            ["git", *words],
            cwd=cwd or self.root,
            env=PLAIN,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def write(self, path: str, text: str) -> Path:
        """A file in the repository."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def canary(self, name: str, folder: Path | None = None, *, then: str = "cat") -> str:
        """A program that says that it ran, and lets through what it is given."""
        script = (folder or self.outside) / name
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"#!/bin/sh\necho {name} >> {self.log}\n{then}\n", encoding="utf-8")
        script.chmod(0o755)
        return str(script)

    def config(self, name: str, value: str, cwd: Path | None = None) -> None:
        """A setting of the repository's own."""
        self.git("config", name, value, cwd=cwd)

    def stir(self) -> None:
        """Make git look into files again: their content as before, their time another."""
        for path in (self.root / "a.txt", self.root / "b.txt"):
            os.utime(path, (1_000_000_000, 1_000_000_000))

    @property
    def ran(self) -> list[str]:
        """The canaries that ran so far."""
        return self.log.read_text(encoding="utf-8").split() if self.log.exists() else []

    def calm(self) -> None:
        """Forget what ran."""
        self.log.unlink(missing_ok=True)


class Trap(msgspec.Struct, frozen=True, kw_only=True):
    """One way to make git run something."""

    name: str
    set: Callable[[Site], None]
    springs: tuple[str, ...]
    """A plain git command that runs the canary."""
    stdin: bytes = b""
    """What the command reads."""
    cwd: str = "."
    """Where, in the repository: also the folder that hame is opened in."""


def spring(trap: Trap, site: Site) -> None:
    """Run the plain command, in a terminal where one is needed; what it prints does not matter."""
    environment: Mapping[str, str] = PLAIN | site.environment
    words = ["git", *trap.springs]
    if "-p" in trap.springs[:1]:
        words = ["script", "-qec", " ".join(words), "/dev/null"]
    subprocess.run(
        words,
        cwd=site.root / trap.cwd,
        env=environment,
        input=trap.stdin,
        capture_output=True,
        check=False,
        timeout=30,
    )


# ---------------------------------------------------------------- one by one


def _fsmonitor(site: Site) -> None:
    site.config("core.fsmonitor", site.canary("fsmonitor"))


def _index_hook(site: Site) -> None:
    site.canary("post-index-change", site.root / ".git" / "hooks")
    site.stir()


def _hooks_path(site: Site) -> None:
    site.canary("post-index-change", site.root / "hooks")
    site.config("core.hooksPath", "hooks")
    site.stir()


def _external_diff(site: Site) -> None:
    site.config("diff.external", site.canary("external-diff"))
    site.write("a.txt", "changed\n")


def _diff_driver(site: Site) -> None:
    site.config("diff.evil.command", site.canary("diff-driver"))
    site.write(".gitattributes", "*.txt diff=evil\n")
    site.write("a.txt", "changed\n")


def _textconv(site: Site) -> None:
    site.config("diff.evil.textconv", site.canary("textconv"))
    site.write(".gitattributes", "*.txt diff=evil\n")
    site.write("a.txt", "changed\n")


def _filter(kind: str) -> Callable[[Site], None]:
    def set_it(site: Site) -> None:
        site.config(f"filter.evil.{kind}", site.canary(f"filter-{kind}"))
        site.config("filter.evil.required", "true")
        site.write(".gitattributes", "*.txt filter=evil\n")
        site.stir()
        site.write("b.txt", "changed\n")

    return set_it


def _odd_filter(site: Site) -> None:
    site.config("filter.E v.i=l.clean", site.canary("filter-odd"))
    site.write(".gitattributes", "*.txt filter=evil\n")
    site.config("filter.evil.clean", site.canary("filter-clean"))
    site.stir()


def _own_attributes(site: Site) -> None:
    site.config("filter.evil.clean", site.canary("filter-clean"))
    attributes = site.root / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("*.txt filter=evil\n", encoding="utf-8")
    site.stir()


def _signature(site: Site) -> None:
    tree = site.git("write-tree").strip()
    commit = (
        f"tree {tree}\nauthor a <a@example.org> 0 +0000\ncommitter a <a@example.org> 0 +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\nsigned\n"
    )
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        input=commit,
        cwd=site.root,
        env=PLAIN,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    site.git("update-ref", "HEAD", made)
    site.config("gpg.program", site.canary("gpg"))
    site.config("log.showSignature", "true")


def _pager(site: Site) -> None:
    site.config("core.pager", site.canary("pager"))


def _lazy_fetch(site: Site) -> None:
    """A partial clone: an object that is missing is fetched by the command that wants it."""
    site.config("extensions.partialClone", "origin")
    site.config("core.repositoryFormatVersion", "1")
    site.config("remote.origin.url", "ssh://example.org/x")
    site.config("remote.origin.promisor", "true")
    site.config("core.sshCommand", site.canary("ssh", then="exit 1"))
    tree = site.git("rev-parse", "HEAD^{tree}").strip()
    (site.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()


def _remote_helper(site: Site) -> None:
    """The same by a helper of a protocol that the repository itself allows."""
    _lazy_fetch(site)
    site.config("remote.origin.url", f"ext::{site.canary('remote-helper', then='exit 1')}")
    site.config("protocol.ext.allow", "always")


def _credential(site: Site) -> None:
    site.config("credential.helper", site.canary("credential"))


def _include(site: Site) -> None:
    site.write("more.config", f"[core]\n\tfsmonitor = {site.canary('included')}\n")
    site.config("include.path", "../more.config")


def _worktree_config(site: Site) -> None:
    site.config("core.repositoryFormatVersion", "1")
    site.config("extensions.worktreeConfig", "true")
    text = f"[core]\n\tfsmonitor = {site.canary('worktree-config')}\n"
    (site.root / ".git" / "config.worktree").write_text(text, encoding="utf-8")


def _submodule(site: Site) -> None:
    inner = site.root / "sub"
    inner.mkdir()
    site.git("init", "-q", cwd=inner)
    (inner / "c.txt").write_text("three\n", encoding="utf-8")
    site.git("add", ".", cwd=inner)
    site.git("commit", "-q", "-m", "inner", cwd=inner)
    site.git("add", "sub")
    site.git("commit", "-q", "-m", "with a submodule")
    site.config("core.fsmonitor", site.canary("submodule"), cwd=inner)
    (inner / "c.txt").write_text("changed\n", encoding="utf-8")


def _bare(site: Site) -> None:
    """A folder in the repository that looks like a bare repository, with settings of its own."""
    bare = site.root / "docs"
    bare.mkdir()
    site.git("init", "-q", "--bare", cwd=bare)
    (bare / "a.txt").write_text("x\n", encoding="utf-8")
    site.config("core.bare", "false", cwd=bare)
    site.config("core.worktree", str(bare), cwd=bare)
    site.config("core.fsmonitor", site.canary("bare"), cwd=bare)


def _commondir(site: Site) -> None:
    """A git directory that takes its settings from another."""
    other = site.outside / "other"
    other.mkdir()
    site.git("init", "-q", cwd=other)
    site.git("commit", "-q", "--allow-empty", "-m", "x", cwd=other)
    site.config("core.fsmonitor", site.canary("commondir"), cwd=other)
    (site.root / ".git" / "commondir").write_text(f"{other}/.git\n", encoding="utf-8")


def _gitfile(site: Site) -> None:
    """A file in place of the git directory."""
    other = site.outside / "other"
    other.mkdir()
    site.git("init", "-q", cwd=other)
    site.config("core.fsmonitor", site.canary("gitfile"), cwd=other)
    (site.root / ".git").rename(site.outside / "was")
    (site.root / ".git").write_text(f"gitdir: {other}/.git\n", encoding="utf-8")


def _alias(site: Site) -> None:
    for name in ("status", "ls-files", "st", "config", "update-index"):
        site.config(f"alias.{name}", f"!{site.canary('alias')}")


def _submodule_summary(site: Site) -> None:
    _submodule(site)
    site.config("status.submoduleSummary", "true")
    site.config("diff.submodule", "log")


def _variables(site: Site) -> None:
    canary = site.canary("variable")
    site.environment |= {
        "GIT_EXTERNAL_DIFF": canary,
        "GIT_PAGER": canary,
        "GIT_SSH_COMMAND": canary,
        "GIT_ASKPASS": canary,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": canary,
    }


def _parameters(site: Site) -> None:
    site.environment["GIT_CONFIG_PARAMETERS"] = f"'core.fsmonitor'='{site.canary('parameters')}'"


def _elsewhere(site: Site) -> None:
    """hame is started by a git hook of another repository."""
    other = site.outside / "other"
    other.mkdir()
    site.git("init", "-q", cwd=other)
    site.config("core.fsmonitor", site.canary("elsewhere"), cwd=other)
    site.environment |= {"GIT_DIR": f"{other}/.git", "GIT_WORK_TREE": str(site.root)}


def _exec_path(site: Site) -> None:
    folder = site.outside / "exec"
    for name in ("git-status", "git-ls-files", "git-remote-ext", "git-st"):
        site.canary(name, folder)
    site.environment["GIT_EXEC_PATH"] = str(folder)


def _trace(site: Site) -> None:
    """Not a program, but a file that git writes where the environment says."""
    site.environment["GIT_TRACE"] = str(site.log)


def _search_path(site: Site) -> None:
    """An activated environment of the project's, in which something stands in for git."""
    site.canary("git", site.root / ".venv" / "bin")
    site.environment["PATH"] = f"{site.root}/.venv/bin:/usr/bin:/bin"


def _relative_path(site: Site) -> None:
    site.canary("git", site.root)
    site.environment["PATH"] = ".::/usr/bin:/bin"


def _linked_path(site: Site) -> None:
    """The same by a folder outside that is a link into the project."""
    site.canary("git", site.root / "bin")
    (site.outside / "bin").symlink_to(site.root / "bin")
    site.environment["PATH"] = f"{site.outside}/bin:/usr/bin:/bin"


_STATUS = ("status",)

TRAPS: tuple[Trap, ...] = (
    Trap(name="fsmonitor", set=_fsmonitor, springs=_STATUS),
    Trap(name="index-hook", set=_index_hook, springs=_STATUS),
    Trap(name="hooks-path", set=_hooks_path, springs=_STATUS),
    Trap(name="external-diff", set=_external_diff, springs=("diff",)),
    Trap(name="diff-driver", set=_diff_driver, springs=("diff",)),
    Trap(name="textconv", set=_textconv, springs=("diff",)),
    Trap(name="filter-clean", set=_filter("clean"), springs=_STATUS),
    Trap(name="filter-smudge", set=_filter("smudge"), springs=("checkout", "--", "b.txt")),
    Trap(name="filter-process", set=_filter("process"), springs=_STATUS),
    Trap(name="filter-odd", set=_odd_filter, springs=_STATUS),
    Trap(name="own-attributes", set=_own_attributes, springs=_STATUS),
    Trap(name="signature", set=_signature, springs=("log", "-1")),
    Trap(name="pager", set=_pager, springs=("-p", "log")),
    Trap(name="lazy-fetch", set=_lazy_fetch, springs=_STATUS),
    Trap(name="remote-helper", set=_remote_helper, springs=_STATUS),
    Trap(
        name="credential",
        set=_credential,
        springs=("credential", "fill"),
        stdin=b"url=https://example.org\n\n",
    ),
    Trap(name="include", set=_include, springs=_STATUS),
    Trap(name="worktree-config", set=_worktree_config, springs=_STATUS),
    Trap(name="submodule", set=_submodule, springs=_STATUS),
    Trap(name="submodule-summary", set=_submodule_summary, springs=_STATUS),
    Trap(name="bare", set=_bare, springs=_STATUS, cwd="docs"),
    Trap(name="commondir", set=_commondir, springs=_STATUS),
    Trap(name="gitfile", set=_gitfile, springs=_STATUS),
    Trap(name="alias", set=_alias, springs=("st",)),
    Trap(name="variables", set=_variables, springs=_STATUS),
    Trap(name="parameters", set=_parameters, springs=_STATUS),
    Trap(name="elsewhere", set=_elsewhere, springs=_STATUS),
    Trap(name="exec-path", set=_exec_path, springs=("st",)),
    Trap(name="trace", set=_trace, springs=_STATUS),
    Trap(name="search-path", set=_search_path, springs=_STATUS),
    Trap(name="relative-path", set=_relative_path, springs=_STATUS),
    Trap(name="linked-path", set=_linked_path, springs=_STATUS),
)
"""All of them."""
