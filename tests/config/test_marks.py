"""Every key says who may set it and what it can do, and the layers hold to that."""

from pathlib import Path

import msgspec
import pytest

from hame.base.settings import Mode, ProviderSettings, Settings
from hame.config.keys import MARKS, Key, Scope, find_key, keys, provider_keys
from hame.config.places import find_places
from hame.config.resolve import load_settings

ALL = {**keys(), **{f"providers.NAME.{name}": key for name, key in provider_keys().items()}}
WORDS = {"model": "mine/other", "mode": "auto", "accent": "red", "wire": "ollama",
         "base_url": "http://evil.example/v1", "proxy": "http://evil.example:1",
         "fallbacks": ["evil/m"], "add_dirs": ["/"], "api_key_env": "HOME", "effort": "max",
         "cache_lifetime": "long"}  # fmt: skip


def value_of(name: str, key: Key) -> object:
    """A value other than the default, and where it can be, a wider one."""
    leaf = name.rpartition(".")[2]
    if leaf in WORDS:
        return WORDS[leaf]
    if key.expects.startswith("one of "):
        return key.expects.rpartition(", ")[2]
    if key.expects == "true or false":
        return not key.default
    return 999_999 if key.expects in {"a whole number", "a number"} else "evil"


def as_toml(name: str, value: object) -> str:
    head, _, leaf = name.replace("NAME", "mine").rpartition(".")
    line = f"{leaf} = {msgspec.json.encode(value).decode()}\n"
    return f"[{head}]\n{line}" if head else line


def test_every_key_is_marked_and_no_mark_is_left_over() -> None:
    assert MARKS.keys() == ALL.keys()
    assert {field.name for field in msgspec.structs.fields(Settings)} <= MARKS.keys()
    assert len(ALL) == sum(
        len(msgspec.structs.fields(struct)) for struct in (Settings, ProviderSettings)
    )


def test_what_runs_a_program_and_what_connects_is_marked() -> None:
    assert [name for name, mark in MARKS.items() if mark.executes] == [
        "providers", "providers.NAME.api_key_cmd",
    ]  # fmt: skip
    connects = {name.rpartition(".")[2] for name, mark in MARKS.items() if mark.connects}
    assert {"proxy", "ca_file", "base_url", "api_key_env", "fallbacks", "web_search"} <= connects


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("name", [name for name in ALL if name != "providers"])
def test_no_project_sets_what_executes_connects_or_is_the_users(
    tmp_path: Path, name: str, trusted: bool
) -> None:
    """Was seen to fail with the line of `_judge` that looks at the marks taken out."""
    key = ALL[name]
    project = tmp_path / "project"
    (project / ".hame").mkdir(parents=True)
    (project / ".hame" / "config.toml").write_text(as_toml(name, value_of(name, key)))
    places = find_places({"HOME": str(tmp_path / "home")})
    Path(places.config_file).parent.mkdir(parents=True)
    Path(places.config_file).write_text('model = "mine/m"\nmax_cost_usd = 1\n', encoding="utf-8")
    mine = load_settings({}, places, str(tmp_path)).settings
    loaded = load_settings({}, places, str(project), trusted=trusted)
    mark = key.mark
    if mark.executes or mark.connects or mark.scope is Scope.USER:
        assert loaded.settings == mine
        assert loaded.proposed[0].ignored
        assert not loaded.proposed[0].waits, "trust does not change it"
    elif mark.scope is Scope.TRUSTED and trusted:
        assert loaded.settings != mine
        assert loaded.settings.mode is mine.mode
    elif mine != loaded.settings:
        assert narrower(loaded.settings, mine), name


def narrower(one: Settings, other: Settings) -> bool:
    """Whether limits are lower and the mode stricter, and all else is the same."""
    strictness = (Mode.AUTO, Mode.ASK, Mode.PLAN)
    for field in msgspec.structs.fields(Settings):
        mine, its = getattr(other, field.name), getattr(one, field.name)
        if mine == its:
            continue
        if field.name == "mode" and strictness.index(its) < strictness.index(mine):
            return False
        if isinstance(its, int | float) and mine is not None and its > mine:
            return False
    return True


def test_a_key_that_nobody_marked_is_the_users_alone() -> None:
    assert Key(name="new", type=str, expects="text", default=None, owner="Settings").mark.scope == (
        Scope.USER
    )


def test_a_providers_key_has_its_mark_whatever_the_provider_is_called() -> None:
    key = find_key("providers.my.server.api_key_cmd")
    assert key is not None
    assert key.mark.executes
