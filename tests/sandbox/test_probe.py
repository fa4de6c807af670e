"""The trial of a sandbox: it notices each thing that does not hold, and leaves nothing behind."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import msgspec
import pytest
from typing_extensions import override

from hame.base.ports import Cell, Processes
from hame.base.process import Launch
from hame.base.zone import ProjectPaths
from hame.sandbox.probe import try_reading, try_writing
from hame.sandbox.site import Site
from hame.sandbox.unconfined import Unconfined
from hame.workspace.process import LocalProcesses


class Broken(Unconfined):
    """Confines nothing, or starts something else."""

    def __init__(self, argv: tuple[str, ...] | None = None) -> None:
        super().__init__()
        self.argv = argv

    @override
    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        argv = launch.argv if self.argv is None else self.argv
        return nullcontext(Cell(launch=msgspec.structs.replace(launch, argv=argv)))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    paths = {name: tmp_path / name for name in ("home/proj", "temporary", "state/sandbox")}
    for path in paths.values():
        path.mkdir(parents=True)
    return Site(
        paths=ProjectPaths(
            root=str(tmp_path / "home/proj"),
            home=str(tmp_path / "home"),
            temporary=str(tmp_path / "temporary"),
        ),
        own=(str(tmp_path / "state"),),
        scratch=str(tmp_path / "state/sandbox"),
    )


def processes(site: Site, argv: tuple[str, ...] | None = None, **more: str) -> Processes:
    environment: Mapping[str, str] = {"TMPDIR": site.paths.temporary, **more}
    return LocalProcesses({"PATH": os.environ["PATH"], **environment}, Broken(argv))


def everything(*folders: Path) -> set[str]:
    return {str(path) for folder in folders for path in (folder, *folder.rglob("*"))}


async def test_nothing_that_has_to_fail_goes_unnoticed(site: Site, tmp_path: Path):
    """Seen failing with each attempt left out of the script."""
    before = everything(tmp_path)
    probes = {probe.name: probe for probe in await try_reading(site, processes(site))}
    broken = {name for name, probe in probes.items() if not probe.holds}
    assert broken == {
        "write outside", "write home", "read a secret", "connect", "write while reading",
    }  # fmt: skip
    assert probes["write inside"].holds
    assert "TCP and a local socket" in probes["connect"].detail
    assert "was written" in probes["write outside"].detail
    assert everything(tmp_path) == before
    written = probes["write outside"].detail.removesuffix(" was written")
    assert "/hame-probe-" in written
    assert everything(Path(written).parent) == {str(Path(written).parent)}


async def test_what_writes_the_project_is_to_be_able_to(site: Site):
    probes = {probe.name: probe for probe in await try_writing(site, processes(site))}
    assert probes["write the project"].holds
    assert not probes["write outside"].holds


async def test_a_program_that_cannot_be_started_does_not_hold(site: Site):
    for argv, words in (
        (("/nonexistent/bwrap",), "there is no such program"),
        (
            ("sh", "-c", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"),
            "uid map",
        ),
        (("true",), "without a word"),
        (("sh", "-c", "echo '{\"tcp\": 7}'"), "tcp"),
    ):
        (probe,) = await try_reading(site, processes(site, argv))
        assert (probe.name, probe.holds) == ("start a program", False)
        assert words in probe.detail


async def test_a_folder_for_temporary_files_that_is_closed_is_noticed(site: Site, tmp_path: Path):
    probes = await try_writing(site, processes(site, TMPDIR=str(tmp_path / "nowhere")))
    (inside,) = [probe for probe in probes if probe.name == "write inside"]
    assert not inside.holds
    assert "FileNotFoundError" in inside.detail


@pytest.fixture
def replaced() -> Iterator[list[Path]]:
    """Two folders whose paths are short, as that of a socket has to be; pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        found = [Path(folder, name) for name in ("other", "shared")]
        for each in found:
            each.mkdir()
        yield found


async def test_nothing_is_left_where_a_replaced_folder_was_not_replaced(
    site: Site, replaced: list[Path], monkeypatch: pytest.MonkeyPatch
):
    places = tuple(map(str, replaced))
    monkeypatch.setattr("hame.sandbox.probe._WHERE_ALL_MAY_WRITE", places)
    probes = await try_writing(site, processes(site, TMPDIR=places[1]))
    (inside,) = [probe for probe in probes if probe.name == "write inside"]
    assert not inside.holds
    assert everything(*replaced) == set(places)


async def test_what_the_user_may_not_write_anyway_is_not_tried(site: Site):
    site = msgspec.structs.replace(
        site, paths=msgspec.structs.replace(site.paths, home="/proc/self", root="/proc")
    )
    probes = {probe.name: probe for probe in await try_reading(site, processes(site))}
    assert probes["write home"].holds
    assert "nowhere" in probes["write home"].detail or os.geteuid() == 0


async def test_what_cannot_be_planted_is_no_success(site: Site):
    site = msgspec.structs.replace(site, scratch="/proc/none")
    (probe,) = await try_reading(site, processes(site))
    assert (probe.name, probe.holds) == ("set up", False)
