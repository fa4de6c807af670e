"""Everything that is journalled or shown is plain data: it survives JSON, and has a name of its own."""

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from base.strategies import values_of
from hame.base.entry import Entry, Record
from hame.base.errors import Failure
from hame.base.event import RunEvent
from hame.base.json import dump_bytes
from hame.base.message import Block, Message
from hame.base.model import ModelListing, Price, Usage
from hame.base.outcome import Outcome, View
from hame.base.question import Answer, Question
from hame.base.run import Limits, RunResult
from hame.base.settings import Settings
from hame.base.stream import StreamEvent
from hame.base.tool import ToolSpec

UNIONS = {
    "Block": Block,
    "Entry": Entry,
    "Message": Message,
    "Outcome": Outcome,
    "RunEvent": RunEvent,
    "RunResult": RunResult,
    "StreamEvent": StreamEvent,
    "View": View,
}
MEMBERS = [(name, member) for name, union in UNIONS.items() for member in get_args(union)]
SINGLE = [
    Answer, Failure, Limits, ModelListing, Price, Question, Record, Settings, ToolSpec, Usage,
]  # fmt: skip


@pytest.mark.parametrize(
    ("union", "member"), MEMBERS, ids=[f"{name}-{member.__name__}" for name, member in MEMBERS]
)
@given(data=st.data())
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
def test_a_member_of_a_union_comes_back_from_json_as_it_was(
    union: str, member: type, data: st.DataObject
) -> None:
    value = data.draw(values_of(member))
    back = msgspec.json.decode(dump_bytes(value), type=UNIONS[union])
    assert back == value
    assert type(back) is member


@pytest.mark.parametrize("kind", SINGLE, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
def test_a_value_comes_back_from_json_as_it_was(kind: Any, data: st.DataObject) -> None:
    value = data.draw(values_of(kind))
    assert msgspec.json.decode(dump_bytes(value), type=kind) == value


@pytest.mark.parametrize("union", UNIONS.values(), ids=UNIONS.keys())
def test_the_members_of_a_union_have_names_of_their_own(union: Any) -> None:
    tags = [member.__struct_config__.tag for member in get_args(union)]
    assert len(set(tags)) == len(tags)
    assert all(isinstance(tag, str) and tag == tag.lower() for tag in tags)


@pytest.mark.parametrize(
    "member", sorted({member for _, member in MEMBERS}, key=str), ids=lambda member: member.__name__
)
def test_a_value_once_made_does_not_change(member: Any) -> None:
    assert member.__struct_config__.frozen
