"""Joining the head of a request with items that are written already."""

import json

from hypothesis import given
from hypothesis import strategies as st

from hame.llm.splice import splice

heads = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=3)


@given(heads, st.lists(st.integers() | st.text(max_size=4), max_size=4))
def test_the_whole_is_the_head_with_the_items_as_its_last_member(head, items):
    head.pop("items", None)
    written = [json.dumps(item).encode() for item in items]
    found = json.loads(splice(head, "items", written))
    assert found == {**head, "items": items}
    assert list(found)[-1] == "items"


def test_the_items_given_are_left_as_they_were():
    items = [b"1", b"2"]
    assert splice({}, "n", items) == b'{"n":[1,2]}'
    assert items == [b"1", b"2"]
