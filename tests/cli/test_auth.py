"""`hame auth`, and that a key is in no other place than where it was put. Real processes and HTTP."""

import json
import stat

import pytest

from hame.testing import Reply, ScriptedServer, answer, call

KEY = "sk-planted-0123456789abcdef"
MODELS = {"/v1/models": Reply(body=b'{"data": [{"id": "qwen3"}, {"id": "qwen3-mini"}]}')}
REFUSED = {"/v1/models": Reply(status=401, message=f"no such key {KEY}")}


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def auth(hame, home):
    """Runs hame as a person with a home of their own."""

    def run(*arguments, stdin="", **more):
        return hame(*arguments, stdin=stdin, real=True, HOME=str(home), **more)

    return run


def keys_file(home):
    return home / ".config/hame/keys.json"


def test_a_good_key_is_tried_and_kept_and_then_used(auth, home):
    with ScriptedServer(answer("hello"), pages=MODELS) as server:
        added = auth("auth", "add", "lab", "--base-url", f"{server.url}/v1", stdin=f"{KEY}\n")
        assert added.returncode == 0, added.stderr
        assert "verified" in added.stdout
        assert "plain text" in added.stdout
        assert stat.S_IMODE(keys_file(home).stat().st_mode) == 0o600
        ran = auth("-p", "hi", "--model", "lab/qwen3")
        assert ran.stdout == "hello\n"
        assert server.questions[0].headers["authorization"] == f"Bearer {KEY}"
        assert "verified" in auth("auth", "test").stdout
    listed = auth("auth", "list")
    assert KEY not in listed.stdout
    assert "…" not in listed.stdout, "the saved key is not even fetched for a list"
    assert json.loads(auth("auth", "list", "--json").stdout)[0]["provider"] == "lab"
    assert auth("auth", "remove", "lab").returncode == 0
    assert auth("auth", "remove", "lab").returncode == 1
    assert KEY not in keys_file(home).read_text()


def test_a_refused_key_is_not_kept(auth, home):
    with ScriptedServer(pages=REFUSED) as server:
        added = auth("auth", "add", "lab", "--base-url", f"{server.url}/v1", stdin=KEY)
    assert added.returncode == 1
    assert "rejected" in added.stdout
    assert not keys_file(home).exists()


def test_a_pasted_address_is_mended(auth, home):
    nothing = {"/models": Reply(status=404, message="no such page")}
    with ScriptedServer(pages=MODELS | nothing) as server:
        pasted = f"{server.url}/v1/chat/completions"
        assert auth("auth", "add", "lab", "--base-url", pasted, stdin=KEY).returncode == 0
        assert auth("config", "get", "providers.lab.base_url").stdout.startswith(f"{server.url}/v1")
        bare = auth("auth", "add", "other", "--base-url", server.url, stdin=KEY)
        assert bare.returncode == 0, bare.stdout
        assert f"{server.url}/v1" in auth("config", "get", "providers.other.base_url").stdout


def test_a_key_that_could_not_be_tried_is_kept_only_on_demand(auth, home):
    with ScriptedServer() as server:
        url = server.url
    arguments = ("auth", "add", "lab", "--base-url", f"{url}/v1")
    added = auth(*arguments, stdin=KEY)
    assert added.returncode == 1
    assert "unreachable" in added.stdout
    assert not keys_file(home).exists()
    assert auth(*arguments, "--no-verify", stdin=KEY).returncode == 0
    assert KEY in keys_file(home).read_text()


def test_an_unencrypted_address_far_away_is_refused(auth):
    added = auth("auth", "add", "lab", "--base-url", "http://8.8.8.8/v1", "--allow-http", stdin=KEY)
    assert added.returncode == 2
    assert "not encrypted" in added.stderr
    near = auth("auth", "add", "lab", "--base-url", "http://10.255.255.1/v1", stdin=KEY)
    assert near.returncode == 2
    assert "--allow-http" in near.stderr


def test_a_keyring_that_is_not_there_is_said(auth, home):
    added = auth("auth", "add", "mistral", "--store", "keyring", "--no-verify", stdin=KEY)
    assert added.returncode == 2
    assert "hame[keyring]" in added.stderr
    assert not keys_file(home).exists()


@pytest.mark.parametrize(
    "stdin", ["", "  \n", "two words", "schlüssel-12", "“sk-quoted”", "k\x07ey"]
)
def test_what_is_no_key_is_said(auth, stdin):
    ran = auth("auth", "add", "mistral", stdin=stdin)
    assert ran.returncode == 2
    assert "key" in ran.stderr


def test_a_provider_nobody_knows_needs_an_address(auth):
    ran = auth("auth", "add", "nobody", stdin=KEY)
    assert ran.returncode == 2
    assert "address" in ran.stderr


def test_an_address_may_be_told_by_a_variable(auth, home):
    with ScriptedServer(pages=MODELS) as server:
        more = {"MY_LAB_BASE_URL": f"{server.url}/v1"}
        added = auth("auth", "add", "my-lab", stdin=KEY, **more)
        assert "verified" in added.stdout
        assert json.loads(keys_file(home).read_text())["keys"]["my-lab"]["origin"] == server.url
        assert "qwen3-mini" in auth("models", "my-lab", **more).stdout


def test_keys_of_the_environment_are_listed_masked(auth):
    ran = auth("auth", MISTRAL_API_KEY=KEY)
    assert "MISTRAL_API_KEY" in ran.stdout
    assert "…cdef" in ran.stdout
    assert KEY not in ran.stdout


