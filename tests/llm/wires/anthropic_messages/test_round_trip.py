"""What a model said goes back to it as it came."""

import json
from pathlib import Path

import pytest

from hame.base.fold import Fold
from hame.base.message import (
    Message,
    Origin,
    Text,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import Endpoint, ModelFacts
from hame.base.ports import ModelRequest
from hame.llm.repair import Repair
from hame.llm.wires.anthropic_messages import CODEC

FIXTURES = Path(__file__).resolve().parents[4] / ".." / "shared" / "fixtures"
FACTS = ModelFacts(backend="anthropic", model="claude", wire="anthropic_messages")
ORIGIN = Origin("anthropic_messages", "anthropic", "claude")


def recorded() -> list[Path]:
    return sorted((FIXTURES / "anthropic").glob("*.json")) if FIXTURES.is_dir() else []


def content(path: Path) -> list[dict]:
    """The blocks of a recorded answer, less what is said by default and white space at the end."""
    found = json.loads(path.read_bytes())
    blocks = found.get("content", []) if found.get("type") == "message" else []
    for block in blocks:
        if block.get("caller") == {"type": "direct"}:
            del block["caller"]
    if blocks and blocks[-1]["type"] == "text":
        blocks[-1]["text"] = blocks[-1]["text"].rstrip()
    return blocks


def replayed(path: Path) -> list[dict]:
    fold = Fold()
    for event in CODEC.decode_body(path.read_bytes(), FACTS):
        fold.add(event)
    answer = fold.message(ORIGIN)
    results = tuple(ToolResult(call.id, call.name, (Text("done"),)) for call in answer.calls)
    onward: Message = ToolResults(results) if results else User((Text("go on"),))
    history = (User((Text("go"),)), answer, onward)
    request = ModelRequest(system="", messages=Repair(FACTS)(history))
    sent = CODEC.encode(request, FACTS, Endpoint(base_url="http://h")).body
    return json.loads(sent)["messages"][1]["content"]


@pytest.mark.skipif(not FIXTURES.is_dir(), reason="the recorded traffic is not here")
def test_every_recorded_answer_goes_back_block_for_block():
    said = {path: blocks for path in recorded() if (blocks := content(path))}
    assert len(said) > 15
    for path, blocks in said.items():
        assert replayed(path) == blocks, path.name
