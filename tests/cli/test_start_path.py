"""What a first request loads: nothing of what this machine, this vendor and this model do not need."""

import re

import pytest

from hame.testing import ScriptedServer, answer

UNWANTED = (
    "hame.llm.textcalls", "hame.llm.serverfacts", "hame.llm.localfaults", "hame.llm.probe",
    "hame.llm.catalog.overrides", "hame.backends.detect.", "hame.backends.renewing",
    "hame.backends.trial", "hame.local", "hame.app.access", "hame.app.shelf", "hame.app.spending",
    "keyring", "tomllib", "genai_prices", "litellm",
)  # fmt: skip


@pytest.mark.parametrize("model", ["openrouter/nobody/knows-this", "anthropic/claude-opus-5-5"])
def test_a_first_request_loads_neither_keys_nor_rows_nor_servers_of_others(hame, model):
    backend = model.partition("/")[0].upper()
    with ScriptedServer(answer("ok")) as server:
        base = f"{server.url}/api/v1" if backend == "OPENROUTER" else server.url
        keys = {f"{backend}_API_KEY": "k", f"{backend}_BASE_URL": base}
        ran = hame("-p", "hi", "--model", model, real=True, PYTHONPROFILEIMPORTTIME="1", **keys)
    assert ran.stdout == "ok\n"
    loaded = re.findall(r"\| +([\w.]+)$", ran.stderr, re.MULTILINE)
    assert "hame.llm.catalog.rows" in loaded
    assert [name for name in loaded if name.startswith(UNWANTED)] == []
    assert len(server.requests) == 1, "nobody else is asked anything"
