"""The table of wires."""

import subprocess
import sys

import pytest

from hame.base.errors import ConfigError
from hame.llm.codecs import WIRES, codec


@pytest.mark.parametrize("name", WIRES)
def test_every_wire_has_a_codec_of_its_name(name):
    assert codec(name).name == name
    assert codec(name) is codec(name)
    assert codec(name).framing in {"sse", "ndjson"}


def test_an_unknown_wire_is_named_with_those_there_are():
    with pytest.raises(ConfigError) as caught:
        codec("telegraph")
    assert "telegraph" in caught.value.message
    assert "openai_chat" in caught.value.hint


def test_only_the_wire_that_is_used_is_loaded():
    script = (
        "import sys; from hame.llm.codecs import codec; codec('openai_chat');"
        "print([m for m in sys.modules if 'llm.wires.' in m and 'openai_chat' not in m])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