def test_a_key_that_a_command_prints_is_used_and_hidden(auth, home):
    with ScriptedServer(answer("hello"), answer("y"), answer("x"), pages=MODELS) as server:
        auth("config", "set", "providers.lab.base_url", f"{server.url}/v1")
        auth("config", "set", "providers.lab.api_key_cmd", f"echo {KEY}")
        auth("-p", "hi", "--model", "lab/qwen3", "--verbose")
        assert server.questions[0].headers["authorization"] == f"Bearer {KEY}"
        assert_hidden(home, ".config/hame/config.toml")
        # What it says on the side is more than a pipe takes, and nobody waits for it.
        loud = f"head -c 300000 /dev/zero >&2; echo {KEY}"
        auth("config", "set", "providers.lab.api_key_cmd", loud)
        assert auth("-p", "hi", "--model", "lab/qwen3").returncode == 0
        auth("config", "set", "providers.lab.api_key_cmd", "exit 3")
        failed = auth("-p", "hi", "--model", "lab/qwen3")
    assert failed.returncode == 2
    assert "exit code 3" in failed.stderr


def assert_hidden(home, *allowed):
    """The key is in no file but those."""
    for path in home.rglob("*"):
        if path.is_file() and str(path.relative_to(home)) not in allowed:
            assert KEY.encode() not in path.read_bytes(), path


def test_a_planted_key_never_appears(auth, home, tmp_path):
    """Redirect, refusal, a command that prints it, --verbose, a crash, the session: all of it."""
    kept = ".config/hame/keys.json"
    away = Reply(status=307, headers=(("Location", "http://127.0.0.1:9/v1"),), body=b"")
    said = answer("I will look.", call("read_file", path="key.txt"))
    (tmp_path / "key.txt").write_text(f"the key is {KEY}\n")
    with ScriptedServer(away, said, answer("done"), pages=MODELS) as server:
        auth("auth", "add", "lab", "--base-url", f"{server.url}/v1", stdin=KEY)
        redirected = auth("-p", "hi", "--model", "lab/qwen3", "--verbose")
        assert redirected.returncode == 1
        assert "does not follow" in redirected.stderr
        ran = auth("-p", f"my key is {KEY}", "--model", "lab/qwen3", "--verbose")
        assert ran.returncode == 0
        for question in server.questions:
            assert KEY.encode() not in question.raw, "the model is told no key"
        elsewhere = server.url.replace("127.0.0.1", "localhost")
        auth("config", "set", "providers.lab.base_url", f"{elsewhere}/v1")
        bound = auth("-p", "hi", "--model", "lab/qwen3")
        assert bound.returncode == 2
        assert "the saved key of lab is for" in bound.stderr
    for shown in (redirected, ran, bound):
        assert KEY not in shown.stdout + shown.stderr
    assert_hidden(home, kept)


# ---------------------------------------------------------------- what a person gets wrong


def test_a_name_that_nobody_could_say_or_know_is_told_before_the_key_is_asked_for(auth, home):
    for name, words in [
        ("two words", "cannot be the name"),
        ("a/b", "cannot be the name"),
        ("antropic", "did you mean anthropic?"),
        ("lab", "--base-url"),
    ]:
        told = auth("auth", "add", name, stdin="")
        assert told.returncode == 2
        assert words in told.stderr, name
    assert not keys_file(home).exists()


def test_a_password_in_an_address_is_refused_and_never_written(auth, home):
    for more in ((), ("--no-verify",)):
        url = "https://me:planted-pass@a.test/v1"
        told = auth("auth", "add", "lab", "--base-url", url, *more, stdin=KEY)
        assert told.returncode == 2
        assert "planted-pass" not in told.stderr + told.stdout
    assert not any("planted-pass" in path.read_text() for path in home.rglob("*") if path.is_file())


def test_an_address_may_have_a_query(auth):
    def listed(received):
        good = received.query == "api-version=1"
        return MODELS["/v1/models"] if good else Reply(status=404, message="no version")

    nothing = {"/models": Reply(status=404, message="no such page")}
    with ScriptedServer(answer("hello"), pages={"/v1/models": listed, **nothing}) as server:
        url = f"{server.url}?api-version=1"
        added = auth("auth", "add", "lab", "--base-url", url, stdin=KEY)
        assert added.returncode == 0, added.stdout
        assert auth("-p", "hi", "--model", "lab/qwen3").stdout == "hello\n"
        assert server.questions[0].query == "api-version=1"
    kept = auth("config", "get", "providers.lab.base_url").stdout
    assert f"{server.url}/v1?api-version=1" in kept


def test_a_refused_key_is_told_by_where_it_is(auth):
    with ScriptedServer(*[Reply(status=401)] * 2) as server:
        own = {"MINE_BASE_URL": f"{server.url}/v1", "MINE_API_KEY": KEY}
        refused = auth("-p", "hi", "--model", "mine/m", **own)
    assert refused.returncode == 1
    assert "MINE_API_KEY" in refused.stderr
    assert KEY not in refused.stderr


def test_public_addresses_are_not_offered_what_is_never_done(auth):
    told = auth("auth", "add", "lab", "--base-url", "http://8.8.8.8/v1", stdin=KEY)
    assert told.returncode == 2
    assert "--allow-http" not in told.stderr


def test_an_address_that_stays_behind_is_told(auth):
    with ScriptedServer(pages=MODELS) as server:
        auth("auth", "add", "lab", "--base-url", f"{server.url}/v1", stdin=KEY)
    removed = auth("auth", "remove", "lab")
    assert "hame config unset providers.lab.base_url" in removed.stdout
