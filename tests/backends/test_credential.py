"""Where a key comes from, and where it may go."""

import pytest

from hame.backends.credential import Credential, Source
from hame.base.errors import ConfigError
from hame.base.model import Vendor
from hame.base.secret import SavedKey
from hame.base.settings import ProviderSettings
from hame.config.keystore import KeyStore

LAB = Vendor(
    id="lab",
    display_name="Lab",
    wire="openai_chat",
    base_url="https://lab.test/v1",
    key_env=("LAB_KEY", "LAB_TOKEN"),
)


class Keys:
    """Keys in a file, and a command that prints what the test says."""

    def __init__(self, tmp_path, *printed: str) -> None:
        self.store = KeyStore(str(tmp_path / "keys.json"))
        self.printed = list(printed)
        self.ran: list[str] = []
        self.secrets: list[str] = []

    async def run(self, command: str) -> str:
        self.ran.append(command)
        return self.printed.pop(0)

    def learned(self, secret: str) -> None:
        self.secrets.append(secret)


def credential(keys, environment=None, **own) -> Credential:
    return Credential(LAB, ProviderSettings(**own), environment or {}, keys)


async def test_settings_come_first_then_the_environment_then_the_command_then_what_is_saved(
    tmp_path,
):
    keys = Keys(tmp_path, "printed")
    keys.store.save(SavedKey(provider="lab", origin="https://lab.test", secret="kept"))
    everything = {"api_key": "given", "api_key_cmd": "print it"}
    for own, environment, source, secret in (
        (everything, {"LAB_KEY": "from-env"}, Source.SETTINGS, "given"),
        ({"api_key_cmd": "print it"}, {"LAB_TOKEN": " from-env\n"}, Source.ENVIRONMENT, "from-env"),
        ({"api_key_cmd": "print it"}, {"LAB_KEY": ""}, Source.COMMAND, "printed"),
        ({}, {}, Source.SAVED, "kept"),
    ):
        found = credential(keys, environment, **own)
        assert found.source is source
        assert await found.fetch("https://lab.test/v1") == secret
        assert secret not in repr(found)


async def test_without_any_there_is_none(tmp_path):
    found = credential(Keys(tmp_path))
    assert not found.exists
    assert await found.fetch("https://lab.test/v1") is None


async def test_the_command_runs_when_the_key_is_needed_and_once(tmp_path):
    keys = Keys(tmp_path, "token-1", "token-2")
    found = credential(keys, api_key_cmd="print it")
    assert found.exists
    assert keys.ran == []
    assert await found.fetch("https://lab.test/v1") == "token-1"
    assert await found.fetch("https://lab.test/v1") == "token-1"
    assert keys.ran == ["print it"]
    assert found.forget()
    assert await found.fetch("https://lab.test/v1") == "token-2"
    assert keys.secrets == ["token-1", "token-2"]


async def test_only_what_a_command_prints_can_be_had_anew(tmp_path):
    found = credential(Keys(tmp_path), {"LAB_KEY": "from-env"})
    assert not found.forget()
    assert found.known == "from-env"


@pytest.mark.parametrize(
    "base_url",
    [
        "https://lab.test.evil.test/v1",
        "http://lab.test/v1",
        "https://lab.test:8443/v1",
        "https://evil.test/lab.test",
        "https://lab.test@evil.test/v1",
    ],
)
async def test_a_saved_key_goes_to_no_other_origin(tmp_path, base_url):
    keys = Keys(tmp_path)
    keys.store.save(SavedKey(provider="lab", origin="https://lab.test", secret="planted-key"))
    found = credential(keys)
    with pytest.raises(ConfigError) as caught:
        await found.fetch(base_url)
    assert "https://lab.test" in caught.value.message
    assert "hame auth add lab" in caught.value.hint
    assert found.known is None
    assert "planted" not in caught.value.message + caught.value.hint
