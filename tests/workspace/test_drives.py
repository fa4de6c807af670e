r"""B082: on WSL all names of a file lead to one place, before rules are matched."""

from pathlib import Path

import pytest

from hame.base.zone import Operation, Zone
from hame.workspace.drives import find_drives, from_windows
from hame.workspace.local import open_workspace


@pytest.fixture
def drives(tmp_path: Path) -> Path:
    """A folder like /mnt with the drive C."""
    (tmp_path / "mnt/c/Users/x/.ssh").mkdir(parents=True)
    (tmp_path / "mnt/c/Users/x/a.txt").write_text("a")
    return tmp_path / "mnt"


@pytest.mark.parametrize(
    "name", ["/c/Users/x/{}", "/cygdrive/c/Users/x/{}", "C:/Users/x/{}", "c:\\Users\\x\\{}"]
)
def test_b082_every_spelling_names_the_same_file(drives: Path, tmp_path: Path, name: str) -> None:
    """B082."""
    (tmp_path / "project").mkdir()
    workspace = open_workspace(str(tmp_path / "project"), home="", rg="", drives=str(drives))
    place = workspace.locate(name.format("a.txt"), Operation.READ)
    place.close()
    plain = workspace.locate(f"{drives}/c/Users/x/a.txt", Operation.READ)
    plain.close()
    assert place.resolution.real == plain.resolution.real
    assert place.resolution.identity == plain.resolution.identity
    assert place.resolution.zone is Zone.OUTSIDE
    secret = workspace.locate(name.format(".ssh/id_rsa"), Operation.READ)
    secret.close()
    assert secret.resolution.zone is Zone.SECRET


@pytest.mark.parametrize(
    "name", ["src/c/x", "/cc/x", "C:x", "/d/x", "D:/x", "~/c", "", "c", "a/C:/b", "/mnt/c/x"]
)
def test_other_names_are_left_as_they_are(drives: Path, name: str) -> None:
    assert from_windows(name, str(drives)) == name


def test_a_drive_itself_has_a_name(drives: Path) -> None:
    assert from_windows("C:", str(drives)) == f"{drives}/c/"
    assert from_windows("/c", str(drives)) == f"{drives}/c/"


def test_elsewhere_there_are_no_drives(tmp_path: Path) -> None:
    if "microsoft" not in Path("/proc/version").read_text("utf-8").lower():
        assert find_drives() == ""
    (tmp_path / "C:").mkdir()
    (tmp_path / "C:/a.txt").write_text("a")
    workspace = open_workspace(str(tmp_path), home="", rg="", drives="")
    place = workspace.locate("C:/a.txt", Operation.READ)
    place.close()
    assert place.resolution.shown == "C:/a.txt"
