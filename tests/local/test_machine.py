"""Whether the machine can run the engine, told before anything is started."""

from pathlib import Path

import pytest

from hame.local.machine import missing_flags, thread_counts

OLD = "processor\t: 0\nflags\t\t: fpu sse4_2 avx f16c\n\nprocessor\t: 1\nflags\t\t: fpu\n"
NEW = "processor\t: 0\nflags\t\t: fpu avx avx2 fma f16c bmi1 bmi2 avx512f\n"


def test_missing_features_of_a_processor_are_named(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(OLD)
    assert missing_flags("linux", "x86_64", cpuinfo) == ("avx2", "fma", "bmi2")
    cpuinfo.write_text(NEW)
    assert missing_flags("linux", "x86_64", cpuinfo) == ()


@pytest.mark.parametrize(
    ("system", "machine"), [("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64")]
)
def test_where_the_system_does_not_tell_nothing_is_missing(
    system: str, machine: str, tmp_path: Path
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(OLD)
    assert missing_flags(system, machine, cpuinfo) == ()


def test_an_unreadable_list_of_features_is_no_reason_to_refuse(tmp_path: Path) -> None:
    assert missing_flags("linux", "x86_64", tmp_path / "absent") == ()
    odd = tmp_path / "odd"
    odd.write_text("nothing of the kind")
    assert missing_flags("linux", "x86_64", odd) == ()


@pytest.mark.parametrize(("cores", "threads"), [(1, (1, 1)), (2, (1, 2)), (8, (4, 8))])
def test_a_token_gets_half_the_cores_and_a_prompt_all(cores: int, threads: tuple[int, int]) -> None:
    assert thread_counts(cores) == threads


def test_this_machine_has_at_least_one_thread() -> None:
    assert min(thread_counts()) >= 1
