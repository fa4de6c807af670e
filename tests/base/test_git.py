"""What git could run, by name; and how it is asked so that it does not."""

import pytest

from hame.base.git import executes, still_command, switched_off


@pytest.mark.parametrize(
    "name",
    [
        "core.fsmonitor", "core.hookspath", "core.hooksPath", "CORE.PAGER", "filter.evil.clean",
        "filter.a.b c.process", "diff.external", "diff.evil.textconv", "diff.evil.command",
        "credential.helper", "credential.https://x.org.helper", "gpg.program", "gpg.ssh.program",
        "alias.st", "include.path", "includeif.gitdir:/x/.path", "merge.evil.driver", "pager.log",
        "remote.origin.uploadpack", "remote.origin.vcs", "submodule.x.update", "sequence.editor",
        "difftool.x.cmd", "interactive.difffilter", "core.sshcommand", "uploadpack.packobjectshook",
    ],
)  # fmt: skip
def test_a_setting_that_makes_git_run_something_is_known(name: str) -> None:
    assert executes(name)


@pytest.mark.parametrize(
    "name",
    [
        "user.name", "core.bare", "filter.evil.required", "remote.origin.url", "branch.main.remote",
        "core.fsmonitorhookversion", "diff.algorithm", "merge.conflictstyle", "color.ui", "",
    ],
)  # fmt: skip
def test_a_setting_that_is_only_a_value_is_not(name: str) -> None:
    assert not executes(name)


def test_further_settings_come_after_hames_own_and_the_command_last() -> None:
    words = still_command("status", "-z", more=(("core.fsmonitor", "x"),))
    assert words[0] == "git"
    assert words[-4:] == ("-c", "core.fsmonitor=x", "status", "-z")
    assert words.index("core.fsmonitor=false") < words.index("core.fsmonitor=x")


def test_every_filter_is_switched_off_once() -> None:
    off = switched_off(["filter.lfs.clean", "filter.lfs.smudge", "filter.A.b.process", "user.name"])
    assert dict(off) == {
        "filter.lfs.clean": "", "filter.lfs.smudge": "", "filter.lfs.process": "",
        "filter.lfs.required": "false", "filter.A.b.clean": "", "filter.A.b.smudge": "",
        "filter.A.b.process": "", "filter.A.b.required": "false",
    }  # fmt: skip
    assert len(off) == 8


def test_a_filter_that_cannot_be_named_in_an_argument_is_refused() -> None:
    with pytest.raises(ValueError, match="holds ="):
        switched_off(["filter.a=b.clean"])
