"""bubblewrap is told the right things in the right order."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from hame.base.confinement import Confinement, Reach
from hame.base.process import Launch
from hame.base.zone import ProjectPaths
from hame.sandbox.construction import Builder
from hame.sandbox.namespaces import Bwrap
from hame.sandbox.site import Site

BWRAP = Bwrap(
    program="/usr/bin/bwrap",
    version="0.8.0",
    as_root=False,
    options=("--unshare-pid", "--unshare-net", "--unshare-user"),
    by_descriptor=False,
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    base = Path(os.path.realpath(tmp_path))
    home, root = base / "home", base / "home" / "proj"
    for path in (
        "home/.ssh", "home/.config/hame", "home/.local/share/hame/results", "home/proj/.git/hooks",
        "home/proj/.vscode", "temporary", "home/proj/sub/.git/hooks", "scratch",
    ):  # fmt: skip
        (base / path).mkdir(parents=True)
    for path in (
        "home/.ssh/id_rsa",
        "home/proj/.env",
        "home/proj/.git/config",
        "home/proj/.git/hooks/pre-push",
        "home/proj/sub/.env",
        "home/proj/sub/.git/hooks/pre-push",
    ):
        (base / path).write_text("x")
    return Site(
        paths=ProjectPaths(
            root=str(root),
            home=str(home),
            temporary=str(base / "temporary"),
            results=f"{home}/.local/share/hame/results",
        ),
        own=(f"{home}/.config/hame", f"{home}/.local/share/hame"),
        caches=f"{home}/.local/share/hame/caches",
        scratch=str(base / "scratch"),
    )


class Told:
    """What bubblewrap is told, and where in it."""

    def __init__(self, launch: Launch, arguments: list[str]) -> None:
        self.launch, self.arguments = launch, arguments

    def places(self, *words: str) -> list[int]:
        """Where these words follow each other."""
        count = len(words)
        return [
            place
            for place in range(len(self.arguments))
            if self.arguments[place : place + count] == list(words)
        ]

    def at(self, *words: str) -> int:
        """The one place where they do."""
        places = self.places(*words)
        assert len(places) == 1, (words, places)
        return places[0]

    def has(self, *words: str) -> bool:
        return bool(self.places(*words))


def tell(site: Site, bwrap: Bwrap = BWRAP, **more: object) -> Told:
    confinement = Confinement(reach=more.pop("reach", Reach.WRITE))
    launch = Launch(
        argv=("/bin/sh", "-c", "true"),
        cwd=site.paths.root,
        env=(("PATH", "/usr/bin:/bin"), ("HOME", site.paths.home)),
        confinement=confinement,
        **more,
    )
    with ExitStack() as stack:
        started, _ = Builder(site, linger_s=0).build(
            launch, bwrap, stack, gateway="", loopback=None
        )
        assert started.argv[0] == bwrap.program
        assert started.argv[1] == "--args"
        assert started.argv[3] == "--"
        text = os.pread(int(started.argv[2]), 1 << 20, 0).decode()
    return Told(started, text.split("\0")[:-1])


def test_the_machine_comes_before_what_differs_from_it(site: Site):
    told = tell(site)
    root, temporary = site.paths.root, site.paths.temporary
    order = [
        told.at("--ro-bind", "/", "/"),
        told.at("--dev", "/dev"),
        told.at("--proc", "/proc"),
        told.at("--tmpfs", "/run"),
        told.at("--bind", temporary, "/tmp"),
        told.at("--bind", root, root),
        told.at("--seccomp"),
        told.at("--chdir", root),
    ]
    assert order == sorted(order)
    if os.geteuid() == 0:
        assert told.at("--proc", "/proc") < told.at("--ro-bind", "/proc/sys", "/proc/sys")


def test_a_root_comes_before_its_pins_and_they_before_what_is_protected(site: Site):
    told = tell(site)
    root = site.paths.root
    bound = told.at("--bind", root, root)
    for folder in (f"{root}/.git", f"{root}/sub/.git"):
        assert bound < told.at("--bind", folder, folder)
        hooks = told.at("--ro-bind", f"{folder}/hooks", f"{folder}/hooks")
        assert told.at("--bind", folder, folder) < hooks
    assert bound < told.at("--bind", f"{root}/sub", f"{root}/sub")
    assert told.at("--bind", f"{root}/sub", f"{root}/sub") < told.at(
        "--bind", f"{root}/sub/.git", f"{root}/sub/.git"
    )
    assert bound < told.at("--ro-bind", f"{root}/.vscode", f"{root}/.vscode")
    assert bound < told.at("--perms", "0555", "--tmpfs", f"{root}/.mcp.json")
    assert not told.has("--tmpfs", f"{root}/.git")


def test_secrets_in_a_root_are_hidden_after_it_and_its_pins(site: Site):
    told = tell(site)
    root = site.paths.root
    assert told.at("--bind", root, root) < told.at("--ro-bind", "/dev/null", f"{root}/.env")
    pinned = told.at("--bind", f"{root}/sub", f"{root}/sub")
    assert pinned < told.at("--ro-bind", "/dev/null", f"{root}/sub/.env")


def test_hames_own_folders_are_hidden_and_results_and_caches_shown_in_them(site: Site):
    told = tell(site)
    data = f"{site.paths.home}/.local/share/hame"
    hidden = told.at("--perms", "0555", "--tmpfs", data)
    assert hidden < told.at("--ro-bind", f"{data}/results", f"{data}/results")
    assert hidden < told.at("--bind", f"{data}/caches", f"{data}/caches")
    assert told.has("--tmpfs", f"{site.paths.home}/.config/hame")
    assert told.has("--tmpfs", f"{site.paths.home}/.ssh")


def test_what_only_reads_may_write_nothing_but_its_temporary_folder(site: Site):
    told = tell(site, reach=Reach.READ)
    written = [
        told.arguments[place + 2]
        for place, word in enumerate(told.arguments)
        if word in {"--bind", "--bind-fd", "--dev-bind"}
    ]
    assert written == ["/tmp", site.paths.temporary]
    assert not told.has("--sync-fd")
    assert sorted(each.name for each in Path(site.paths.root).iterdir()) == [
        ".env",
        ".git",
        ".vscode",
        "sub",
    ]


def test_places_in_a_root_are_held_by_descriptors_where_bubblewrap_takes_them(site: Site):
    by_descriptor = Bwrap(
        **{name: getattr(BWRAP, name) for name in BWRAP.__struct_fields__} | {"by_descriptor": True}
    )
    told = tell(site, by_descriptor)
    for place, word in enumerate(told.arguments):
        if word in {"--bind-fd", "--ro-bind-fd"}:
            assert int(told.arguments[place + 1]) in told.launch.pass_fds
    bound = [
        told.arguments[place + 2]
        for place, word in enumerate(told.arguments)
        if word == "--bind-fd"
    ]
    root = site.paths.root
    assert {root, f"{root}/.git", f"{root}/sub", f"{root}/sub/.git"} <= set(bound)
    assert not told.has("--bind", root, root)


def test_what_is_kept_does_not_die_with_hame(site: Site):
    assert tell(site).has("--die-with-parent")
    assert not tell(site, keep=True).has("--die-with-parent")
    assert tell(site, keep=True).has("--sync-fd")


def test_root_gives_up_what_it_has(site: Site):
    as_root = Bwrap(
        **{name: getattr(BWRAP, name) for name in BWRAP.__struct_fields__}
        | {"as_root": True, "options": ("--unshare-pid", "--cap-drop", "ALL")}
    )
    told = tell(site, as_root)
    told.at("--cap-drop", "ALL")
    assert not told.has("--cap-add")
    if os.geteuid() == 0:
        os.chown(site.paths.root, 54321, 54321)
        told = tell(site, as_root)
        assert told.at("--cap-drop", "ALL") < told.at("--cap-add", "CAP_DAC_OVERRIDE")
        powers = [
            told.arguments[place + 1]
            for place, word in enumerate(told.arguments)
            if word == "--cap-add"
        ]
        assert powers == ["CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER"]
