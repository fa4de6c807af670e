"""What children find in their environment."""

import pytest

from hame.workspace.environment import child_environment, is_withheld


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY", "openai_api_key", "GITHUB_TOKEN", "GH_TOKEN", "HF_TOKEN", "MY_SECRET", "GIT_DIR", "GIT_EXEC_PATH", "GIT_SSH_COMMAND", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "DIRENV_DIFF",
        "DB_PASSWORD", "PGPASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS",
        "STRIPE_SECRET_LIVE", "BASH_ENV", "PROMPT_COMMAND", "BASH_FUNC_ls%%", "LESSOPEN",
        "NPM_CONFIG__AUTH", "SSH_KEY_PASSPHRASE",
    ],
)  # fmt: skip
def test_secrets_and_what_meddles_with_commands_are_withheld(name: str) -> None:
    assert is_withheld(name)
    assert name not in child_environment({name: "x"})


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "LANG", "LC_ALL", "VIRTUAL_ENV", "AWS_REGION", "AWS_PROFILE", "KEYBOARD",
     "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "CARGO_HOME", "PYTHONPATH", "DATABASE_URL"],
)  # fmt: skip
def test_what_tools_need_is_passed_on(name: str) -> None:
    assert child_environment({name: "x"})[name] == "x"


def test_pagers_and_editors_do_not_wait() -> None:
    given = child_environment({"PAGER": "less", "EDITOR": "vim", "TERM": "xterm"})
    assert (given["PAGER"], given["GIT_PAGER"], given["EDITOR"]) == ("cat", "cat", "true")
    assert (given["TERM"], given["GIT_TERMINAL_PROMPT"]) == ("dumb", "0")
